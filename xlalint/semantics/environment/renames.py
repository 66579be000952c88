"""Names that TensorFlow and Keras have renamed or dropped, where the code uses them: `rules/renamed.toml` lists them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from xlalint.semantics.environment.fallbacks import asks, is_ready
from xlalint.semantics.environment.rename_table import GRAPHS, Entry, Rename, Table, table
from xlalint.semantics.environment.telltales import Telltales
from xlalint.semantics.facts import EAGER, RENAMED, Context
from xlalint.semantics.frames import Frame
from xlalint.semantics.imports.imported import imports_in
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.names import rooted
from xlalint.semantics.syntax import children_of, found_in
from xlalint.semantics.text_lines import stands_on
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# Modules that speak of these have models of Keras 2, whatever tf.keras is: its methods and their parameters work there.
_OF_KERAS_2 = ("tf_keras", "tensorflow.python.keras", "transformers")

# What says that a weight is one of Keras, whoever else has a method of that name.
_OF_WEIGHTS = frozenset(
    "aggregation constraint dtype initializer regularizer shape trainable".split()
)
# What makes metrics, and optimizers.
_METRICS = ("keras.metrics.", "tf.metrics.")
_OPTIMIZERS = ("keras.optimizers.", "tf.optimizers.", "keras.mixed_precision.LossScaleOptimizer")
_ASSIGNMENTS = frozenset({ast.Assign})
# What a model of Keras is called where it keeps its optimizer.
_MODELS = ("model", "self.model")
# What makes a model out of layers.
_MAKE_MODELS = ("keras.Model", "keras.Sequential", "keras.models.", "keras.applications.")
# Methods that a model calls on its own optimizer.
_OF_OWN_OPTIMIZER = ("minimize", "apply_gradients")
_CLASSES = frozenset({ast.ClassDef})
_LOOPS = frozenset({ast.For, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp})


def note(analysis: Analysis, modules: Iterable[ModuleInfo]) -> None:
    """Keep a fact for each use of an old name in these modules."""
    for module in modules:
        if not module.may_hold_findings:
            continue
        telltales = Telltales(module.text)
        if telltales:
            imported = dict(imports_in(module.tree))
            known = table()
            if any(word in module.text for word in _OF_KERAS_2):
                known = known.without_models()
            if any(f"def {name}(" in module.text for name in known.texts):
                known = known._replace(texts={})  # methods of the project's own
            if any(f"def {name}(" in module.text for name in known.own):
                known = known._replace(own={})
            reader = _Reader(known, imported, telltales.lines(imported), module.text)
            for node, kind, found, entry in reader.read(module.tree):
                is_gone = _is_gone(entry, analysis)
                if entry.gone not in ("", GRAPHS) and not is_gone:
                    continue  # it works there, and nobody says that it will not
                function = _function_at(module, getattr(node, "lineno", 0))
                frame = Frame(analysis, module, function, Context(EAGER, False))
                analysis.keep(
                    frame, node, RENAMED, NOTHING_KNOWN, Rename(entry, kind, found, is_gone)
                )


def _is_gone(entry: Entry, analysis: Analysis) -> bool:
    if entry.gone == "keras-3":
        return analysis.keras == "3"
    if entry.gone in ("", "long", GRAPHS):
        return entry.gone == "long"
    return _numbers(analysis.catalog.tensorflow) >= _numbers(entry.gone)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _function_at(module: ModuleInfo, line: int) -> FunctionInfo | None:
    """The innermost function around a line."""
    around = [
        info for info in module.functions if info.node.lineno <= line <= (info.node.end_lineno or 0)
    ]
    return max(around, key=lambda info: info.node.lineno, default=None)


_Found = tuple[ast.AST, str, str, Entry]


class _Reader:
    """Reads one module for old names. Of a family, the first use of each member is told."""

    def __init__(
        self, known: Table, imported: Mapping[str, str], lines: Sequence[int], text: str
    ) -> None:
        self._table = known
        self._text = text
        self._imported = imported
        self._lines = lines
        self._told: set[str] = set()
        # Names whose import is told: what they are used for need not be told again.
        self._broken: set[str] = set()
        # Names that the module itself gives a value.
        self._set: set[str] = set()
        self._called: set[ast.expr] = set()
        # What holds a metric of Keras: `loss = tf.keras.metrics.Mean()`, `self.loss = ...`.
        self._metrics: frozenset[str] = frozenset()
        self._optimizers: frozenset[str] = frozenset()
        # The lines of classes that say they are layers or models.
        self._layers: list[range] = []
        # What holds a model that is made here.
        self._models: frozenset[str] = frozenset()
        # What loops over the layers of a model call each of them, by their lines.
        self._looped: list[tuple[str, range]] = []
        # What holds a tensor, a variable or an array, by what makes those.
        self._held: dict[str, frozenset[str]] = {}
        self._tree = ast.Module([], [])

    def read(self, tree: ast.Module) -> Iterator[_Found]:
        of_objects = (*self._table.metrics, *self._table.optimizers, "apply_gradients")
        self._tree = tree
        if self._lines and any(f".{name}" in self._text for name in self._table.functional):
            made = self._made_as(_MAKE_MODELS, found_in(tree.body, _ASSIGNMENTS))
            self._models = frozenset(made)
        if self._lines and any(f".{name}" in self._text for name in self._table.layers):
            self._looped = list(_layers_of_models(found_in(tree.body, _LOOPS)))
        if self._lines and any(f".{name}" in self._text for name in of_objects):
            assigned = found_in(tree.body, _ASSIGNMENTS)
            self._metrics = frozenset(self._made_as(_METRICS, assigned))
            self._optimizers = frozenset(self._made_as(_OPTIMIZERS, assigned))
        if any(f".{name}(" in self._text for name in (*self._table.own, *_OF_OWN_OPTIMIZER)):
            self._layers = [
                range(node.lineno, (node.end_lineno or node.lineno) + 1)
                for node in found_in(tree.body, _CLASSES)
                if isinstance(node, ast.ClassDef) and any(map(_names_a_layer, node.bases))
            ]
        pending: list[ast.AST] = [tree]
        while pending:
            node = pending.pop()
            if not stands_on(node, self._lines) or (isinstance(node, ast.Try) and is_ready(node)):
                continue
            if isinstance(node, (ast.If, ast.IfExp)) and asks(node.test):
                continue
            yield from self._at(node)
            if not isinstance(node, ast.Attribute) or self._dotted(node) is None:
                pending += reversed(children_of(node))

    def _at(self, node: ast.AST) -> Iterator[_Found]:
        if isinstance(node, ast.ImportFrom):
            yield from self._in_import(node)
        elif isinstance(node, ast.Attribute):
            yield from self._in_chain(node)
        elif isinstance(node, ast.Call):
            self._called.add(node.func)
            yield from self._in_call(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            entry = self._table.environment.get(node.value)
            if entry is not None:
                yield node, "environment", node.value, entry

    def _in_import(self, node: ast.ImportFrom) -> Iterator[_Found]:
        if not node.module or node.level:
            return
        for alias in node.names:
            raw = f"{node.module}.{alias.name}"
            name = rooted(raw)
            for old in (name, *_above(name)):
                entry = self._table.names.get(old) or self._table.families.get(old)
                if (
                    entry is not None
                    and entry.members
                    and name.rpartition(".")[2] not in entry.members
                ):
                    continue
                if entry is not None and entry.is_meant_by(raw):
                    # What is below a renamed package moves with it: the import may be all there is to change.
                    is_exact = old == name
                    if not is_exact and old in self._table.names:
                        entry = entry._replace(
                            use=entry.use + name[len(old) :] if entry.use else ""
                        )
                    self._broken.add(alias.asname or alias.name)
                    yield alias, "name", name, entry
                    break

    def _in_chain(self, node: ast.Attribute) -> Iterator[_Found]:
        method = self._table.methods.get(node.attr) or self._table.models.get(node.attr)
        if method is None and _spelled(node.value) in self._metrics:
            method = self._table.metrics.get(node.attr)
        if method is None and node.attr in self._table.layers:
            if _is_of_model(node.value) or self._is_looped(node.value):
                method = self._table.layers[node.attr]
        if method is None and _spelled(node.value) in self._models:
            method = self._table.functional.get(node.attr)
        if node in self._called and node.attr in self._table.own and _is_own(node):
            if any(node.lineno in lines for lines in self._layers):
                yield node, "method", node.attr, self._table.own[node.attr]
            return
        if method is None and node.attr in self._table.optimizers and self._optimizes(node.value):
            method = self._table.optimizers[node.attr]
            if method.when and node not in self._called:
                method = None
            # Written, it raised nothing: another name changes what the program does.
            if method is not None and isinstance(node.ctx, ast.Store):
                method = method._replace(instead=f"`{method.use}`: this sets nothing there", use="")
        dotted = self._dotted(node)
        if dotted is None:
            if method is not None and not _is_own(node):
                yield node, "method", node.attr, method
            return
        raw, chain = dotted
        if method is not None and not _is_own(node):
            yield node, "method", node.attr, method
            return
        if isinstance(node.ctx, ast.Store):
            self._set.add(raw)  # `K.dtype = dtype`: it is there from here on
        if chain[-1] in self._broken or raw in self._set:
            return
        name = rooted(raw)
        for depth, part in enumerate((name, *_above(name))):
            entry = self._table.names.get(part)
            if entry is not None and entry.is_meant_by(raw):
                # `isinstance(strategy, (experimental.TPUStrategy, TPUStrategy))` takes both, and is right to.
                if (entry.gone and not entry.when) or node in self._called:
                    yield _inner(node, depth), "name", part, entry
                return
            family, _, member = part.rpartition(".")
            entry = self._table.families.get(family)
            if entry is None or not member or not entry.is_meant_by(raw):
                continue
            if entry.members and member not in entry.members:
                continue
            # Another import mends all the members that are gone of a module that is not.
            told = family if entry.members else part
            if told not in self._told:
                self._told.add(told)
                yield _inner(node, depth), "family", part, entry
                return

    def _is_looped(self, node: ast.expr) -> bool:
        name = _spelled(node)
        return any(name == each and node.lineno in lines for each, lines in self._looped)

    def _optimizes(self, node: ast.expr) -> bool:
        """Whether an expression is an optimizer of Keras: made as one in this module, or kept by a model."""
        is_kept = isinstance(node, ast.Attribute) and node.attr == "optimizer"
        if _spelled(node) == "self.optimizer" and any(node.lineno in each for each in self._layers):
            return True
        return _spelled(node) in self._optimizers or (is_kept and _spelled(node.value) in _MODELS)  # type: ignore[attr-defined]

    def _in_call(self, node: ast.Call) -> Iterator[_Found]:
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(node.func, ast.Attribute):
            entry = self._table.texts.get(node.func.attr)
            if entry is not None and isinstance(first.value, str) and _is_own(node.func):
                of_weights = (given.arg or "" for given in node.keywords)
                if len(node.args) > 1 or not _OF_WEIGHTS.isdisjoint(of_weights):
                    yield first, "text", f"{node.func.attr}({ast.unparse(first)}, ...)", entry
        entries = self._parameters_of(node)
        for given in node.keywords if entries else ():
            entry = entries.get(given.arg or "")
            if entry is not None and self._is_given(entry, given.value, node):
                yield given, "parameter", given.arg or "", entry

    def _is_given(self, entry: Entry, value: ast.expr, call: ast.Call) -> bool:
        """Whether a parameter that the table has for what is called is given what is gone."""
        if entry.holds:
            return _holds(value, entry.holds)
        if entry.made_by:
            return self._is_made_by(value, entry.made_by)
        if entry.of:
            return isinstance(call.func, ast.Attribute) and self._optimizes(call.func.value)
        if entry.others:
            called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            name = self._dotted(call.func)
            return (name[0].rpartition(".")[2] if name else called) not in entry.others
        return not entry.value or self._is_one_of(value, entry.value)

    def _is_made_by(self, value: ast.expr, makers: str) -> bool:
        """Whether a value is made by one of these functions, here or where the name that holds it is assigned."""
        if isinstance(value, ast.Call):
            called = self._dotted(value.func)
            return called is not None and rooted(called[0]) in makers.split("|")
        name = _spelled(value)
        if not name:
            return False
        if makers not in self._held:
            assigned = found_in(self._tree.body, _ASSIGNMENTS)
            made: set[str] = set()
            others = set(_otherwise_bound(self._tree))
            for each in assigned:
                assert isinstance(each, ast.Assign)
                is_made = isinstance(each.value, ast.Call) and self._is_made_by(each.value, makers)
                for target in each.targets:
                    (made if is_made else others).update(_bound_by(target))
            self._held[makers] = frozenset(made - others)
        return name in self._held[makers]

    def _is_one_of(self, node: ast.expr, values: str) -> bool:
        """Whether an argument is one of these texts, or a name at or below one of these."""
        if isinstance(node, ast.Constant):
            return node.value in values.split("|")
        named = self._dotted(node)
        if named is None:
            return False
        name = rooted(named[0])
        return any(name == value or name.startswith(f"{value}.") for value in values.split("|"))

    def _parameters_of(self, node: ast.Call) -> Mapping[str, Entry]:
        """What is renamed or gone of the parameters of what is called: by its name, its module's, or as a method of a model."""
        known = self._table.parameters
        called = self._dotted(node.func)
        name = rooted(called[0]) if called is not None else ""
        if name == "functools.partial" and node.args:
            wrapped = self._dotted(node.args[0])
            name = rooted(wrapped[0]) if wrapped is not None else ""
        module, _, leaf = name.rpartition(".")
        if module:
            of_module = known.get(module, {}) if leaf[:1].isupper() else {}
            own = known.get(name, of_module)
            # An empty one says that this class takes what the module's others do not.
            return {**of_module, **own} if own else own
        return known.get(node.func.attr, {}) if isinstance(node.func, ast.Attribute) else {}

    def _made_as(self, packages: tuple[str, ...], assigned: Iterable[ast.AST]) -> Iterator[str]:
        """The names and attributes that are given an object of one of the packages' classes."""
        for node in assigned:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                called = self._dotted(node.value.func)
                if called is not None and rooted(called[0]).startswith(packages):
                    yield from filter(None, map(_spelled, node.targets))

    def _dotted(self, node: ast.expr) -> tuple[str, list[str]] | None:
        """`tf.distribute.experimental`, by what its first name was imported as; and that name, last of the chain."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._imported:
            return None
        return ".".join((self._imported[node.id], *reversed(tail))), [*tail, node.id]


def _spelled(node: ast.expr) -> str:
    """`name` or `self.name`; empty for any other expression."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _above(name: str) -> Iterator[str]:
    """`a.b`, `a` for `a.b.c`."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _inner(node: ast.Attribute, depth: int) -> ast.expr:
    """The expression `depth` attributes further in."""
    found: ast.expr = node
    for _ in range(depth):
        if isinstance(found, ast.Attribute):
            found = found.value
    return found


def _names_a_layer(base: ast.expr) -> bool:
    """Whether a base says by its name that it is a layer or a model: `keras.layers.Layer`, `BaseModel`, `keras.Sequential`."""
    name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
    return name.endswith(("Layer", "Model", "Sequential"))


def _otherwise_bound(tree: ast.Module) -> Iterator[str]:
    """Names that are bound by something else than `=`: parameters, loops, annotated names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(
            node, (ast.For, ast.comprehension, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)
        ):
            yield from _bound_by(node.target)


