"""Instances of project classes: attributes from `__init__`, `build` and traced methods, and calls."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xlalint.semantics import (
    calls,
    configured,
    eager,
    flow,
    free_parameters,
    handed_variables,
    known_texts,
    named_tuples,
    symbolic,
)
from xlalint.semantics.classes import METRIC, SETTING_UP, TRACED_METHODS, converts
from xlalint.semantics.elements import flattened
from xlalint.semantics.facts import ASSUMED, EAGER, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards.built_tensors import BuiltTensors
from xlalint.semantics.hazards.made_objects import MadeObjects
from xlalint.semantics.index import ClassInfo, FunctionInfo
from xlalint.semantics.joins import join, join_all
from xlalint.semantics.later_attributes import LaterAttributes
from xlalint.semantics.parameters import from_annotation
from xlalint.semantics.values import (
    ANY_OF,
    ARRIVING,
    CAPTURED,
    COLLECTION,
    CONSTANT,
    EXTERNAL,
    FROM_SHAPE,
    FUNCTION,
    INSTANCE,
    NAMED_TUPLE,
    NONE,
    NOTHING_KNOWN,
    PYTHON,
    SEQUENCE,
    SHAPE,
    SOME_PYTHON,
    TENSOR,
    VARIABLE,
    OneOf,
    Usual,
    Value,
    usually,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Eager code makes objects, nearly always; `build` may run while a model is traced.
_MAKE_OBJECTS = ("__init__", "__post_init__")


# The attributes of one object, by name.
Held = tuple[tuple[str, Value], ...]


class Objects:
    """Instances of the project's classes: what their attributes hold, and what calling them does."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._attributes: dict[ClassInfo, dict[str, Value]] = {}
        # What the class alone says of them, whatever objects of it are seen to be made of.
        self._by_itself: dict[ClassInfo, dict[str, Value]] = {}
        self._by_settings: dict[tuple[ClassInfo, configured.Given], dict[str, Value]] = {}
        self._built_tensors = BuiltTensors()
        self.made = MadeObjects()
        self._named_fields: dict[ClassInfo, named_tuples.Fields | None] = {}
        self._missing: set[tuple[ClassInfo, str]] = set()
        # Fields of which no more is known than their annotation.
        self._only_declared: set[tuple[ClassInfo, str]] = set()
        self._handed_variables: dict[ClassInfo, frozenset[str]] = {}
        self._later = LaterAttributes(analysis)

    def instance_attribute(
        self, cls: ClassInfo, name: str, given: configured.Given = ()
    ) -> Value | None:
        """What `__init__`, `build` and `adapt` leave in an attribute; None when they do not set it.

        `given` are the settings that the object was made with.
        """
        if given:
            own = self._attributes_given(cls, given).get(name)
            if own is not None:
                return own
        if cls not in self._attributes:
            self._attributes[cls] = {}
            self._by_itself[cls] = self._construct(cls)
            self._attributes[cls] = dict(self._by_itself[cls])
        return self._attributes[cls].get(name)

    def later_attribute(self, cls: ClassInfo, name: str) -> Value | None:
        """What other methods leave in an attribute that is unknown from the constructor, once the object is there."""
        return self._later.of(cls, name) if cls in self._by_itself else None

    def is_handed_variable(self, cls: ClassInfo, name: str) -> bool:
        """Whether a class was handed what it keeps in an attribute, and assigns to it as to a variable alone: `self.step.assign_add(1)`.

        A table of pandas has an `assign` as well, which takes columns by name.
        """
        if cls not in self._handed_variables:
            self._handed_variables[cls] = handed_variables.of_class(
                self._analysis.classes.line(cls)
            )
        return name in self._handed_variables[cls]

    def _attributes_given(self, cls: ClassInfo, given: configured.Given) -> dict[str, Value]:
        """The attributes that settings decide, as nothing else is seen to set them."""
        known = self._by_settings.get((cls, given))
        if known is None:
            self._by_settings[cls, given] = {}
            keeps = self._analysis.configurations.keeps
            known = self._by_settings[cls, given] = {
                name: value
                for name, value in self._collect(cls, given).items()
                if configured.settled(value) and keeps(cls, name)
            }
        return known

    def may_be_missing(self, cls: ClassInfo, name: str) -> bool:
        """Whether the constructor leaves a tensor in an attribute one way and None the other: what asks for it is no constant."""
        return (cls, name) in self._missing

    def _construct(self, cls: ClassInfo) -> dict[str, Value]:
        collected = self._collect(cls, ())
        self._missing.update((cls, n) for n, v in collected.items() if v.optional and v.is_tensor)
        found = {name: self._kept(cls, name, v) for name, v in collected.items()}
        for name, declared in self.declared_fields(cls).items():
            if declared is not None and name not in found:
                found[name] = declared
                self._only_declared.add((cls, name))
        return found

    def _kept(self, cls: ClassInfo, name: str, value: Value) -> Value:
        """What an attribute is known to hold later: a word that the constructor writes down and nothing sets again stays.

        So does a flag, unless somebody whom nobody sees sets it: that takes a package, and a name made for others.
        """
        known = value.constant()
        if known is not None and isinstance(known.value, (str, bool)):
            configurations = self._analysis.configurations
            if configurations.keeps(cls, name):
                is_fixed = isinstance(known.value, str) or configurations.is_its_own(cls, name)
                return value if is_fixed else usually(known.value)
        return _as_attribute(value)

    def _collect(self, cls: ClassInfo, given: configured.Given) -> dict[str, Value]:
        """What attributes hold when the object is made."""
        if given and self._analysis.classes.method(cls, "__init__") is None:
            return dict(given)  # a dataclass
        collected: dict[str, Value] = {}
        self_value = Value(INSTANCE, ref=cls, given=given)
        for name in SETTING_UP:
            method = self._analysis.classes.method(cls, name)
            if method is None:
                continue
            frame = self._analysis.functions.frame_of(method, Context(EAGER, False), self_value, 1)
            frame.silent = True
            frame.attributes = collected
            frame.inherited = set(collected)  # `build` replaces what the constructor left
            frame.names.update(free_parameters.held(method, frame, assumed=False))
            if name == "__init__":
                frame.names.update(given)
            if self_value is not None and frame.self_name is not None:
                frame.names[frame.self_name] = self_value
            flow.run_block(_body(method), frame)
            if name in _MAKE_OBJECTS:
                for attribute, value in collected.items():
                    collected[attribute] = eager.made(value)
                if any(eager.captured_parts(value) is not value for value in collected.values()):
                    for attribute in eager.attributes_of_tensorflow(method, frame):
                        if attribute in collected:
                            collected[attribute] = eager.captured_parts(collected[attribute])
        return collected

    def declared_fields(self, cls: ClassInfo) -> dict[str, Value | None]:
        """The fields that a dataclass or a NamedTuple declares, in order, with what their annotations promise."""
        fields: dict[str, Value | None] = {}
        for owner in reversed(self._analysis.classes.line(cls)):
            for node in owner.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    home = self._analysis.modules.module_frame(owner.module)
                    fields[node.target.id] = from_annotation(node.annotation, home)
        return fields

    def declared_record(self, cls: ClassInfo) -> Value | None:
        """An instance of a named tuple or a dataclass, as its declaration describes it; None of other classes."""
        named = self.named_fields(cls)
        if named is not None:
            declared = self.declared_fields(cls)
            items = tuple(declared.get(name) or NOTHING_KNOWN for name, _ in named)
            return Value(SEQUENCE, ref=items, given=tuple(name for name, _ in named))
        makers = self.decorators(cls)
        is_record = any(maker.rpartition(".")[2] == "dataclass" for maker in makers)
        return Value(INSTANCE, ref=cls) if is_record else None

    def decorators(self, cls: ClassInfo) -> list[str]:
        """The full names of what decorates a class (`dataclasses.dataclass`), called or not; empty where a name leads nowhere."""
        home = self._analysis.modules.module_frame(cls.module)
        written = [
            each.func if isinstance(each, ast.Call) else each for each in cls.node.decorator_list
        ]
        found = [self._analysis.evaluate(each, home) for each in written]
        return [str(each.ref) if each.kind is EXTERNAL else "" for each in found]

    def named_fields(self, cls: ClassInfo) -> named_tuples.Fields | None:
        """The fields of a class that is a named tuple and nothing more; None of any other."""
        if cls not in self._named_fields:
            self._named_fields[cls] = None
            self._named_fields[cls] = self._find_named_fields(cls)
        return self._named_fields[cls]

    def _find_named_fields(self, cls: ClassInfo) -> named_tuples.Fields | None:
        if cls.methods or len(cls.node.bases) != 1:
            return None
        home = self._analysis.modules.module_frame(cls.module)
        base = self._analysis.evaluate(cls.node.bases[0], home)
        if base.kind is NAMED_TUPLE:
            return base.ref  # type: ignore[no-any-return]
        if base.kind is not EXTERNAL or base.ref != "typing.NamedTuple":
            return None
        return tuple(
            (name, NOTHING_KNOWN if default is None else self._analysis.evaluate(default, home))
            for name, default in named_tuples.fields_of(cls.node)
        )

    def construct(self, cls: ClassInfo, arguments: Arguments, frame: Frame) -> Held:
        """What the attributes of an object that is made while tracing hold; nothing where Keras makes it, unless it is made of tensors.

        AutoGraph converts no constructor, nor what one calls.
        """
        values = arguments.values
        if not frame.context.is_compiled:
            return ()
        method = self._analysis.classes.method(cls, "__init__")
        if method is None:
            return self._keep_fields(cls, arguments)
        is_of_tensors = any(map(_comes_of_tensors, flattened(values)))
        if not is_of_tensors and self._analysis.classes.role(cls) is not None:
            return ()
        if method in self._analysis.functions.running:
            return ()
        self_value = Value(INSTANCE, ref=cls)
        here = frame.context
        why = (*here.why, method.qualname)
        context = here._replace(converted=False, may_convert=False, why=why)
        inner = self._analysis.functions.frame_of(method, context, self_value, frame.depth + 1)
        # What a library's functions make objects of where nobody compiles them is made eagerly as often as not.
        inner.silent = frame.silent or here.region == ASSUMED
        inner.unusual = 1 if frame.unusual else 0
        inner.attributes = {}
        self._analysis.functions.bind_parameters(
            method,
            list(arguments.positional),
            arguments.keywords,
            self_value,
            inner,
            arguments.open_ended,
        )
        self._analysis.functions.running.append(method)
        flow.run_block(_body(method), inner)
        self._analysis.functions.running.pop()
        for name, value in inner.attributes.items():
            self.keep_attribute(cls, name, value)
        if not is_of_tensors and not self._analysis.configurations.is_record(cls):
            return self._as_made(cls, inner.attributes)
        return tuple(inner.attributes.items())

    def _as_made(self, cls: ClassInfo, attributes: Mapping[str, Value]) -> Held:
        """What an object holds that is made of no tensors: others of its class may hold tensors in the same place."""
        self.instance_attribute(cls, "")
        by_itself = self._by_itself.get(cls, {})
        return tuple(
            (name, by_itself.get(name, value) if value == NOTHING_KNOWN else _as_attribute(value))
            for name, value in attributes.items()
        )

    def _keep_fields(self, cls: ClassInfo, arguments: Arguments) -> Held:
        """A dataclass or NamedTuple made with tensors holds them in its fields."""
        given = dict(zip(self.declared_fields(cls), arguments.positional)) | arguments.keywords
        for name, value in given.items():
            self.keep_attribute(cls, name, value)
        return () if arguments.open_ended else tuple(given.items())

    def held(self, target: Value, name: str) -> Value | None:
        """What this very object was made with, where nothing sets that attribute later; None where that is not known."""
        if not self._analysis.configurations.keeps(target.ref, name):
            return None
        return next((value for field, value in target.fields if field == name), None)

    def keep_attribute(self, cls: ClassInfo, name: str, value: Value) -> None:
        """A tensor that a method puts into an attribute while tracing."""
        if not value.is_tensor:
            return
        known = self.instance_attribute(cls, name)
        if (cls, name) in self._only_declared:
            self._only_declared.remove((cls, name))
            known = None
        if known is not None and known.kind is PYTHON:
            self._attributes[cls][name] = (
                NOTHING_KNOWN  # a setting that a tensor takes the place of, or not
            )
            return
        usable = known is not None and known.is_tensor
        self._attributes[cls][name] = join(known, value) if known is not None and usable else value

    def class_attribute(self, cls: ClassInfo, name: str) -> Value | None:
        found = self._analysis.classes.assignment(cls, name)
        if found is None:
            return None
        expression, owner = found
        value = self._analysis.evaluate(
            expression, self._analysis.modules.module_frame(owner.module)
        )
        if self._analysis.configurations.holds(cls, name, value):
            return value
        kept = _as_attribute(eager.captured(eager.made(value)))
        return self._analysis.registries.of_class(owner, name, kept)

    def call_instance(
        self, target: Value, arguments: Arguments, node: ast.AST, frame: Frame
    ) -> Value:
        """Call an object of a project class: Keras objects go through Keras, which decides whether AutoGraph converts."""
        cls: ClassInfo = target.ref
        role = self._analysis.classes.role(cls)
        if role is not None and role.kind in TRACED_METHODS:
            if self._analysis.makes_symbolic and symbolic.takes(arguments):
                self._analysis.traced_before.saw_in_functional(cls)
                return symbolic.marked(Value(TENSOR, ARRIVING, structured=True))
            name = self._analysis.classes.called_as(cls, role.kind)
            method = self._analysis.classes.method(cls, name)
            if method is None:
                return Value(TENSOR, ARRIVING, structured=True)
            if not frame.context.is_compiled:
                return Value(TENSOR, ARRIVING, structured=True)
            self._analysis.inherited_steps.saw_call(target, arguments, node, frame)
            self._built_tensors.saw_call(cls, frame)
            converted = frame.context.may_convert and converts(role, name, self._analysis.keras)
            result = self._analysis.functions.invoke(
                method, list(arguments.positional), arguments.keywords, target, frame,
                open_ended=arguments.open_ended, converted=converted, node=node,
            )  # fmt: skip
            if role.kind == METRIC:
                return self._result_of(target, frame, converted)
            return result if result != NONE else NOTHING_KNOWN
        method = self._analysis.classes.method(cls, "__call__")
        if method is None:
            return NOTHING_KNOWN
        bound = Value(FUNCTION, ref=(method, target))
        return calls.call_value(bound, arguments, node, frame)

    def _result_of(self, target: Value, frame: Frame, converted: bool) -> Value:
        """What a metric of the project comes to, after `update_state`."""
        method = self._analysis.classes.method(target.ref, "result")
        if method is not None:
            found = self._analysis.functions.invoke(
                method, [], {}, target, frame, converted=converted
            )
            if found.is_tensor:
                return found
        return Value(TENSOR, ARRIVING, structured=True)


