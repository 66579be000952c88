"""Statements in order: how values flow through assignments, branches and loops of one function."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any, TypeGuard

from xlalint.semantics import backends
from xlalint.semantics.binding import bind
from xlalint.semantics.callbacks import protocols
from xlalint.semantics.control_flow import (
    after_break,
    conditionals,
    extra_keywords,
    handlers,
    left_out,
    left_steps,
    matching,
    named_tests,
    optional_parts,
    raised,
    repetition,
    step_ways,
    unequal_arms,
)
from xlalint.semantics.control_flow.conditionals import note_arms, run_arm
from xlalint.semantics.control_flow.narrowing import dotted_name, narrow
from xlalint.semantics.expressions import evaluate, evaluate_condition
from xlalint.semantics.facts import COMPILED, CONDITION
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import (
    iteration,
    misfits,
    text,
    trace_effects,
)
from xlalint.semantics.imports import returned_modules
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.local_names import Changes
from xlalint.semantics.results.arithmetic import combine
from xlalint.semantics.syntax import words_of
from xlalint.semantics.tracing import host_use
from xlalint.semantics.training import scopes, tpu_tests
from xlalint.semantics.truths import is_usual, truth
from xlalint.semantics.values import (
    CLASS,
    DEFERRED,
    EXTERNAL,
    NONE,
    NOTHING_KNOWN,
    Value,
)


def run_block(statements: list[ast.stmt], frame: Frame) -> bool:
    """Run statements in order. Returns whether the end of the block can be reached."""
    unusual = frame.unusual
    for statement in statements:
        handler = _HANDLERS.get(type(statement))
        if handler is not None and not handler(statement, frame):
            frame.unusual = unusual
            return False
    frame.unusual = (
        unusual  # `if not sparse: return ...` makes what follows unusual, to the end of the block
    )
    return True


def _expression(node: ast.Expr, frame: Frame) -> bool:
    if not isinstance(node.value, ast.Constant):
        trace_effects.note_dropped(node, evaluate(node.value, frame), frame)
    return True


def _assign(node: ast.Assign, frame: Frame) -> bool:
    value = evaluate(node.value, frame)
    if frame.function is None and isinstance(node.value, ast.Call):
        value = returned_modules.of_assigned(node.targets[0], node.value, value, frame)
    for target in node.targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            iteration.note_taken_apart(frame, node.value, value, "unpacking")
        if frame.attributes is not None and _is_made_of_itself(target, node.value, frame):
            # `self.attention = self.attention(width)`: the layer takes the place of its class.
            del frame.attributes[target.attr]
        bind(target, value, frame)
    return True


def _is_made_of_itself(target: ast.expr, value: ast.expr, frame: Frame) -> TypeGuard[ast.Attribute]:
    """Whether an attribute of the object that is set up is given what calling it gives, or a choice takes for it."""
    if not isinstance(target, ast.Attribute) or target.attr not in (frame.attributes or {}):
        return False
    values = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return any(
        isinstance(each, ast.Call)
        and dotted_name(each.func) == dotted_name(target) == f"{frame.self_name}.{target.attr}"
        for each in values
    )


def _annotated_assign(node: ast.AnnAssign, frame: Frame) -> bool:
    if node.value is not None:
        bind(node.target, evaluate(node.value, frame), frame)
    return True


def _augmented_assign(node: ast.AugAssign, frame: Frame) -> bool:
    target, value = evaluate(node.target, frame), evaluate(node.value, frame)
    trace_effects.note_count(node, target, value, frame)
    bind(node.target, combine(node, target, value, frame), frame)
    return True


def _if(node: ast.If, frame: Frame) -> bool:
    names = frame.names
    arms: list[tuple[Changes, bool]] = []
    unusual, undecided = frame.unusual, frame.undecided
    # Whether the way that is gone with defaults goes on after the `if`; None while (or where) that is not known.
    goes_on: bool | None = None
    is_open = True
    asked = node.test
    # `elif` is an `if` in the other arm: followed in a loop, so that thousands of them neither nest nor add up.
    while True:
        test = evaluate_condition(node.test, frame, "if")
        known = truth(test)
        known = tpu_tests.answer(node.test, test, frame) if known is None else known
        known = extra_keywords.answer(node.test, frame) if known is None else known
        known = backends.is_of_tensorflow(node, frame) if known is None else known
        if known is not None and not (known and _is_type_checking(node.test)):
            narrow(node.test, known, frame)
            block = node.body if known else node.orelse
        elif conditionals.becomes_one(test, frame):
            ends = _graph_if(node, test, frame)
            break
        else:
            usual = is_usual(test)
            names.fork()
            frame.undecided = undecided + 1
            frame.unusual += usual is False
            host = frame.host
            ends_body = _run_arm(node, True, frame)
            if usual is False:
                # Who asks for what is on the host only then may compile the rest.
                frame.host = host
            frame.unusual -= usual is False
            changes = names.take_back()
            arms.append(
                (_without_options(changes, frame) if usual is False else changes, ends_body)
            )
            asked = node.test
            names.fork()
            narrow(node.test, False, frame, promised=isinstance(node.body[-1], ast.Raise))
            block = node.orelse
            frame.unusual += usual is True
            goes_on = ends_body if usual and is_open else goes_on
            is_open = is_open and usual is False
        if len(block) != 1 or not isinstance(block[0], ast.If):
            ends = run_block(block, frame)
            goes_on = ends if arms and is_open else goes_on
            break
        node = block[0]
    frame.unusual, frame.undecided = unusual + (goes_on is False), undecided
    return _join_arms(asked, arms, ends, frame) if arms else ends


def _without_options(changes: Changes, frame: Frame) -> Changes:
    """What an arm that callers have to ask for leaves behind: that it cuts a tensor by a mask says nothing of it for all others."""
    return {
        name: value._replace(producer=None, counted=None)
        if value is not None
        and value.producer is not None
        and (before := frame.names.get(name)) is not None
        and before.is_tensor
        and before.producer is None
        else value
        for name, value in changes.items()
    }


def _join_arms(test: ast.expr, arms: list[tuple[Changes, bool]], ends: bool, frame: Frame) -> bool:
    """Go on after the arms of an `if` with its `elif`s, the last `else` still forked; returns whether any arm ends."""
    names = frame.names
    rest = names.take_back()
    if len(arms) == 1:
        body, ends_body = arms[0]
        if ends_body and ends:
            before = {name: names.get(name) for name in body if name not in rest}
            names.join(body, rest, prefer_first=frame.function is None)
            if frame.left_out:
                left_out.settle(test, body, rest, frame)
            optional_parts.settle(test, before, body, frame)
        elif ends_body:
            names.apply(body)
        else:
            in_body_first = {name: rest[name] for name in body if name in rest} if rest else {}
            names.apply(in_body_first | rest)
        return ends or ends_body
    # Changes that have not met the value from before the `if`; meeting it a second time changes nothing.
    unmet = dict.fromkeys(rest)
    in_order = {name: None for body, _ in arms for name in body} | unmet
    for position in range(len(arms) - 1, -1, -1):
        body, ends_body = arms[position]
        if ends_body and ends:
            both = dict.fromkeys(body) | unmet
            rest.update(names.joined(body, rest, both, prefer_first=frame.function is None))
            unmet = dict.fromkeys(body)
        elif ends_body:
            rest, unmet = dict(body), dict.fromkeys(body)
        ends = ends or ends_body
        if position > 0:
            narrowed = names.take_back()
            unmet |= dict.fromkeys(narrowed)
            in_order |= unmet
            for name, value in narrowed.items():
                rest.setdefault(name, value)
    names.apply({name: rest[name] for name in in_order if name in rest})
    return ends


def _run_arm(node: ast.If, holds: bool, frame: Frame) -> bool:
    narrow(node.test, holds, frame)
    return run_block(node.body if holds else node.orelse, frame)


def _graph_if(node: ast.If, test: Value, frame: Frame) -> bool:
    """An `if` that AutoGraph turns into a conditional of the graph: both arms are run, and compared."""
    iteration.note_exits(node, test, frame)
    whole = conditionals.with_what_is_skipped(node, frame)
    if whole is not None:
        node = whole
    frame.constructs.append(node)
    frame.analysis.arms.enter(node.test, test, frame)
    body = run_arm(node.body, lambda: _run_arm(node, True, frame), frame)
    frame.analysis.arms.next_arm(node.test)
    other = run_arm(node.orelse, lambda: _run_arm(node, False, frame), frame)
    frame.analysis.arms.leave(node.test)
    frame.analysis.traced_before.saw_conditional(node.test, [*node.body, *node.orelse], frame)
    frame.constructs.pop()
    note_arms(node, test, body, other, frame)
    if body.ends and other.ends:
        decided = conditionals.decided(test, body, other, frame)
        changes, blocks = (body.changes, other.changes), (node.body, node.orelse)
        # What one arm alone binds is in the other what it was before.
        before = {name: frame.names.get(name) for arm in changes for name in arm}
        left = [before | arm for arm in changes]
        frame.names.join(*changes)
        frame.names.update(decided)
        asked = named_tests.written(node.test, frame.function)
        frame.names.update(unequal_arms.of_names(left, blocks, asked, frame))
        if frame.loops:
            step_ways.keep_joined(changes, frame)
    else:
        for arm in (body, other) if frame.loops else ():
            step_ways.keep_left(arm.block, arm.changes, frame)
        if frame.loops:
            after_break.keep(node, test, (body, other), frame)
        frame.names.apply(body.changes if body.ends else other.changes)
    return (body.ends or other.ends) and whole is None


def _is_type_checking(test: ast.expr) -> bool:
    words = words_of(test) if isinstance(test, (ast.Name, ast.Attribute)) else ()
    return any(word.endswith("TYPE_CHECKING") for word in words)


def _while(node: ast.While, frame: Frame) -> bool:
    return repetition.run_while(node, run_block, frame)


def _for(node: ast.For, frame: Frame) -> bool:
    return repetition.run_for(node, run_block, frame)


def _with(node: ast.With, frame: Frame) -> bool:
    was_silent, tapes, scope, rounds = frame.silent, frame.tapes, frame.scope, frame.rounds
    aside = None
    for item in node.items:
        value = evaluate(item.context_expr, frame)
        if value.ref == "tf.GradientTape":
            frame.tapes += 1
            frame.rounds = 0  # it records one step of the loops around it
            aside = aside or frame.analysis.arms.set_aside()
        if _is_init_scope(item.context_expr, frame):
            frame.silent = True
        if scopes.enters(item.context_expr):
            frame.scope = scopes.INSIDE
        entered = protocols.ask(value, "__enter__", [], frame)
        if item.optional_vars is not None:
            bind(item.optional_vars, value if entered is None else entered, frame)
    ends = run_block(node.body, frame)
    frame.silent, frame.tapes, frame.scope, frame.rounds = was_silent, tapes, scope, rounds
    if aside is not None:
        frame.analysis.arms.put_back(aside)
    return ends


def _is_init_scope(node: ast.expr, frame: Frame) -> bool:
    if not isinstance(node, ast.Call):
        return False
    target = evaluate(node.func, frame)
    return target.kind is EXTERNAL and str(target.ref).endswith(("tf.init_scope", ".init_scope"))


def _try(node: ast.Try, frame: Frame) -> bool:
    names = frame.names
    names.fork()
    outside, had_raised = frame.caught, frame.raised
    frame.caught, frame.raised = outside | handlers.caught_by(node), False
    ends = run_block(node.body, frame)
    frame.caught = outside
    _note_handlers(node, frame)
    if ends and node.orelse:
        ends = run_block(node.orelse, frame)
    after = names.take_back()
    unmade, frame.unmade = frame.unmade, None
    for handler in node.handlers:
        names.fork()
        if handler.name:
            names[handler.name] = NOTHING_KNOWN
        was_silent, host = frame.silent, frame.host
        compiles = frame.context.is_compiled and not frame.raised
        never_traced = compiles and handlers.is_never_traced(handler)
        frame.silent = was_silent or never_traced
        goes_on = run_block(handler.body, frame)
        frame.silent = was_silent
        if never_traced:
            frame.host = host  # what is done with an error says nothing of the rest
        if goes_on:
            if ends:
                after = names.joined(after, names.take_back(), prefer_first=frame.function is None)
            else:
                after = names.take_back()
            ends = True
        else:
            names.take_back()
    frame.raised, frame.unmade = had_raised, unmade
    names.apply(after)
    if node.finalbody:
        ends = run_block(node.finalbody, frame) and ends
    return ends


_CHECK_ERRORS = ("InvalidArgumentError", "OpError")


def _note_handlers(node: ast.Try, frame: Frame) -> None:
    """`except tf.errors.InvalidArgumentError`: what a failed check raises, and compiled code does not."""
    for handler in node.handlers:
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for caught in types:
            if isinstance(caught, (ast.Attribute, ast.Name)) and (
                getattr(caught, "attr", getattr(caught, "id", "")) in _CHECK_ERRORS
            ):
                frame.analysis.drivers.saw_handler(caught, node.body, frame)


def _return(node: ast.Return, frame: Frame) -> bool:
    value = evaluate(node.value, frame) if node.value is not None else NONE
    if node.value is not None and frame.context.jit:
        text.note_returned(node.value, value, frame)
        misfits.note_returned(node.value, value, frame)
    # What an unusual call gives back is as usual as the rest of it.
    if frame.unusual > (frame.caller is not None and frame.caller.unusual > 0):
        frame.unusual_returns.add(len(frame.returned))
    frame.returned.append(value)
    return False


def _raise(node: ast.Raise, frame: Frame) -> bool:
    if node.exc is not None and raised.calls_functions(node.exc):
        # Building the message runs in Python, if ever.
        was_silent, frame.silent = frame.silent, True
        evaluate(node.exc, frame)
        frame.silent = was_silent
    conditionals.note_raise_after(node, frame)
    return False


def _assert(node: ast.Assert, frame: Frame) -> bool:
    value = evaluate_condition(node.test, frame, "assert")
    if truth(value) is None:
        narrow(node.test, True, frame, promised=True)
    return True


def _delete(node: ast.Delete, frame: Frame) -> bool:
    for target in node.targets:
        name = dotted_name(target)
        if name is not None:
            frame.names.pop(name, None)
    return True


def _nonlocal(node: ast.Nonlocal, frame: Frame) -> bool:
    frame.rebinds = (*frame.rebinds, *node.names)
    return True


def _leave(node: ast.stmt, frame: Frame) -> bool:
    left_steps.keep(node, frame)
    return False


def _function_definition(node: ast.FunctionDef, frame: Frame) -> bool:
    info = frame.module.by_node.get(node)
    if isinstance(info, FunctionInfo):
        value = frame.analysis.modules.closures.define(info, frame)
        frame.nested.append(info)
        if node.decorator_list and frame.context.region != COMPILED:
            traits = frame.analysis.traits(info)
            if traits.tf_function:
                frame.analysis.drivers.saw_wrapped(value, node, traits.jit, frame)
                # Who makes a tf.function runs eagerly: what is compiled is what it makes.
                frame.host |= host_use.WORK
        frame.names[node.name] = value
        if node.decorator_list and frame.function is None:
            frame.analysis.registries.saw_definition(node, value, frame)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if isinstance(default, ast.Lambda):
            evaluate(default, frame)
    return True


def _class_definition(node: ast.ClassDef, frame: Frame) -> bool:
    info = frame.module.by_node.get(node)
    if isinstance(info, ClassInfo):
        frame.analysis.modules.closures.define_class(info, frame)
        value = frame.names[node.name] = Value(CLASS, ref=info)
        if node.decorator_list and frame.function is None:
            frame.analysis.registries.saw_definition(node, value, frame)
    return True


def _import(node: ast.Import, frame: Frame) -> bool:
    for alias in node.names:
        if alias.asname:
            frame.names[alias.asname] = frame.analysis.modules.imported(alias.name, frame.module)
        else:
            name = alias.name.split(".")[0]
            frame.names[name] = frame.analysis.modules.imported(name, frame.module)
    return True


def _import_from(node: ast.ImportFrom, frame: Frame) -> bool:
    source = frame.analysis.modules.project.imported_by(frame.module, node.level, node.module)
    for alias in node.names:
        if alias.name == "*":
            frame.names.update(frame.analysis.modules.exported(source, frame.module))
        else:
            imported = Value(DEFERRED, ref=(source, alias.name))
            if frame.function is not None:
                # Modules may import each other in a circle; by the time that functions are called all are there.
                imported = frame.analysis.modules.resolved(imported)
            frame.names[alias.asname or alias.name] = imported
    return True


def _match(node: ast.Match, frame: Frame) -> bool:
    subject = evaluate(node.subject, frame)
    if subject.is_tensor and any(matching.compares(case.pattern) for case in node.cases):
        if iteration.is_taken_apart(subject, node.subject, frame):
            frame.analysis.note(frame, node.subject, CONDITION, subject, "match")
    ways: list[Changes] = []
    unusual = frame.unusual
    is_met = False
    for case in node.cases:
        met = matching.meet(case.pattern, subject, frame)
        if met.answer is False:
            continue
        frame.names.fork()
        ends, is_met = _case(case, met, frame)
        changes = frame.names.take_back()
        if ends:
            ways.append(changes)
        frame.unusual = unusual + (met.usual is True and case.guard is None)
        if is_met:
            break
    frame.unusual = unusual
    if not is_met:
        ways.append({})
    if not ways:
        return False
    result = ways[0]
    for changes in ways[1:]:
        result = frame.names.joined(result, changes)
    frame.names.apply(result)
    return True


def _case(case: ast.match_case, met: matching.Meeting, frame: Frame) -> tuple[bool, bool]:
    """Run a case that the subject may meet: whether its end is reached, and whether no later case can be met."""
    unusual = frame.unusual
    frame.unusual += met.usual is False
    frame.names.update(met.names)
    guard: bool | None = True
    if case.guard is not None:
        guard = truth(evaluate_condition(case.guard, frame, "if"))
        narrow(case.guard, True, frame)
    ends = guard is not False and run_block(case.body, frame)
    frame.unusual = unusual
    if guard is False:
        return True, False
    return ends, met.answer is True and guard is True


_HANDLERS: dict[type[ast.AST], Callable[[Any, Frame], bool]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented_assign,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Nonlocal: _nonlocal,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.FunctionDef: _function_definition,
    ast.AsyncFunctionDef: _function_definition,
    ast.ClassDef: _class_definition,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Match: _match,
}
if sys.version_info >= (3, 11):
    _HANDLERS[ast.TryStar] = _try
