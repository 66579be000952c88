"""Programs of fixtures/fixes before and after: the same numbers eagerly and compiled, forward and backward."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.compiler

CASES = sorted(
    path.parent
    for path in (Path(__file__).parents[2] / "fixtures" / "fixes").glob("*/before.py")
    if "\nCALLS" in path.read_text(encoding="utf-8")
)


def load(path: Path) -> ModuleType:
    """The program as a module, its weights drawn from the same seeds each time."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(3)
    name = f"{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # AutoGraph looks for the source there
    spec.loader.exec_module(module)
    return module


def resolved(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part)
    return found


def with_same_weights(before: Any, after: Any, arguments: Any) -> None:
    """Layers make their weights when they are first called."""
    from xlalint.verify import eagerly

    with eagerly.everything():
        before(*arguments)
        after(*arguments)
    for old, new in zip(getattr(before, "variables", ()), getattr(after, "variables", ())):
        new.assign(old)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_rewritten_program_computes_the_same(case: Path) -> None:
    import tensorflow as tf

    from xlalint.verify.program import Call, Flat, Program
    from xlalint.verify.proving import trial
    from xlalint.verify.proving.cases import Case

    try:
        before, after = load(case / "before.py"), load(case / "after.py")
    except ImportError as error:
        pytest.skip(f"needs {error.name}")
    # What unsafe fixes of the program are announced to change: "gradients", "dtypes".
    may_change = frozenset(getattr(before, "CHANGES", ()))
    for index, (name, arguments) in enumerate(before.CALLS):
        tf.keras.utils.set_random_seed(3)
        given = tuple(arguments())
        first, second = resolved(before, name), resolved(after, name)
        with_same_weights(first, second, given)
        old, new = (
            Flat(Program(name, name, "", 0, "test", call, (Call(given),)))
            for call in (first, second)
        )
        tensors = tuple(old.tensors(Call(given)))
        outcome = trial.compare(
            trial.Trial(old, new, old.names, trial.as_it_is, trial.as_it_is, may_change),
            iter([Case(f"CALLS[{index}] of {name}", tensors)]),
            seconds=60.0,
        )
        assert not outcome.unusable, f"{name} before the fix, CALLS[{index}]: {outcome.unusable}"
        assert outcome.counterexample is None, "\n".join(outcome.counterexample.lines)
        assert not outcome.stuck, f"{name} after the fix does not compile: {outcome.stuck}"
