"""What check calls an error stays one, however the program is put together: in helpers, methods, containers, closures, decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from .checked import errors
from .drawing import INPUTS, programs

pytestmark = pytest.mark.slow

_DRAWN = 300

# How a statement `name = expression` may be written instead.
_FORMS = {
    "a list": "box = []\nbox.append({e})\n{v} = box[0]",
    "a tuple": "{v}, rest = {e}, 1",
    "a dictionary": "box = {{}}\nbox['kept'] = {e}\n{v} = box['kept']",
    "an item of a display": "{v} = {{'a': {e}, 'b': 1}}['a']",
    "a comprehension": "{v} = [{e} for _ in range(1)][0]",
    "an attribute": "holder = Holder()\nholder.value = {e}\n{v} = holder.value",
    "a named tuple": "{v} = Pair(first={e}, second=1).first",
    "a dataclass": "{v} = Data({e}, 1).first",
    "a property": "{v} = Kept({e}).value",
    "an annotation": "{v}: tf.Tensor = {e}",
    "a walrus": "{v} = (again := {e})",
    "a lambda": "{v} = (lambda: {e})()",
    "an inner function": "def inner():\n    return {e}\n{v} = inner()",
    "a graph inside": "@tf.function\ndef inner():\n    return {e}\n{v} = inner()",
    "an arm that Python takes": "if FLAG:\n    {v} = {e}\nelse:\n    {v} = None",
    "a conditional expression": "{v} = {e} if FLAG else None",
    "where it is None": "{v} = None\nif {v} is None:\n    {v} = {e}",
    "a scope": "with tf.name_scope('a'), tf.device('/CPU:0'):\n    {v} = {e}",
    "a try": "try:\n    {v} = {e}\nfinally:\n    pass",
    "a loop of one turn": "for one in [1]:\n    {v} = {e}",
    "a loop that is left": "while True:\n    {v} = {e}\n    break",
    "a case": "match 1:\n    case 1:\n        {v} = {e}",
    "zip": "for one, other in zip([{e}], [1]):\n    {v} = one",
    "enumerate": "for number, one in enumerate([{e}]):\n    {v} = one",
    "map": "{v} = list(map(lambda one: one, [{e}]))[0]",
    "next": "{v} = next(iter([{e}]))",
    "tf.nest": "{v} = tf.nest.map_structure(lambda one: one, [{e}])[0]",
    "identity": "{v} = tf.identity({e})",
    "unpacked arguments": "{v} = second(*[0, {e}])",
    "unpacked keywords": "{v} = second(**{{'a': 0, 'b': {e}}})",
    "partial": "{v} = functools.partial(second, 0)({e})",
    "a decorated function": "{v} = decorated(0, {e})",
    "a table of functions": "{v} = TABLE['second'](0, {e})",
    "a static method": "{v} = Kit.second(0, {e})",
    "a class method": "{v} = Kit.third(0, {e})",
    "an object that is called": "{v} = CALLER(0, {e})",
}
_HEAD = """
import collections
import dataclasses
import functools

import tensorflow as tf

FLAG = True
Pair = collections.namedtuple("Pair", ["first", "second"])


@dataclasses.dataclass
class Data:
    first: tf.Tensor
    second: int


class Holder:
    pass


class Kept:
    def __init__(self, value):
        self._value = value

    @property
    def value(self):
        return self._value


def second(a, b):
    return b


class Kit:
    @staticmethod
    def second(a, b):
        return b

    @classmethod
    def third(cls, a, b):
        return b


class Caller:
    def __call__(self, a, b):
        return b


CALLER = Caller()
TABLE = {"second": second}


def noted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@noted
def decorated(a, b):
    return b
"""


class _Rewriting(ast.NodeTransformer):
    def __init__(self, form: str) -> None:
        self._form = form

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        target = node.targets[0]
        if not isinstance(target, ast.Name) or not _reads(node.value):
            return node
        if "{v} = None" in self._form and target.id in _reads(node.value):
            return node  # it would read what the form has taken away
        text = self._form.format(v=target.id, e=ast.unparse(node.value))
        return ast.parse(text).body


def _reads(node: ast.expr) -> list[str]:
    """The names that an expression reads, beside TensorFlow's and its own."""
    own = {a.arg for f in ast.walk(node) if isinstance(f, ast.Lambda) for a in f.args.args}
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return sorted(names - own - {"tf"})


