"""Packages whose versions cannot work together, where the code imports them: `rules/versions.toml` lists them.

Which versions there are is read from what the project declares, and from what the program says itself (its header, the
`pip install` lines of a notebook). A conflict is certain where no allowed version avoids it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from xlalint import data, toml
from xlalint.project.dependencies import HEADER, Clause, Requirement, requirement
from xlalint.project.versions import bounds, is_within, of_tensorflow
from xlalint.semantics.environment import keras_choice, legacy_keras
from xlalint.semantics.environment.fallbacks import asks, is_ready
from xlalint.semantics.facts import EAGER, PACKAGES, Context, Remark
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.syntax import children_of
from xlalint.semantics.text_lines import lines_at, plain, stands_on
from xlalint.semantics.values import NOTHING_KNOWN

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# A module without one of these words imports nothing of the table, unless it is declared: the table need not be read.
_WORDS = ("tensorflow_", "tf_agents", "transformers", "tf_keras", "official", "LEGACY_KERAS")
# Keras 3 is what tf.keras means from here on, and tf-keras a package of its own.
_KERAS_3 = (">=", "2.16")
# Packages that bring none of tf-keras along, though their names begin as if they might.
_WITHOUT_TF_KERAS = frozenset({"tensorflow-datasets", "tensorflow-text", "tensorflow-io"})
_ALWAYS, _NEWEST, _NO = "always", "newest", "no"


class Apart(NamedTuple):
    """A line of the table: a module that does not work with some versions of TensorFlow."""

    module: str
    package: str
    version: tuple[Clause, ...]
    tensorflow: tuple[Clause, ...]
    names: str
    unless: str
    stated: bool
    why: str
    use: str


class Table(NamedTuple):
    """What `rules/versions.toml` says."""

    apart: tuple[Apart, ...]
    paired: Mapping[str, str]
    of_keras_2: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """The packages that a program is to run with. `tensorflow` is what decides its version, in words `origin` (empty where
    nobody says it).
    """

    requirements: Mapping[str, Requirement]
    tensorflow: tuple[Clause, ...]
    origin: str

    def of(self, package: str) -> tuple[Clause, ...]:
        found = self.requirements.get(package)
        return found.clauses if found is not None else ()


@cache
def table() -> Table:
    raw = toml.loads((data.root() / "versions.toml").read_text(encoding="utf-8"))
    return Table(
        tuple(_apart(line) for line in raw["apart"]),
        {line["module"]: line["package"] for line in raw["paired"]},
        tuple(line["api"] for line in raw["of-keras-2"]),
    )


def _apart(line: Mapping[str, Any]) -> Apart:
    return Apart(
        line["module"],
        line["package"],
        _clauses(line.get("version", "")),
        _clauses(line.get("tensorflow", "")),
        names=line.get("names", ""),
        unless=line.get("unless", ""),
        stated=line.get("stated", False),
        why=line["why"],
        use=line["use"],
    )


def _clauses(specifier: str) -> tuple[Clause, ...]:
    found = requirement(f"package{specifier}", "")
    return found.clauses if found is not None else ()


def declared(
    tf_version: str, origin: str, project: Sequence[Requirement], own: Sequence[Requirement]
) -> Declared:
    """What holds for a program: what it installs itself comes before what its project declares."""
    if any(each.where == HEADER for each in own):
        # `origin` is one of the project's requirements, where it has any.
        project, origin = (), "" if project else origin
    every = {each.name: each for each in (*project, *own)}
    chosen = [each for each in (*own[::-1], *project) if of_tensorflow(each) and each.clauses]
    if not origin and not chosen:
        return Declared(every, (), "")
    if chosen and (chosen[0] in own or chosen[0] in project):
        return Declared(every, chosen[0].clauses, chosen[0].origin)
    return Declared(every, (("==", f"{tf_version}.*"),), origin)


def nothing_declared(module: ModuleInfo) -> Declared:
    """Of a module that nobody declares anything for."""
    return Declared({}, (), "")


def note(analysis: Analysis, modules: Iterable[ModuleInfo]) -> None:
    """Keep a fact for each import and use in these modules that cannot work with what is declared."""
    modules = list(modules)
    has_legacy = any(legacy_keras.is_chosen(module) for module in modules)
    told: set[tuple[str, Remark]] = set()
    for module in modules:
        if not module.may_hold_findings:
            continue
        known = analysis.declared_in(module)
        if not _is_concerned(module.text, known):
            continue
        reader = _Reader(known, has_legacy, module, told)
        found: list[_Found] = []
        if reader.may_object():
            found += reader.imports(module.tree)
        if reader.is_keras_3 and not has_legacy and keras_choice.may_mix(module.text):
            found += keras_choice.read(module.tree, table().of_keras_2)
        if reader.is_keras_3 and legacy_keras.LEGACY in module.text:
            found += legacy_keras.chosen_late(module)
        for node, remark in found:
            frame = Frame(analysis, module, None, Context(EAGER, False))
            analysis.keep(frame, node, PACKAGES, NOTHING_KNOWN, remark)


def _is_concerned(text: str, known: Declared) -> bool:
    return any(word in text for word in _WORDS) or bool(
        known.requirements.keys() & {"keras", "numpy"}
    )


_Found = tuple[ast.AST, Remark]


class _Reader:
    """Reads the imports of one module. `told` holds what has been said of other modules: of a project, it is said once."""

    def __init__(
        self,
        known: Declared,
        has_legacy: bool,
        module: ModuleInfo,
        told: set[tuple[str, Remark]],
    ) -> None:
        self._known = known
        self._has_legacy = has_legacy
        self._module = module
        self._told_of_project = told
        self._told: set[str] = set()
        self.is_keras_3 = _standing(known.tensorflow, (_KERAS_3,)) is not _NO

    def may_object(self) -> bool:
        """Whether the module names a package that `imports` may have something to say of, beside the one it is in."""
        packages = set(_packages_in_question(frozenset(self._known.requirements)))
        packages.discard(self._module.name.partition(".")[0])
        return any(package in self._module.text for package in packages)

    def imports(self, tree: ast.Module) -> Iterator[_Found]:
        lines = self._lines()
        pending: list[ast.AST] = [*tree.body] if lines else []
        for node in pending:  # which grows: what stands around before what stands within
            if not stands_on(node, lines) or (isinstance(node, ast.Try) and is_ready(node)):
                continue
            if isinstance(node, (ast.If, ast.IfExp)) and asks(node.test):
                continue
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._judge(alias.name, alias)
            elif isinstance(node, ast.ImportFrom):
                if node.module and not node.level:
                    for alias in node.names:
                        yield from self._judge(f"{node.module}.{alias.name}", alias)
            elif not isinstance(node, (ast.Expr, ast.Assign, ast.Return)):
                pending += [c for c in children_of(node) if isinstance(c, _BLOCKS)]

    def _lines(self) -> list[int]:
        """The lines that may import a package in question, in order."""
        text = plain(self._module.text)
        importing = _importing(frozenset(self._known.requirements))
        return lines_at([found.start(1) for found in importing.finditer(text)], text)

    def _judge(self, name: str, node: ast.alias) -> Iterator[_Found]:
        package = name.partition(".")[0]
        if package in self._told or self._module.name.partition(".")[0] == package:
            return
        for remark in (*self._apart(name), *self._paired(package), *self._without(name)):
            self._told.add(package)
            if (package, remark) not in self._told_of_project:
                self._told_of_project.add((package, remark))
                yield node, remark
            return

    def _apart(self, name: str) -> Iterator[Remark]:
        package = name.partition(".")[0]
        for line in table().apart:
            if line.module != package or (line.unless == "legacy" and self._has_legacy):
                continue
            if line.version and line.package not in self._known.requirements:
                continue  # nobody says which version, or that it is to be installed
            if line.names and not name.partition(".")[2].startswith(line.names):
                continue
            own, other = self._known.of(line.package), self._known.tensorflow
            standings = {_standing(own, line.version), _standing(other, line.tensorflow)}
            if _NO in standings or (line.stated and _NEWEST in standings):
                continue
            words = (("why", line.why), ("use", line.use), ("module", line.module))
            with_what = self._with(line)
            if _NEWEST in standings:
                yield Remark("newest", (*words, ("with", with_what)))
            elif line.stated:
                yield Remark("stated", (*words, ("with", with_what)))
            else:
                yield Remark("refused", (*words, ("with", with_what)))

    def _with(self, line: Apart) -> str:
        """What it does not work with, and who says so."""
        said = (
            [self._known.requirements[line.package].origin] if self._known.of(line.package) else []
        )
        if line.tensorflow and self._known.origin:
            said.append(self._known.origin)
        shown = f" ({'; '.join(said)})" if said else ""
        if not line.tensorflow:
            return f"in the version that is installed{shown}" if said else "in version 5"
        return f"with TensorFlow {_in_words(line.tensorflow)}{shown}"

    def _paired(self, package: str) -> Iterator[Remark]:
        name = table().paired.get(package)
        own = _minor(self._known.of(name)) if name is not None else None
        other = _minor(self._known.tensorflow)
        if name is None or own is None or other is None or own == other:
            return
        words = {"module": name, "own": own, "other": other, "origin": self._known.origin}
        yield Remark("paired", tuple(words.items()))

    def _without(self, name: str) -> Iterator[Remark]:
        """Models of transformers, and tf_keras itself, where the project does not ask for tf-keras."""
        is_of_tf = name.startswith(("transformers.TF", "tf_keras"))
        known = self._known
        if not is_of_tf or not any(of_tensorflow(each) for each in known.requirements.values()):
            return
        if _standing(known.tensorflow, (_KERAS_3,)) is not _ALWAYS or _brings_tf_keras(known):
            return
        if name.startswith("transformers") and "transformers" not in known.requirements:
            return
        module = name.partition(".")[0]
        yield Remark("no-tf-keras", (("module", module), ("origin", known.origin)))


@cache
def _packages_in_question(required: frozenset[str]) -> frozenset[str]:
    """The modules of packages that the table has something to say of, for a program that asks for these packages."""
    lines = [line for line in table().apart if not line.version or line.package in required]
    packages = {line.module for line in lines}
    packages |= {module for module, name in table().paired.items() if name in required}
    if required:
        packages |= {"tf_keras", "transformers"}
    return frozenset(packages)


@cache
def _importing(required: frozenset[str]) -> re.Pattern[str]:
    """The import of one of these packages, group 1 the statement's first word."""
    packages = "|".join(sorted(_packages_in_question(required)))
    return re.compile(rf"\b(from|import)\b(?:[^\n\\]|\\\n)*?\b(?:{packages})\b")


