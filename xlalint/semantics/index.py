"""The index of a project: its modules, classes and functions, and how dotted names lead to them.

Only statements are visited here. What a name means is decided later, by running module bodies abstractly
(flow.py), so the index stays cheap for the files that turn out not to matter.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from xlalint.semantics.environment import keras_backends
from xlalint.semantics.names import mentions_tensorflow
from xlalint.semantics.stand_ins import in_place_of
from xlalint.semantics.syntax import found_in, nodes_of
from xlalint.semantics.text_lines import holds_one, lines_at, plain
from xlalint.semantics.training_uses import TRAINED_VARIABLES, TrainingUses, training_uses_in
from xlalint.semantics.uses import Attributes, Uses, attributes_in, uses_in

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_ATTRIBUTES = frozenset({ast.Attribute})
_DEFINITIONS: frozenset[type[ast.AST]] = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
# The parts of a function that say what it does with its names, collected once for all who ask (uses.py, configured.py).
_TELLING = frozenset(
    {ast.AnnAssign, ast.Assign, ast.AugAssign, ast.BoolOp, ast.Call, ast.For, ast.If, ast.IfExp, ast.Match, ast.Subscript}
    | {ast.While, ast.comprehension}
)  # fmt: skip
# The statements and calls by which something flows from one name to another, and out of the function (gradients/flows.py).
_CARRYING = frozenset(
    {ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Call, ast.Expr, ast.For, ast.NamedExpr, ast.Return}
)  # fmt: skip


@dataclass(eq=False, repr=False, slots=True)
class FunctionInfo:
    """A function, method or lambda of the project. Compared by identity."""

    module: ModuleInfo
    node: FunctionNode
    qualname: str
    cls: ClassInfo | None = None
    parent: FunctionInfo | None = None
    # What keeps AutoGraph from converting it, among the statements that the index visits.
    refused_block: str | None = None
    _refused_syntax: str | None = None
    _is_generator: bool | None = None
    _telling: list[ast.AST] | None = None
    _carrying: list[ast.AST] | None = None
    _uses: Uses | None = None
    _stand_ins: dict[str, ast.expr] | None = None
    _calls: tuple[ast.Call, ...] | None = None
    _training_uses: TrainingUses | None = None
    _nested: dict[str, FunctionInfo] | None = None
    _attributes: Attributes | None = None
    _parameter_names: frozenset[str] | None = None

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")

    @property
    def around(self) -> Iterator[FunctionInfo]:
        """The functions that this one is defined in, from the inside out."""
        outer = self.parent
        while outer is not None:
            yield outer
            outer = outer.parent

    @property
    def decorators(self) -> list[ast.expr]:
        return getattr(self.node, "decorator_list", [])

    @property
    def refused_syntax(self) -> str | None:
        """What in it turns AutoGraph off for the whole function: a walrus, `match`, the `else` of a loop, or a function inside that
        holds one of these or is a generator (TensorFlow 2.15 and 2.21: "could not transform ... and will run it as-is").
        """
        if self.refused_block is None and self._is_generator is None:
            self._scan_body()
        return self.refused_block or self._refused_syntax

    @property
    def is_generator(self) -> bool:
        if self._is_generator is None:
            self._scan_body()
        return bool(self._is_generator)

    def _scan_body(self) -> None:
        self._is_generator = False
        if not self.module.may_yield(self.node.lineno, self.node.end_lineno or self.node.lineno):
            return
        for node in nodes_of(self.body, into_functions=False):
            if isinstance(node, ast.NamedExpr):
                self._refused_syntax = "an assignment expression (`:=`)"
            elif isinstance(node, (ast.Yield, ast.YieldFrom)):
                self._is_generator = True
        self._refused_syntax = self._refused_syntax or self._refused_inside()

    def _refused_inside(self) -> str | None:
        """What the functions inside hold that keeps AutoGraph from converting this one, too."""
        for node in found_in(self.body, _DEFINITIONS):
            inner = self.module.by_node.get(node)
            if isinstance(inner, FunctionInfo):
                if inner.is_generator:
                    return "a generator"
                if inner.refused_syntax is not None:
                    return inner.refused_syntax
        return None

    @property
    def body(self) -> Sequence[ast.AST]:
        """The statements of the function; of a lambda, its expression."""
        body = self.node.body
        return body if isinstance(body, list) else [body]

    @property
    def annotations(self) -> dict[str, ast.expr]:
        """The annotations of the parameters that have one, without those of `*args` and `**kwargs`."""
        arguments = self.node.args
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        return {each.arg: each.annotation for each in named if each.annotation is not None}

    @property
    def parameter_names(self) -> frozenset[str]:
        """The names of the parameters, without `*args` and `**kwargs`."""
        if self._parameter_names is None:
            arguments = self.node.args
            named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            self._parameter_names = frozenset(argument.arg for argument in named)
        return self._parameter_names

    def annotation_of(self, name: str) -> ast.expr | None:
        given = self.node.args
        named = (*given.posonlyargs, *given.args, *given.kwonlyargs)
        return next((each.annotation for each in named if each.arg == name), None)

    def default_of(self, name: str) -> ast.expr | None:
        """How the default of a parameter is written; None of one that has none."""
        given = self.node.args
        named = [*given.posonlyargs, *given.args]
        by_position = dict(zip([each.arg for each in reversed(named)], reversed(given.defaults)))
        by_name = {each.arg: value for each, value in zip(given.kwonlyargs, given.kw_defaults)}
        return by_position.get(name) or by_name.get(name)

    @property
    def telling(self) -> list[ast.AST]:
        """Its calls, assignments, subscripts, tests and loops, those of functions inside of it included, in no particular order."""
        if self._telling is None:
            self._telling = found_in(self.body, _TELLING)
        return self._telling

    @property
    def carrying(self) -> list[ast.AST]:
        """What sets a name or hands something out, functions inside of it included, in no particular order."""
        if self._carrying is None:
            self._carrying = found_in(self.body, _CARRYING)
        return self._carrying

    @property
    def uses(self) -> Uses:
        """What the function does with plain names."""
        if self._uses is None:
            self._uses = uses_in(self.telling, self.parameter_names)
        return self._uses

    @property
    def stand_ins(self) -> dict[str, ast.expr]:
        """The names that the function takes in the place of parameters that nobody gave."""
        if self._stand_ins is None:
            self._stand_ins = in_place_of(self.parameter_names, self.telling)
        return self._stand_ins

    @property
    def calls(self) -> tuple[ast.Call, ...]:
        """The calls in the function, those of functions inside of it included, in no particular order."""
        if self._calls is None:
            self._calls = tuple(node for node in self.telling if isinstance(node, ast.Call))
        return self._calls

    @property
    def training_uses(self) -> TrainingUses:
        """What the function differentiates and trains."""
        if self._training_uses is None:
            is_asked = any(map(self.module.mentions, TRAINED_VARIABLES))
            self._training_uses = training_uses_in(self.calls, asks_for_variables=is_asked)
        return self._training_uses

    @property
    def attributes(self) -> Attributes:
        """The attributes that the function names, functions inside of it included."""
        if self._attributes is None:
            self._attributes = attributes_in(found_in(self.body, _ATTRIBUTES))
        return self._attributes

    @property
    def nested(self) -> dict[str, FunctionInfo]:
        """The functions defined directly in this one, by name."""
        if self._nested is None:
            found = (self.module.by_node.get(n) for n in nodes_of(self.body, into_functions=False))
            functions = [info for info in found if isinstance(info, FunctionInfo)]
            self._nested = {info.name: info for info in functions if info.parent is self}
        return self._nested


@dataclass(eq=False, repr=False, slots=True)
class ClassInfo:
    """A class of the project. Compared by identity."""

    module: ModuleInfo
    node: ast.ClassDef
    qualname: str
    parent: FunctionInfo | None = None
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    assignments: dict[str, ast.expr] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(eq=False, repr=False, slots=True)
class _Outline:
    """The syntax tree of a module, and the functions and classes in it."""

    tree: ast.Module
    functions: list[FunctionInfo] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    by_node: dict[ast.AST, FunctionInfo | ClassInfo] = field(default_factory=dict)


@dataclass(eq=False, repr=False, slots=True)
class ModuleInfo:
    """A module. `is_target` says whether findings are wanted in it.

    Its syntax tree is made when it is first asked for: the many files that hold nothing to find need none, unless
    another module leads to them. Whether those are Python at all is asked last (`require_python`).
    """

    name: str
    path: str
    text: str
    is_package: bool = False
    is_target: bool = True
    is_test: bool = False
    _outline: _Outline | None = None
    _is_unread: bool = False
    _definitions: dict[str, FunctionInfo | ClassInfo] | None = None
    _yielding_lines: list[int] | None = None
    _handed_on: dict[str, list[ast.Call]] | None = None
    _may_hold_findings: bool | None = None
    _is_of_arrays: bool | None = None
    _mentioned: dict[str, bool] = field(default_factory=dict)

    def mentions(self, words: str) -> bool:
        """Whether the text holds these words, for whoever asks it of one function after another."""
        known = self._mentioned.get(words)
        if known is None:
            known = self._mentioned[words] = words in self.text
        return known

    @property
    def may_hold_findings(self) -> bool:
        if self._may_hold_findings is None:
            is_judged = self.is_target and not self.is_test
            self._may_hold_findings = (
                is_judged
                and mentions_tensorflow(self.text)
                and not keras_backends.is_another(self.text)
            )
        return self._may_hold_findings

    @property
    def is_of_arrays(self) -> bool:
        """Whether it is a module of NumPy's, which knows nothing of TensorFlow: what its functions slice are arrays."""
        if self._is_of_arrays is None:
            self._is_of_arrays = "numpy" in self.text and not mentions_tensorflow(self.text)
        return self._is_of_arrays

    def parse(self) -> None:
        """Make the syntax tree now. Raises what `ast.parse` does."""
        self._outline = _Outline(ast.parse(self.text))
        _index_body(self, self._outline)

    @property
    def outline(self) -> _Outline:
        if self._outline is None:
            # No Python, or deeper than Python's parser builds trees, in a file without findings of its own: its names
            # stay unknown.
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                self.parse()
        if self._outline is None:
            self._outline = _Outline(ast.Module([], []))
            self._is_unread = True
        return self._outline

    def require_python(self) -> None:
        """Raise what `ast.parse` does where the text is not Python. To have parsed it, which many never are, is proof enough."""
        if (self._outline is None or self._is_unread) and not _is_well_formed(self.text):
            ast.parse(self.text)

    @property
    def tree(self) -> ast.Module:
        return self.outline.tree

    @property
    def handed_on(self) -> dict[str, list[ast.Call]]:
        """The functions that the top of the module hands to `tf.function`, and knows by the result alone from then on:
        `step = tf.function(step)`, or `fast = tf.function(step)` where nothing else names `step`.
        """
        if self._handed_on is None:
            self._handed_on = {}
            for node in self.tree.body if "function(" in self.text else ():
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                    target, name = node.targets[0], _handed_to_function(node.value)
                    if name is None or not isinstance(target, ast.Name):
                        continue
                    if self.definition(name) and (name == target.id or self._is_named_once(name)):
                        self._handed_on.setdefault(name, []).append(node.value)
        return self._handed_on

    def _is_named_once(self, name: str) -> bool:
        """Whether one place in the module's code names something, beside its definition."""
        named = (isinstance(node, ast.Name) and node.id == name for node in ast.walk(self.tree))
        return sum(named) == 1

    @property
    def functions(self) -> list[FunctionInfo]:
        return self.outline.functions

    @property
    def classes(self) -> list[ClassInfo]:
        return self.outline.classes

    @property
    def by_node(self) -> dict[ast.AST, FunctionInfo | ClassInfo]:
        return self.outline.by_node

    def definition(self, name: str) -> FunctionInfo | ClassInfo | None:
        """The first function or class of that name among the module's statements."""
        if self._definitions is None:
            self._definitions = {}
            for statement in self.tree.body:
                info = self.by_node.get(statement)
                if info is not None:
                    self._definitions.setdefault(info.name, info)
        return self._definitions.get(name)

    def innermost(self, line: int) -> FunctionInfo | None:
        """The function that stands around a line most closely, lambdas aside."""
        around: FunctionInfo | None = None
        for info in self.functions:
            node = info.node
            if isinstance(node, ast.Lambda) or not node.lineno <= line <= (node.end_lineno or line):
                continue
            if around is None or node.lineno > around.node.lineno:
                around = info
        return around

    def may_yield(self, first: int, last: int) -> bool:
        """Whether the text of these lines may hold a `yield` or a walrus; most functions need no closer look."""
        if self._yielding_lines is None:
            self._yielding_lines = self._find_yielding_lines()
        return holds_one(first, last, self._yielding_lines)

    def _find_yielding_lines(self) -> list[int]:
        if "yield" not in self.text and ":=" not in self.text:
            return []
        text = plain(self.text)
        return lines_at([found.start() for found in _YIELD_OR_WALRUS.finditer(text)], text)

    def absolute(self, level: int, module: str | None) -> str:
        """The dotted name that `from ..module import x` means in this module."""
        if level == 0:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + (1 if self.is_package else 0)]
        return ".".join([*kept, module] if module else kept)


