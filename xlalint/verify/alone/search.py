"""Try small values until a function runs eagerly and the lines in question have run.

The search is guided by how far a try comes: the one under which more lines ran before the error is the one to go on from.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from xlalint.verify import eagerly
from xlalint.verify.alone import scenes
from xlalint.verify.alone.guesses import Parameter, candidates, is_plain
from xlalint.verify.alone.lazy import Lazy, resolved
from xlalint.verify.alone.makers import Making
from xlalint.verify.alone.repairs import repairs
from xlalint.verify.alone.seal import TooLongError, at_most
from xlalint.verify.alone.ways import Bound, Way
from xlalint.verify.coverage import Lines, watching
from xlalint.verify.jobs import Wanted
from xlalint.verify.sites import real_path

# Most tries until something runs, most with which to come to further lines, CPU seconds for one way, wall seconds for one try.
_TRIES = 90
_FURTHER = 80
_REPAIRS = 6
_SCENES_ENOUGH = 10
_TOGETHER = 30
_SECONDS = 20.0
_ONE_TRY = 40.0
_RAISED = re.compile(r"[\w.]*(?:Error|Exception): ")
_CONFIG_LIKE = ("config", "cfg", "hparams", "params")


@dataclass(frozen=True, slots=True)
class Choice:
    """One value per parameter that is given: settings first, then arguments."""

    scene: str
    settings: Mapping[str, Any]
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same for values of the same types and shapes."""
        return f"{_key(self.settings)}|{_key(self.arguments)}"

    def with_value(self, slot: _Slot, value: Any) -> Choice:
        if slot.is_setting:
            return dataclasses.replace(self, settings={**self.settings, slot.parameter.name: value})
        return dataclasses.replace(self, arguments={**self.arguments, slot.parameter.name: value})


@dataclass(frozen=True, slots=True)
class Found:
    """A choice with which the function runs eagerly. `lines` are the lines in question that ran."""

    way: Way
    choice: Choice
    lines: frozenset[tuple[int, int]]
    bound: Bound
    is_special: bool

    @property
    def words(self) -> str:
        """`units=4; x float32[4, 8], mask bool[4]`."""
        made = ", ".join(f"{name}={_told(value)}" for name, value in self.choice.settings.items())
        given = ", ".join(_named(name, value) for name, value in self.choice.arguments.items())
        owner = f"{self.way.owner.__name__}({made})" if self.way.owner is not None and made else ""
        return "; ".join(part for part in (owner, given) if part) or "no arguments"