_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def _standing(clauses: Sequence[Clause], wanted: Sequence[Clause]) -> str:
    """Whether what the clauses allow is `always` within the range, its `newest` version is, or neither."""
    if not wanted:
        return _ALWAYS
    oldest, newest = bounds(clauses)
    if not is_within(newest, wanted):
        return _NO
    return _ALWAYS if is_within(oldest, wanted) else _NEWEST


def _minor(clauses: Sequence[Clause]) -> str | None:
    """`2.15`, where the clauses allow no other minor."""
    oldest, newest = bounds(clauses)
    if len(oldest) < 2 or oldest[:2] != newest[:2]:
        return None
    return ".".join(map(str, oldest[:2]))


def _in_words(clauses: Sequence[Clause]) -> str:
    ((operator, version),) = clauses[:1]
    return f"{version} and later" if operator == ">=" else f"before {version}"


def _brings_tf_keras(known: Declared) -> bool:
    """Whether tf-keras is asked for, or a package that may ask for it in turn."""
    for each in known.requirements.values():
        if each.name == "tensorflow-probability" and "tf" not in each.extras:
            continue
        if _may_need_tf_keras(each):
            return True
    return False


def _may_need_tf_keras(package: Requirement) -> bool:
    """Whether a package is tf-keras, or may ask for it in turn."""
    is_of_family = package.name.startswith(("tf-", "tensorflow-")) and not of_tensorflow(package)
    return is_of_family and package.name not in _WITHOUT_TF_KERAS


def leaves_keras_to_users(
    requirements: Iterable[Requirement], modules: Iterable[ModuleInfo]
) -> bool:
    """Whether a project asks for tf-keras, and neither imports it nor another package that it may be there for: its users are to set
    TF_USE_LEGACY_KERAS, and tf.keras is tf-keras.
    """
    needing = [each for each in requirements if _may_need_tf_keras(each)]
    if not any(each.name == "tf-keras" and not each.is_optional for each in needing):
        return False
    names = {each.name for each in needing}
    words = {"transformers", *(name.replace("-", "_") for name in names)}
    return not any(word in module.text for module in modules for word in words)