def _body(info: FunctionInfo) -> list[ast.stmt]:
    return info.node.body if isinstance(info.node.body, list) else []


def _comes_of_tensors(value: Value) -> bool:
    """Whether it is a tensor, several, or a shape or size that was asked of one."""
    return value.holds_data or value.kind is SHAPE or value.dependence > CONSTANT


def _as_attribute(value: Value) -> Value:
    """An attribute may be set again elsewhere: its value while constructing is its kind, no more."""
    if type(value.ref) in (Usual, OneOf):
        return value
    if value.kind is PYTHON:
        return NOTHING_KNOWN if value == NONE else SOME_PYTHON
    if value.kind is SEQUENCE:
        return Value(COLLECTION, ref=join_all(value.ref)) if value.ref else Value(COLLECTION)
    if value.kind is COLLECTION and value.ref is not None and value.ref.kind is PYTHON:
        are_words = known_texts.are_texts(value.ref)
        return value if are_words else Value(COLLECTION, ref=SOME_PYTHON)
    if value.is_tensor:
        return _captured(value)
    if value.kind in (EXTERNAL, FUNCTION, ANY_OF):
        return value  # what is called is not None
    return value if not value.optional else NOTHING_KNOWN


def _captured(value: Value) -> Value:
    """A tensor that eager code made has all its sizes, whatever they were taken from, and arrives where it is captured.

    A variable that only some settings make stays one that may be missing: `if self.ema:` asks whether it is there.
    """
    is_known = value.dependence <= FROM_SHAPE or value.dependence == CAPTURED
    dependence = value.dependence if is_known else ARRIVING
    optional = value.optional and value.kind is VARIABLE
    return value._replace(optional=optional, producer=None, counted=None, dependence=dependence)
