"""Two Kerases in one program: objects of one handed to the other.

From TensorFlow 2.16 on, `tf.keras` is Keras 3 unless TF_USE_LEGACY_KERAS=1 is set when it is first used; that decides for good
(rules/XLA506.md). Some packages go on with Keras 2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from xlalint.semantics.facts import Remark
from xlalint.semantics.imports.imported import Names, imports_in
from xlalint.semantics.names import canonical
from xlalint.semantics.syntax import found_in

_TRANSFORMERS = "transformers.TF"
# Importing these sets TF_USE_LEGACY_KERAS, where tf.keras has not been used yet.
_SET_IT = ("transformers.TF", "tensorflow_model_optimization")
# Packages whose layers are of Keras 2, and which leave the variable alone.
_OF_LAYERS = ("tensorflow_hub", "tensorflow_lattice")
_Found = tuple[ast.AST, Remark]


def may_mix(text: str) -> bool:
    """Whether a module's text names a package of Keras 2: without, `read` finds nothing in it."""
    return any(word in text for word in ("transformers", *_OF_LAYERS))


def read(tree: ast.Module, of_keras_2: Sequence[str]) -> Iterator[_Found]:
    """What in a module mixes them, where tf.keras is Keras 3 by default and nothing else in the project chooses."""
    names = Names(dict(imports_in(tree)), {})
    imported = names.imported.values()
    has_models = any(name.startswith(_TRANSFORMERS) for name in imported)
    sets_it = any(name.startswith(_SET_IT) for name in imported)
    has_layers = not sets_it and any(name.startswith(_OF_LAYERS) for name in imported)
    if not has_models and not has_layers:
        return
    names.assigned.update(_assignments(tree))
    if has_models:
        yield from _optimizers(tree, names, _first_choice(tree))
    if has_layers:
        yield from _layers(tree, names, of_keras_2)


def _first_choice(tree: ast.Module) -> int:
    """The line of the first import that decides for Keras 3; one after the last where there is none."""
    lines = [
        node.lineno
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow.keras")
    ]
    models = [
        node.lineno
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformers")
    ]
    first = min(lines, default=0)
    return first if first and models and first < min(models) else 0


def _optimizers(tree: ast.Module, names: Names, decided: int) -> Iterator[_Found]:
    """`model.compile(optimizer=Adam())` of a model of transformers, which is of Keras 2, with an Adam of Keras 3."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        is_model = names.called(node.func.value).startswith(_TRANSFORMERS)
        if node.func.attr != "compile" or not is_model:
            continue
        given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "optimizer")]
        for optimizer in given:
            called = names.called(optimizer)
            is_keras_3 = called.startswith("keras.optimizers.")
            is_decided = bool(decided) and canonical(called).startswith("keras.optimizers.")
            if is_keras_3 or (is_decided and not called.startswith("tf_keras")):
                yield optimizer, Remark("optimizer", (("optimizer", called.rpartition(".")[2]),))


def _layers(tree: ast.Module, names: Names, of_keras_2: Sequence[str]) -> Iterator[_Found]:
    """`tf.keras.Sequential([hub.KerasLayer(...)])`, and the same through a name and by `add`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for layer in _given_to_keras_3(node, names):
                called = names.called(layer)
                if called.startswith(tuple(of_keras_2)) and not called.startswith(_TRANSFORMERS):
                    place = (
                        names.assigned.get(layer.id, layer)
                        if isinstance(layer, ast.Name)
                        else layer
                    )
                    yield place, Remark("layer", (("layer", called.rpartition(".")[2]),))


def _given_to_keras_3(node: ast.Call, names: Names) -> list[ast.expr]:
    """The layers in `tf.keras.Sequential([...])`, and in `model.add(...)` of such a model."""
    if canonical(names.dotted(node.func)) == "keras.Sequential":
        layers = node.args[0] if node.args else None
        return list(layers.elts) if isinstance(layers, ast.List | ast.Tuple) else []
    if isinstance(node.func, ast.Attribute) and node.func.attr == "add" and len(node.args) == 1:
        if canonical(names.called(node.func.value)) == "keras.Sequential":
            return list(node.args)
    return []


def _assignments(tree: ast.Module) -> dict[str, ast.expr]:
    """What each name is assigned that is assigned once."""
    found: dict[str, list[ast.expr]] = {}
    for node in found_in([tree], frozenset({ast.Assign})):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}