def _in_form(program: str, form: str) -> str:
    return ast.unparse(_Rewriting(form).visit(ast.parse(program)))


def _statements(function: ast.FunctionDef) -> Iterator[ast.Assign]:
    for part in ast.walk(function):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            if _reads(part.value):
                yield part


def _in_helpers(program: str, number: int) -> str:
    """Every expression in a function of its own."""
    tree = ast.parse(program)
    helpers = []
    for place, statement in enumerate(_statements(tree.body[0])):  # type: ignore[arg-type]
        names = ", ".join(_reads(statement.value))
        helper = f"helper_{number}_{place}"
        helpers.append(f"def {helper}({names}):\n    return {ast.unparse(statement.value)}\n\n\n")
        statement.value = ast.parse(f"{helper}({names})", mode="eval").body
    return "".join(helpers) + ast.unparse(tree)


def _in_methods(program: str, number: int) -> str:
    """Every expression in a method that a subclass hands on to with super()."""
    tree = ast.parse(program)
    base, derived = f"class Base{number}:", f"class Steps{number}(Base{number}):\n    pass"
    for place, statement in enumerate(_statements(tree.body[0])):  # type: ignore[arg-type]
        names = ", ".join(_reads(statement.value))
        base += f"\n    def part_{place}(self, {names}):"
        base += f"\n        return {ast.unparse(statement.value)}\n"
        derived += f"\n\n    def part_{place}(self, {names}):"
        derived += f"\n        return super().part_{place}({names})"
        statement.value = ast.parse(f"steps_{number}.part_{place}({names})", mode="eval").body
    base += "    pass" if base.endswith(":") else ""
    return f"{base}\n\n\n{derived}\n\n\nsteps_{number} = Steps{number}()\n\n\n{ast.unparse(tree)}"


def _in_a_layer(program: str, number: int) -> str:
    """The whole body in the `call` of a layer."""
    function = ast.parse(program).body[0]
    assert isinstance(function, ast.FunctionDef)
    taken = ", ".join(INPUTS)
    body = "\n".join(ast.unparse(each) for each in function.body).replace("\n", "\n        ")
    head = f"class Whole{number}(tf.keras.layers.Layer):\n    def call(self, inputs):\n"
    function.body = ast.parse(f"return whole_{number}([{taken}])").body
    call = f"        {taken} = inputs\n        {body}\n\n\nwhole_{number} = Whole{number}()\n\n\n"
    return head + call + ast.unparse(function)


def _with_errors(written: list[str], path: Path) -> set[int]:
    return set(errors(written, "tpu-vm", path, _HEAD))


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    drawn = programs(11, _DRAWN)
    found = _with_errors(drawn, tmp_path_factory.mktemp("drawn") / "drawn.py")
    return tuple(drawn[position] for position in sorted(found))


@pytest.mark.parametrize("form", _FORMS)
def test_an_error_stays_one_in_another_form(
    form: str, failing: tuple[str, ...], tmp_path: Path
) -> None:
    written = [_in_form(program, _FORMS[form]) for program in failing]
    _assert_found(written, tmp_path)


@pytest.mark.parametrize("moved", [_in_helpers, _in_methods, _in_a_layer])
def test_an_error_stays_one_in_another_place(
    moved: object, failing: tuple[str, ...], tmp_path: Path
) -> None:
    written = [moved(program, number) for number, program in enumerate(failing)]  # type: ignore[operator]
    _assert_found(written, tmp_path)


def _assert_found(written: list[str], folder: Path) -> None:
    assert len(written) > 40
    lost = set(range(len(written))) - _with_errors(written, folder / "moved.py")
    # Gradients are followed by the text of one function, and what hundreds of calls give one helper is put together at some point.
    assert len(lost) <= len(written) * 0.08, "\n\n".join(written[each] for each in sorted(lost))