def _bound_by(target: ast.expr) -> Iterator[str]:
    return (_spelled(part) for part in ast.walk(target) if isinstance(part, ast.expr))


def _layers_of_models(loops: Iterable[ast.AST]) -> Iterator[tuple[str, range]]:
    """`layer` of `for layer in model.layers`, `for i, layer in enumerate(base_model.layers)`, and the lines of the loop."""
    for loop in loops:
        parts = [loop] if isinstance(loop, ast.For) else loop.generators  # type: ignore[attr-defined]
        for part in parts:
            name = _layer_of_model(part.iter, part.target)
            if name:
                yield name, range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)  # type: ignore[attr-defined]


def _layer_of_model(over: ast.expr, target: ast.expr) -> str:
    """What is called so in a loop over the layers of a model; empty in other loops."""
    if isinstance(over, ast.Call) and _spelled(over.func) == "enumerate" and over.args:
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            over, target = over.args[0], target.elts[1]
    over = over.value if isinstance(over, ast.Subscript) else over
    is_layers = isinstance(over, ast.Attribute) and over.attr == "layers"
    is_of_model = is_layers and _spelled(over.value).endswith("model")  # type: ignore[attr-defined]
    return target.id if is_of_model and isinstance(target, ast.Name) else ""


def _holds(node: ast.expr, text: str) -> bool:
    """Whether a text surely holds another: `"a/b"`, `f"{a}/b"`, `a + "/b"`, `"%s/b" % a`, `"{}/b".format(a)`."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and text in node.value
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(part, ast.Constant) and _holds(part, text) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        is_sum = isinstance(node.op, ast.Add)
        return _holds(node.left, text) or (is_sum and _holds(node.right, text))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "format" and _holds(node.func.value, text)
    return False


def _is_of_model(node: ast.expr) -> bool:
    """Whether a layer is taken from a model: `model.layers[0]`, `model.get_layer("head")`."""
    if isinstance(node, ast.Subscript):
        node = node.value
        return isinstance(node, ast.Attribute) and node.attr == "layers"
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "get_layer"


def _is_own(node: ast.Attribute) -> bool:
    """A method that a class of the project may have itself."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