def _handed_to_function(call: ast.Call) -> str | None:
    """The name in `tf.function(name, ...)` and `tf.function(...)(name)`, however the module names tf.function's own module."""
    given = call.args[0] if call.args else None
    called = call.func.func if isinstance(call.func, ast.Call) else call.func
    is_one = getattr(called, "attr", getattr(called, "id", "")) == "function"
    return given.id if is_one and isinstance(given, ast.Name) else None


_YIELD_OR_WALRUS = re.compile("yield|:=")


def parse_module(
    name: str,
    path: str,
    text: str,
    *,
    is_package: bool = False,
    is_target: bool = True,
    is_test: bool = False,
) -> ModuleInfo:
    """One module, parsed where it may hold findings. Raises SyntaxError, ValueError or RecursionError then, as `ast.parse` does."""
    module = ModuleInfo(name, path, text, is_package, is_target, is_test)
    if not is_target or module.may_hold_findings:
        module.parse()
    return module


def _is_well_formed(text: str) -> bool:
    """Whether Python's parser accepts the text, asked in a way that takes half the time and none of the memory of parsing.

    After the whole text has been parsed, and before anything is made of it, Python refuses this import.
    """
    try:
        compile("from __future__ import braces\n" + text, "<unknown>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.msg == "not a chance"
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


def _index_body(module: ModuleInfo, outline: _Outline) -> None:
    pending: list[tuple[list[ast.stmt], str, ClassInfo | None, FunctionInfo | None]] = [
        (outline.tree.body, "", None, None)
    ]
    while pending:
        statements, prefix, cls, parent = pending.pop()
        for node in statements:
            kind = type(node)
            if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
                info = FunctionInfo(module, node, prefix + node.name, cls, parent)  # type: ignore[arg-type,attr-defined]
                outline.functions.append(info)
                outline.by_node[node] = info
                if cls is not None and not _sets_property(node):  # type: ignore[arg-type]
                    cls.methods[info.name] = info
                pending.append((node.body, f"{info.qualname}.<locals>.", None, info))  # type: ignore[attr-defined]
            elif kind is ast.ClassDef:
                new = ClassInfo(module, node, prefix + node.name, parent)  # type: ignore[arg-type,attr-defined]
                outline.classes.append(new)
                outline.by_node[node] = new
                pending.append((node.body, new.qualname + ".", new, parent))  # type: ignore[attr-defined]
            elif cls is not None and kind is ast.Assign:
                for target in node.targets:  # type: ignore[attr-defined]
                    if isinstance(target, ast.Name):
                        cls.assignments[target.id] = node.value  # type: ignore[attr-defined]
            elif cls is not None and kind is ast.AnnAssign:
                if isinstance(node.target, ast.Name) and node.value is not None:  # type: ignore[attr-defined]
                    cls.assignments[node.target.id] = node.value  # type: ignore[attr-defined]
            elif kind in _HOLDS_BLOCKS:
                if parent is not None and kind in _REFUSED_BLOCKS:
                    _note_refused(node, parent)
                pending.extend((block, prefix, cls, parent) for block in blocks_of(node))


def _sets_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`@rate.setter` above `def rate(self, value):`: what reads the attribute is the method of that name before it."""
    return any(
        isinstance(decorator, ast.Attribute)
        and decorator.attr in ("setter", "deleter")
        and isinstance(decorator.value, ast.Name)
        and decorator.value.id == node.name
        for decorator in node.decorator_list
    )


def _note_refused(node: ast.stmt, function: FunctionInfo) -> None:
    """Note of a function, and of those around it, that AutoGraph cannot convert this statement."""
    if not isinstance(node, ast.Match) and not getattr(node, "orelse", None):
        return
    refused = "a `match`" if isinstance(node, ast.Match) else "a loop with an `else`"
    around: FunctionInfo | None = function
    while around is not None and around.refused_block is None:
        around.refused_block = refused
        around = around.parent


_REFUSED_BLOCKS = frozenset({ast.For, ast.While, ast.Match})
_HOLDS_BLOCKS = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try}
    | ({ast.TryStar} if sys.version_info >= (3, 11) else set())
    | {ast.Match}
)


def blocks_of(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists directly inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if block:
            yield block
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body