@dataclass(frozen=True, slots=True)
class _Slot:
    parameter: Parameter
    is_setting: bool
    options: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of a try: `bound` where it ran to its end, the number of lines that ran, the lines in question among them.
    `refused` is what was bound where the program asks TensorFlow or Keras for a name that they do not have: no inputs help.
    """

    bound: Bound | None
    progress: int
    lines: frozenset[tuple[int, int]]
    error: str = ""
    refused: Bound | None = None


class Search:
    """The search along one way. `tries` and `error` tell what was done where nothing is found."""

    def __init__(
        self,
        way: Way,
        wanted: Wanted,
        lines: Sequence[tuple[int, int]],
        avoid: AbstractSet[str] = frozenset(),
        on_try: Callable[[str], None] = lambda inputs: None,
    ) -> None:
        self._avoid = avoid
        self._on_try = on_try
        self._way = way
        self._wanted = wanted
        self._lines = tuple(lines)
        self._deadline = time.process_time() + _SECONDS
        self._seen: dict[str, _Outcome] = {}
        self._files = _files_around(way, wanted)
        self._furthest: list[tuple[Choice, list[_Slot], _Outcome]] = []
        self._best: tuple[int, int, str] | None = None
        self.tries = 0
        self.last: Choice | None = None

    @property
    def error(self) -> str:
        """The error of the try that came furthest."""
        return self._best[2] if self._best is not None else ""

    def run(self) -> list[Found]:
        """Choices that run and together come to as many of the lines in question as could be come to; where nothing runs because of a
        name that is gone, one that shows it.
        """
        found: list[Found] = []
        remaining = set(self._lines)
        ran: tuple[Choice, list[_Slot], _Outcome] | None = None
        refused: Found | None = None
        for choice, slots, outcome in self._tried():
            if outcome.refused is not None:
                refused = refused or self._found(choice, outcome, outcome.refused)
            if outcome.bound is None:
                continue
            ran = ran or (choice, slots, outcome)
            if outcome.lines & remaining:
                found.append(self._found(choice, outcome, outcome.bound))
                remaining -= outcome.lines
            if not remaining:
                return found
            if found or self.tries > _SCENES_ENOUGH:
                break
        if ran is not None:
            found += self._further(*ran, remaining)
        elif refused is not None:
            found.append(refused)
        return found

    # How to go about it

    def _tried(self) -> Iterator[tuple[Choice, list[_Slot], _Outcome]]:
        """First choices in every scene, then from the best one on, changing one value at a time, then at random."""
        starts: list[tuple[int, int, Choice, list[_Slot]]] = []
        outcomes: list[_Outcome] = []
        for scene in self._scenes():
            slots = self._slots(scene)
            choice = _first(scene.name, slots)
            if choice is None:
                return
            outcome = self._try(choice)
            if outcome is None:
                continue
            yield choice, slots, outcome
            starts.append((-outcome.progress, len(outcomes), choice, slots))
            outcomes.append(outcome)
            if not slots:
                return
        starts.sort(key=lambda start: start[:2])
        for _, index, choice, slots in starts[:3]:
            yield from self._repaired(choice, slots, outcomes[index])
        for progress, _, choice, slots in starts[:4]:
            self._furthest.clear()
            yield from self._climb(choice, slots, -progress, _TRIES // 3)
            for furthest in self._furthest[-1:]:
                yield from self._repaired(*furthest)
        dice = random.Random(7)
        while self.tries < _TRIES and starts and not self._is_late():
            _, _, choice, slots = dice.choice(starts[:4])
            for slot in slots:
                choice = choice.with_value(slot, dice.choice(slot.options))
            outcome = self._try(choice)
            if outcome is not None:
                yield choice, slots, outcome
            else:
                self.tries += 1

    def _repaired(
        self, choice: Choice, slots: list[_Slot], outcome: _Outcome
    ) -> Iterator[tuple[Choice, list[_Slot], _Outcome]]:
        """From `choice` on, what each error asks for, as long as the errors are new or come later."""
        scene = next(scene for scene in self._scenes() if scene.name == choice.scene)
        met = {outcome.error}
        for _ in range(_REPAIRS):
            if outcome.bound is not None or self._is_late():
                return
            better: tuple[Choice, _Outcome] | None = None
            for arguments in repairs(choice.arguments, outcome.error, scene):
                changed = dataclasses.replace(choice, arguments=arguments)
                other = self._try(changed)
                if other is None:
                    continue
                yield changed, slots, other
                is_new = other.error not in met and other.progress >= outcome.progress
                if other.bound is not None or is_new:
                    better = (changed, other)
                    break
            if better is None:
                return
            choice, outcome = better
            met.add(outcome.error)

    def _climb(
        self, choice: Choice, slots: list[_Slot], progress: int, most: int
    ) -> Iterator[tuple[Choice, list[_Slot], _Outcome]]:
        """From `choice` on, keeping each change under which more lines run."""
        end = self.tries + most
        is_better = True
        while is_better:
            is_better = False
            for rank in range(1, max((len(slot.options) for slot in slots), default=0)):
                for slot in slots:
                    if rank >= len(slot.options) or self.tries >= end or self._is_late():
                        continue
                    changed = choice.with_value(slot, slot.options[rank])
                    outcome = self._try(changed)
                    if outcome is None:
                        continue
                    yield changed, slots, outcome
                    if outcome.progress > progress:
                        choice, progress, is_better = changed, outcome.progress, True
                        self._furthest.append((changed, slots, outcome))

    def _further(
        self, choice: Choice, slots: list[_Slot], outcome: _Outcome, remaining: set[tuple[int, int]]
    ) -> Iterator[Found]:
        """Other flags and options than the defaults, one at a time; then a few of them together."""
        options = self._asked_first(choice, slots, remaining)
        end = self.tries + _FURTHER
        asked = [slot for slot in options if self._is_asked(slot.parameter.name, remaining)]
        for changed in _changes(choice, options, asked):
            if not remaining or self.tries >= end or self._is_late():
                return
            other = self._try(changed) or self._seen[changed.key]
            tries = [(changed, slots, other)]
            if other.bound is None:
                tries += self._repaired(changed, slots, other)
            for chosen, _, one in tries:
                if one.bound is not None and one.lines & remaining:
                    remaining -= one.lines
                    yield self._found(chosen, one, one.bound)

    def _asked_first(
        self, choice: Choice, slots: list[_Slot], remaining: set[tuple[int, int]]
    ) -> list[_Slot]:
        """What may be given besides: those first that the `if`s around the missing lines ask for."""
        scene = next(scene for scene in self._scenes() if scene.name == choice.scene)
        options = [*self._optional(scene), *(slot for slot in slots if len(slot.options) > 1)]
        return sorted(options, key=lambda slot: not self._is_asked(slot.parameter.name, remaining))

    def _is_asked(self, name: str, remaining: set[tuple[int, int]]) -> bool:
        """Does a condition around the missing lines name it, or is it a parameter of their function, such as labels?"""
        if name in self._wanted.parameters or name in _names_asked(self._wanted.path, remaining):
            return True
        return "label" in name and any("label" in one for one in self._wanted.parameters)

    def _is_late(self) -> bool:
        return time.process_time() > self._deadline

    # What there is to choose from

    def _scenes(self) -> list[scenes.Scene]:
        names = [
            one.name for one in (*self._way.settings, *self._way.parameters) if not one.has_default
        ]
        is_configured = any(any(word in name for word in _CONFIG_LIKE) for name in names)
        shapes = scenes.CONFIGURED + scenes.SHAPES[:3] if is_configured else scenes.SHAPES
        if self._way.is_model:
            shapes = (*shapes[:3], *scenes.PICTURES, *shapes[3:])
        return [scenes.scene(name, shape) for name, shape in shapes]

    def _slots(self, scene: scenes.Scene) -> list[_Slot]:
        making = Making(scene, self._way.module, self._way.owner)
        return [
            _Slot(one, one.is_setting, tuple(self._options(one, scene, making)))
            for one in (*self._way.settings, *self._way.parameters)
            if not one.has_default
        ]

    def _options(self, one: Parameter, scene: scenes.Scene, making: Making) -> list[Any]:
        options = candidates(one, scene, making)
        is_about_sparse = "XLA405" in self._wanted.codes and not one.is_setting
        if is_about_sparse and not any(isinstance(value, tf.SparseTensor) for value in options):
            options.insert(min(2, len(options)), scene.sparse(4, 4))
        return options

    def _optional(self, scene: scenes.Scene) -> list[_Slot]:
        making = Making(scene, self._way.module, self._way.owner)
        slots = []
        for one in (*self._way.settings, *self._way.parameters):
            if not one.has_default:
                continue
            if isinstance(one.default, bool):
                options: list[Any] = [not one.default]
            else:
                options = [
                    value
                    for value in candidates(one, scene, making)
                    if not _same(value, one.default)
                ]
                options = [value for value in options if value is not None]
            slots.append(_Slot(one, one.is_setting, tuple(options[:5])))
        return slots

    # One try

    def _try(self, choice: Choice) -> _Outcome | None:
        """None for what has been tried before."""
        key = choice.key
        if key in self._seen:
            return None
        name = f"{self._way.label}: {key}"
        if name in self._avoid:
            self._seen[key] = _Outcome(None, 0, frozenset(), "kills the process")
            return None
        self._on_try(name)
        self.tries += 1
        self.last = choice
        ran = Lines()
        bound: Bound | None = None
        error, is_refused = "", False
        try:
            with (
                at_most(_ONE_TRY),
                watching(self._files, ran),
                eagerly.everything(),
            ):
                bound = _bind(self._way, choice)
                bound.eager(*bound.args, **bound.kwargs)
        except TooLongError:
            error = f"took more than {_ONE_TRY:.0f} s"
        except Exception as raised:
            error = f"{type(raised).__name__}: {gist(raised)}"
            is_refused = _is_of_a_gone_name(raised)
        except SystemExit:
            error = "leaves the process"
        lines = set(ran.as_dict().get(self._wanted.path, ()))
        covered = frozenset(
            span for span in self._lines if any(span[0] <= n <= span[1] for n in lines)
        )
        progress = sum(len(numbers) for numbers in ran.as_dict().values())
        outcome = self._seen[key] = _Outcome(
            None if error else bound, progress, covered, error, bound if is_refused else None
        )
        if error and (self._best is None or outcome.progress > self._best[0]):
            self._best = (outcome.progress, self.tries, error)
        return outcome

    def _found(self, choice: Choice, outcome: _Outcome, bound: Bound) -> Found:
        # A made-up setting may be the one with which a branch is not taken, or a size is known: it refutes nothing.
        values = (*choice.settings.values(), *choice.arguments.values())
        is_special = any(value is not None and is_plain(value) for value in values)
        return Found(self._way, choice, outcome.lines, bound, is_special)


def _bind(way: Way, choice: Choice) -> Bound:
    """Make what has to be made. Raises whatever that raises."""
    tf.random.set_seed(1)
    np.random.seed(1)
    random.seed(1)
    settings = {name: _constant(resolved(value)) for name, value in choice.settings.items()}
    arguments = {name: as_tensors(resolved(value)) for name, value in choice.arguments.items()}
    return way.bind(settings, arguments)


_GONE = re.compile(r"module '(?:tensorflow|keras|tf_keras)\b[\w.]*' has no attribute '\w+'")


def _is_of_a_gone_name(error: Exception) -> bool:
    return isinstance(error, AttributeError) and _GONE.search(str(error)) is not None


def as_tensors(value: Any) -> Any:
    """Arrays as tensors; everything else as it is."""
    if isinstance(value, np.ndarray):
        return tf.constant(value)
    if isinstance(value, dict):
        return {name: as_tensors(one) for name, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(as_tensors(one) for one in value)
    return value


def _constant(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def others(value: Any) -> Any:
    """Other values of the same shape and range: floats drawn anew, whole numbers and booleans in another order."""
    if isinstance(value, dict):
        return {name: others(one) for name, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(others(one) for one in value)
    if not isinstance(value, tf.Tensor) or value.dtype in (tf.string, tf.resource, tf.variant):
        return value
    array = value.numpy()
    dice = np.random.RandomState(11)
    if array.dtype.kind == "f" and array.size:
        low, high = float(array.min()), float(array.max())
        drawn = dice.uniform(low, high, array.shape) if high > low else array * 1.25
        return tf.constant(np.asarray(drawn), value.dtype)
    flat = array.reshape(-1)
    is_sorted = (
        array.ndim == 1 and array.size > 1 and bool((np.diff(array.astype("int64")) >= 0).all())
        if array.dtype.kind in "iu"
        else False
    )
    return (
        value
        if is_sorted
        else tf.constant(dice.permutation(flat).reshape(array.shape), value.dtype)
    )


def _first(scene: str, slots: Sequence[_Slot]) -> Choice | None:
    if not all(slot.options for slot in slots):
        return None
    settings = {slot.parameter.name: slot.options[0] for slot in slots if slot.is_setting}
    arguments = {slot.parameter.name: slot.options[0] for slot in slots if not slot.is_setting}
    return Choice(scene, settings, arguments)


def _changes(choice: Choice, options: Sequence[_Slot], asked: Sequence[_Slot]) -> Iterator[Choice]:
    """All that is left out given at once; what is asked for, together; one option at a time; a few at random."""
    everything = choice
    for slot in options:
        if slot.options and slot.parameter.has_default and slot.parameter.default is None:
            everything = everything.with_value(slot, slot.options[0])
    yield everything
    left_out = [slot for slot in asked if slot.options and slot.parameter.has_default][:3]
    for values in itertools.islice(
        itertools.product(*(slot.options for slot in left_out)), _TOGETHER if left_out else 0
    ):
        together = choice
        for slot, value in zip(left_out, values, strict=True):
            together = together.with_value(slot, value)
        yield together
    for slot in options:
        yield from (choice.with_value(slot, value) for value in slot.options[:5])
    dice = random.Random(5)
    usable = [slot for slot in options if slot.options]
    for _ in range(_FURTHER if usable else 0):
        changed = choice
        for slot in dice.sample(usable, min(len(usable), 3)):
            changed = changed.with_value(slot, dice.choice(slot.options))
        yield changed


def _names_asked(path: str, lines: set[tuple[int, int]]) -> set[str]:
    """Names, and attributes of `self`, in the tests of the conditionals around the lines, and before them in their function."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    asked: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            first, last = node.lineno, node.end_lineno or node.lineno
            if any(first <= line[0] <= last for line in lines) or any(
                0 < line[0] - last < 40 for line in lines
            ):
                for inner in ast.walk(node.test):
                    if isinstance(inner, ast.Name):
                        asked.add(inner.id)
                    elif isinstance(inner, ast.Attribute):
                        asked |= {inner.attr, inner.attr.lstrip("_")}
    return asked


