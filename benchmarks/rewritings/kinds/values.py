"""The same value on its way through something: a helper, a box, a container, a closure."""

from __future__ import annotations

import libcst as cst
from libcst import matchers as m

from benchmarks.rewritings.kinds import syntax


def through_a_helper(program: cst.Module) -> cst.Module:
    """A function that returns what it is given."""
    return _wrapped(program, "same({x})", "def same(value):\n    return value\n\n\n")


def through_a_pair(program: cst.Module) -> cst.Module:
    """A function that returns two values, of which one is taken."""
    return _wrapped(program, "pair({x})[0]", "def pair(value):\n    return value, 1\n\n\n")


def through_a_box(program: cst.Module) -> cst.Module:
    """An attribute of a small class."""
    code = "class Box:\n    def __init__(self, value):\n        self.value = value\n\n\n"
    return _wrapped(program, "Box({x}).value", code)


def through_a_dataclass(program: cst.Module) -> cst.Module:
    """A field of a dataclass."""
    code = "import dataclasses\nfrom typing import Any\n\n@dataclasses.dataclass\nclass Box:\n    value: Any\n\n\n"
    return _wrapped(program, "Box(value={x}).value", code)


def through_a_named_tuple(program: cst.Module) -> cst.Module:
    """A field of a typing.NamedTuple."""
    code = "from typing import Any, NamedTuple\n\nclass Box(NamedTuple):\n    value: Any\n    count: int = 1\n\n\n"
    return _wrapped(program, "Box(value={x}).value", code)


def through_a_namespace(program: cst.Module) -> cst.Module:
    """An attribute of types.SimpleNamespace."""
    return _wrapped(
        program, "SimpleNamespace(value={x}).value", "from types import SimpleNamespace\n"
    )


def through_a_dictionary(program: cst.Module) -> cst.Module:
    """An item of a dictionary."""
    return _wrapped(program, 'dict(value={x})["value"]', "")


def through_a_list(program: cst.Module) -> cst.Module:
    """The first of a list."""
    return _wrapped(program, "[{x}][0]", "")


def through_a_lambda(program: cst.Module) -> cst.Module:
    """A lambda that is called at once."""
    return _wrapped(program, "(lambda: {x})()", "")


def through_map_structure(program: cst.Module) -> cst.Module:
    """tf.nest.map_structure of a function that returns what it is given."""
    return _wrapped(program, "tf.nest.map_structure(lambda t: t, {x})", "")


def through_identity(program: cst.Module) -> cst.Module:
    """tf.identity."""
    return _wrapped(program, "tf.identity({x})", "")


def through_a_comprehension(program: cst.Module) -> cst.Module:
    """A list that is made by a comprehension."""
    return _wrapped(program, "[part for part in ({x},)][0]", "")


def through_a_generator(program: cst.Module) -> cst.Module:
    """A generator function."""
    return _wrapped(program, "next(each({x}))", "def each(value):\n    yield value\n\n\n")


def _wrapped(program: cst.Module, template: str, code: str) -> cst.Module:
    """The program with the template around what calls of `tf.*` return, where that is assigned to a name."""
    made = program.visit(_Wrap(template))
    if made.deep_equals(program) or not code:
        return made
    return syntax.with_helpers(made, code)


class _Wrap(cst.CSTTransformer):
    def __init__(self, template: str) -> None:
        self.template, self.depth = template, 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.depth += 1

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.depth -= 1
        return updated_node

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        value = updated_node.value
        if not self.depth or not _is_tensor(value):
            return updated_node
        if not m.matches(updated_node.targets[0].target, m.Name()):
            return updated_node
        return updated_node.with_changes(value=syntax.expression(self.template, x=value))


# Calls of these return tensors; others of TensorFlow's return objects that have no place in tf.identity.
_TENSORS = ("tf.reduce_", "tf.math.", "tf.nn.", "tf.boolean_mask", "tf.where", "tf.cast", "tf.abs")


def _is_tensor(value: cst.BaseExpression) -> bool:
    name = syntax.dotted(value.func) if isinstance(value, cst.Call) else None
    return name is not None and name.startswith(_TENSORS) and not name.endswith("top_k")


REWRITINGS = (
    through_a_helper,
    through_a_pair,
    through_a_box,
    through_a_dataclass,
    through_a_named_tuple,
    through_a_namespace,
    through_a_dictionary,
    through_a_list,
    through_a_lambda,
    through_map_structure,
    through_identity,
    through_a_comprehension,
    through_a_generator,
)
