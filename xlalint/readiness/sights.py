"""What the source of a project shows of its way to a TPU: where a strategy is made, a scope entered, replicas counted."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from xlalint.project.files import SourceFile
from xlalint.project.source import Source
from xlalint.semantics.imports.imported import imported_names
from xlalint.semantics.names import canonical


class Sign(str, Enum):
    """What may be seen."""

    TENSORFLOW = "imports TensorFlow or Keras"
    TPU_STRATEGY = "makes a TPUStrategy"
    OTHER_STRATEGY = "makes a strategy for other devices"
    TPU_SETUP = "initialises the TPU system"
    SCOPE = "enters strategy.scope()"
    REPLICAS = "counts num_replicas_in_sync"
    MODEL = "makes or trains a Keras model"
    FILES = "reads files"
    BUCKET = "names a bucket"
    OPTIMIZER = "makes an optimizer"
    OWN_LOOP = "has a training loop of its own"
    PROGRAM = "is a program"


@dataclass(frozen=True, slots=True)
class Sight:
    """A sign and where it was seen (1-based; counted in its cell where the file is a notebook)."""

    sign: Sign
    path: str
    line: int
    cell: int | None = None


_STRATEGIES = (
    "tf.distribute.TPUStrategy",
    "tf.distribute.experimental.TPUStrategy",
    "tf.compat.v1.distribute.experimental.TPUStrategy",
)
_SETUPS = (
    "tf.tpu.experimental.initialize_tpu_system",
    "tf.distribute.cluster_resolver.TPUClusterResolver.connect",
    "tf.compat.v1.tpu.initialize_system",
)
_OPTIMIZERS = ("keras.optimizers.", "tf_keras.optimizers.", "tf.compat.v1.train.")
# What opens files that the program names.
_READERS = frozenset(
    (
        *("tf.data.TFRecordDataset", "tf.data.TextLineDataset", "tf.data.FixedLengthRecordDataset"),
        *("tf.data.Dataset.list_files", "tf.data.Dataset.load", "tf.io.gfile.glob"),
        *("tf.data.experimental.make_csv_dataset", "tf.data.experimental.CsvDataset"),
        *("keras.utils.image_dataset_from_directory", "keras.utils.text_dataset_from_directory"),
        *("keras.preprocessing.image_dataset_from_directory", "tensorflow_datasets.load"),
    )
)
_BUCKET = "gs://"
_ATTRIBUTES = {
    "scope": Sign.SCOPE,
    "fit": Sign.MODEL,
    "apply_gradients": Sign.OWN_LOOP,
    "make_train_function": Sign.MODEL,
    "get_gcs_path": Sign.BUCKET,
}


def seen_in(programs: Iterable[tuple[SourceFile, Source]]) -> list[Sight]:
    """What the programs show, in their order. What does not parse shows nothing."""
    found: list[Sight] = []
    for file, source in programs:
        try:
            tree = ast.parse(source.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for sign, line in _of_program(tree):
            cell = source.cell_of(line)
            offset = 0 if cell is None else cell.first_line - 1
            number = None if cell is None else cell.number
            found.append(Sight(sign, file.display, line - offset, number))
        if file.is_notebook:
            found.append(Sight(Sign.PROGRAM, file.display, 1))
    return found


def _of_program(tree: ast.Module) -> Iterator[tuple[Sign, int]]:
    names = imported_names(tree)
    roots = {name.partition(".")[0] for name in names.values()}
    if roots & {"tensorflow", "keras", "tf_keras"}:
        yield Sign.TENSORFLOW, 1
    yield from ((Sign.PROGRAM, s.lineno) for s in tree.body if _trains_when_run(s))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from ((sign, node.lineno) for sign in _of_call(node, names))
        elif isinstance(node, ast.Attribute) and node.attr == "num_replicas_in_sync":
            yield Sign.REPLICAS, node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value.startswith(_BUCKET):
                yield Sign.BUCKET, node.lineno
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            yield Sign.PROGRAM, node.lineno


def _trains_when_run(statement: ast.stmt) -> bool:
    """Whether a statement of a module loops, or calls `fit`, without anybody calling it."""
    if isinstance(statement, (ast.For, ast.While)):
        return True
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    func = call.func if isinstance(call, ast.Call) else None
    return isinstance(func, ast.Attribute) and func.attr == "fit"


def _of_call(node: ast.Call, names: dict[str, str]) -> Iterator[Sign]:
    name = _canonical(node.func, names)
    if name in _STRATEGIES:
        yield Sign.TPU_STRATEGY
    elif name.startswith("tf.distribute.") and name.endswith(("Strategy", ".get_strategy")):
        yield Sign.OTHER_STRATEGY
    if name in _SETUPS:
        yield Sign.TPU_SETUP
    if name.startswith(_OPTIMIZERS):
        yield Sign.OPTIMIZER
    if name in _READERS:
        yield Sign.FILES
    if name in ("keras.Sequential", "keras.Model", "tf_keras.Sequential", "tf_keras.Model"):
        yield Sign.MODEL
    # A helper of the project's own, as in `with distribute_utils.get_strategy_scope(strategy):`.
    called = node.func.attr if isinstance(node.func, ast.Attribute) else name or _name(node.func)
    if called.endswith("strategy_scope"):
        yield Sign.SCOPE
    if isinstance(node.func, ast.Attribute):
        sign = _ATTRIBUTES.get(node.func.attr)
        if sign is not None and not (node.func.attr == "scope" and node.args):
            yield sign
        # `TPUClusterResolver.connect("")` is a class method, whatever the class was imported as.
        if node.func.attr == "connect" and "TPUClusterResolver" in ast.unparse(node.func.value):
            yield Sign.TPU_SETUP


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _canonical(node: ast.expr, names: dict[str, str]) -> str:
    tail: list[str] = []
    while isinstance(node, ast.Attribute):
        tail.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return ""
    return canonical(".".join((names[node.id], *reversed(tail))))