def _same(left: Any, right: Any) -> bool:
    try:
        return bool(type(left) is type(right) and left == right)
    except Exception:
        return False


def _key(values: Mapping[str, Any]) -> str:
    return ",".join(f"{name}={_told(value)}" for name, value in values.items())


def _told(value: Any) -> str:
    """A value for the reader."""
    if isinstance(value, Lazy):
        return value.words
    if isinstance(value, tf.SparseTensor):
        return f"SparseTensor {value.dtype.name}{list(value.shape)}"
    if isinstance(value, tf.RaggedTensor):
        return f"RaggedTensor {value.dtype.name}{value.shape.as_list()}"
    if isinstance(value, (np.ndarray, tf.Tensor)):
        dtype = value.dtype.name
        shape = [int(size) for size in value.shape]
        if not shape or (
            len(shape) == 1 and dtype.startswith("int") and isinstance(value, np.ndarray)
        ):
            return f"{dtype}{shape} of {np.asarray(value).tolist()}"[:60]
        return f"{dtype}{shape}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_told(one)}" for name, one in value.items()) + "}"
    if type(value) in (list, tuple):
        opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
        return opening + ", ".join(_told(one) for one in value) + closing
    if callable(value):
        return f"the function {getattr(value, '__name__', type(value).__name__).strip('_')}"
    return repr(value)[:60]


def _named(name: str, value: Any) -> str:
    has_shape = isinstance(
        value, (np.ndarray, tf.Tensor, tf.SparseTensor, tf.RaggedTensor, dict, list, tuple)
    )
    return f"{name} {_told(value)}" if has_shape else f"{name}={_told(value)}"


def gist(error: BaseException) -> str:
    """The first line that says something: Keras says first in which layer, TensorFlow in which function."""
    text = re.sub(r"\x1b\[[0-9;]*m|\{\{function_node [^}]*\}\}", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith("Exception encountered when calling")]
    if telling[:1] == [
        "in user code:"
    ]:  # then come the lines of code, and the error as it was raised
        telling = [line for line in telling if _RAISED.match(line)] or telling
    return (telling[0] if telling else "")[:200]


def _files_around(way: Way, wanted: Wanted) -> frozenset[str]:
    """The files of the package: how far a try comes is counted in their lines."""
    package = way.module.__name__.partition(".")[0]
    loaded = [
        module
        for name, module in list(sys.modules.items())
        if name == package or name.startswith(f"{package}.")
    ]
    paths = (getattr(module, "__file__", None) for module in loaded)
    return frozenset({wanted.path, *(real_path(path) for path in paths if path)})
