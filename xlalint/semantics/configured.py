"""Settings that a call of a class fixes for the object that it makes: `Sampler(is_static=True)` never takes the other arm.

Only flags and words that some test of the class asks for are followed: everything else would have its methods run anew for
each size and name. What a call leaves to its default stays as open as it is for the class, in packages; a program that runs
says with its defaults, too, what it runs.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.syntax import found_in
from xlalint.semantics.values import (
    ANY_OF,
    CLASS,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    PARTIAL,
    SEQUENCE,
    Const,
    Usual,
    Value,
    constant,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis
    from xlalint.semantics.arguments import Arguments

# Parameter names and values, sorted.
Given = tuple[tuple[str, Value], ...]
_FLAGS = (bool, str, type(None))
_MOST_SETTINGS = 8
_SELF = re.compile(r"\bself$")
_ASSIGNED = re.compile(r"\.(\w+)\s*=(?!=)")
_TESTS = (ast.If, ast.IfExp, ast.While)
_ITERATES = (ast.For, ast.comprehension)
_ASSIGNS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_NAMES = frozenset({ast.Name, ast.Attribute})
# Attributes of layers and models that Keras changes, or has its users change.
_OF_KERAS = frozenset(
    "built _built trainable _trainable stateful dynamic _dynamic compiled _is_compiled supports_masking _supports_masking "
    "run_eagerly _run_eagerly training _training stop_training".split()
)
# Names that say what a thing is called: tests of them are about texts.
_LABELS = frozenset({"name", "scope", "prefix", "trainable"})


class _Settings(NamedTuple):
    """What a class by itself, or one method of it, does with its settings, read off its syntax.

    `asked` are the names and attributes in tests, `handed_on` the parameters of `__init__` that it passes to other
    classes, `sources` says which names an attribute is computed from. `called` are the names and attributes that it calls,
    `passed` says by what name it calls what it passes one to. `is_record` where others ask: it has no methods but its
    constructor.
    """

    asked: frozenset[str]
    called: frozenset[str]
    handed_on: frozenset[str]
    sources: dict[str, frozenset[str]]
    passed: dict[str, frozenset[str]]
    is_record: bool


class _Outline:
    """What a class does with its settings: by itself, and by what it inherits."""

    def __init__(self, line: Sequence[_Settings]) -> None:
        self._line = line
        self.is_record = all(own.is_record for own in line)

    def decides(self, parameter: str, value: Value) -> bool:
        """Whether what a class does may depend on a parameter of its constructor: it tests a flag, or calls a function."""
        names, is_flag = self._names_of(parameter), _is_flag(value)
        for own in self._line:
            if parameter in own.handed_on:
                return True
            if not names.isdisjoint(own.asked if is_flag else own.called):
                return True
        return False

    def passed_to(self, parameter: str) -> frozenset[str]:
        """The last names of the functions that are given a parameter of the constructor."""
        names = self._names_of(parameter)
        return frozenset().union(
            *(own.passed[name] for own in self._line for name in names if name in own.passed)
        )

    def _names_of(self, parameter: str) -> set[str]:
        """A parameter, and the attributes that are computed from it."""
        kept = {
            attribute
            for own in self._line
            for attribute, names in own.sources.items()
            if parameter in names
        }
        return {parameter, *kept}


class Configurations:
    """Which settings the objects of the project's classes are made with."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._outlines: dict[ClassInfo, _Outline] = {}
        # By themselves: a hundred classes may inherit from one, which is read once.
        self._settings: dict[ClassInfo, _Settings] = {}
        self._changed: dict[ClassInfo, frozenset[str]] = {}
        # By the text of a module: a pattern for each attribute would take longer to compile than all of them to find.
        self._set_from_outside: dict[str, frozenset[str]] = {}
        self._default_flags: dict[ClassInfo, dict[str, Value]] = {}
        # The names of the catalogue by their last part, once they are asked for.
        self._choosing: dict[str, list[str]] | None = None

    def given(self, cls: ClassInfo, arguments: Arguments) -> Given:
        """The settings of an object that a call makes, where they differ from what holds for all objects of the class."""
        passed = self._passed(cls, arguments)
        flags = {
            name: value
            for name, value in passed.items()
            if name not in _LABELS and (_is_flag(value) or is_called(value))
        }
        if is_program(cls.module) and not arguments.open_ended:
            flags.update((n, v) for n, v in self._defaults(cls).items() if n not in passed)
        if not flags:
            return ()
        outline = self._outline(cls)
        found = {
            name: value
            for name, value in flags.items()
            if outline.is_record
            or outline.decides(name, value)
            or self._chooses_kernel(outline.passed_to(name), value)
        }
        return tuple(sorted(found.items())[:_MOST_SETTINGS])

    def _chooses_kernel(self, called: frozenset[str], value: Value) -> bool:
        """Whether XLA has kernels for some words alone that one of these functions takes: `tf.image.resize(x, size, self.method)`."""
        word = getattr(value.ref, "value", None)
        return isinstance(word, str) and bool(self._words_without_kernel(called))

    def lacks_kernel(self, cls: ClassInfo, given: Given) -> bool:
        """Whether an object of the class passes such a word on that XLA has no kernel for."""
        outline = self._outline(cls)
        return any(
            getattr(value.ref, "value", None) in self._words_without_kernel(outline.passed_to(name))
            for name, value in given
            if _is_flag(value)
        )

    def _words_without_kernel(self, called: frozenset[str]) -> set[object]:
        if not called:
            return set()
        if self._choosing is None:
            self._choosing = defaultdict(list)
            for name in self._analysis.catalog.names():
                self._choosing[name.rpartition(".")[2]].append(name)
        names = [name for leaf in called for name in self._choosing.get(leaf, ())]
        apis = [self._analysis.catalog.api(name) for name in names]
        return {
            wanted
            for api in apis
            if api is not None
            for condition in api.conditions
            if condition.reason == "no-kernel"
            for _, wanted in condition.when
            if isinstance(wanted, str) and wanted != "given"
        }

    def _passed(self, cls: ClassInfo, arguments: Arguments) -> dict[str, Value]:
        if not arguments.positional:
            return arguments.keywords
        return dict(zip(self._parameters(cls), arguments.positional)) | arguments.keywords

    def _parameters(self, cls: ClassInfo) -> list[str]:
        method = self._analysis.classes.method(cls, "__init__")
        if method is None:
            return list(self._analysis.objects.declared_fields(cls))
        arguments = method.node.args
        return [a.arg for a in (*arguments.posonlyargs, *arguments.args)][1:]

    def _defaults(self, cls: ClassInfo) -> dict[str, Value]:
        """The flags that a program's objects have where it says nothing else."""
        known = self._default_flags.get(cls)
        if known is None:
            known = self._default_flags[cls] = {
                name: constant(node.value)
                for name, node in self._written_defaults(cls)
                if name not in _LABELS
                and isinstance(node, ast.Constant)
                and isinstance(node.value, _FLAGS)
            }
        return known

    def _written_defaults(self, cls: ClassInfo) -> list[tuple[str, ast.expr | None]]:
        method = self._analysis.classes.method(cls, "__init__")
        if method is None:
            declared = self._analysis.objects.declared_fields(cls)
            return [
                (n, v)
                for c in self._analysis.classes.line(cls)
                for n, v in c.assignments.items()
                if n in declared
            ]
        arguments = method.node.args
        named = [*arguments.posonlyargs, *arguments.args]
        given = [*zip(reversed(named), reversed(arguments.defaults))]
        return [(a.arg, v) for a, v in (*given, *zip(arguments.kwonlyargs, arguments.kw_defaults))]

    def keeps(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether nothing is seen to set an attribute once the object is made."""
        line = self._analysis.classes.line(cls)
        is_changed = any(attribute in self._changed_by(ancestor) for ancestor in line)
        return not is_changed and not self.is_set_outside(cls, attribute)

    def is_its_own(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether nobody outside of what is read here sets an attribute: it is private, or of a program that runs.

        Keras sets some itself, and `setattr` may set any.
        """
        if attribute in _OF_KERAS or not (attribute.startswith("_") or is_program(cls.module)):
            return False
        texts = [owner.module.text for owner in self._analysis.classes.line(cls)]
        return not any("setattr(" in text or "__dict__" in text for text in texts)

    def holds(self, cls: ClassInfo, attribute: str, value: Value) -> bool:
        """Whether a flag in the body of a program's class is what all of its objects have."""
        if not (is_program(cls.module) and _is_flag(value) and self.keeps(cls, attribute)):
            return False
        pattern = re.compile(rf"^\s+{re.escape(attribute)}\s*(:[^=\n]*)?=(?!=)", re.MULTILINE)
        texts = self._texts(cls.module, attribute)
        return sum(len(pattern.findall(text)) for text in texts) == 1

    def is_record(self, cls: ClassInfo) -> bool:
        """Whether objects of the class only hold what they are made with: no methods but Python's own."""
        return self._outline(cls).is_record

    def is_set_outside(self, cls: ClassInfo, attribute: str) -> bool:
        """Whether something sets the attribute of an object from outside."""
        return any(attribute in self._set_in(t) for t in self._texts(cls.module, attribute))

    def _set_in(self, text: str) -> frozenset[str]:
        """The attributes that a text sets, of anything but `self`."""
        known = self._set_from_outside.get(text)
        if known is None:
            # What stands before is looked at afterwards: a pattern that begins with it takes ten times as long to find.
            known = self._set_from_outside[text] = frozenset(
                match[1]
                for match in _ASSIGNED.finditer(text)
                if _SELF.search(text[max(0, match.start() - 5) : match.start()]) is None
            )
        return known

    def _texts(self, home: ModuleInfo, word: str) -> list[str]:
        """The texts that may say more of an attribute: of the class's module, and of the program around it."""
        if not is_program(home):
            return [home.text]
        modules = self._analysis.modules.project.modules.values()
        return [m.text for m in modules if m is not None and is_program(m) and word in m.text]

    def _outline(self, cls: ClassInfo) -> _Outline:
        known = self._outlines.get(cls)
        if known is None:
            line = self._analysis.classes.line(cls)
            known = self._outlines[cls] = _Outline([self._own_settings(each) for each in line])
        return known

    def _own_settings(self, cls: ClassInfo) -> _Settings:
        known = self._settings.get(cls)
        if known is None:
            known = self._settings[cls] = _joined([_read(m) for m in cls.methods.values()])
        return known

    def _changed_by(self, cls: ClassInfo) -> frozenset[str]:
        """The attributes that methods of the class itself set, other than its constructor."""
        known = self._changed.get(cls)
        if known is None:
            methods = [m for m in cls.methods.values() if m.name != "__init__"]
            known = self._changed[cls] = frozenset(
                target.attr
                for method in methods
                for node in method.telling
                if isinstance(node, _ASSIGNS)
                for target in _targets(node)
                if isinstance(target, ast.Attribute)
            )
        return known


def is_program(module: ModuleInfo) -> bool:
    """Whether a module belongs to no package: nobody else makes its objects with other settings."""
    return module.is_target and not module.is_package and "." not in module.name


def settled(value: Value) -> bool:
    """Whether a constructor's settings may have decided an attribute: a flag, a choice of functions, another object."""
    if value.kind in (FUNCTION, PARTIAL, EXTERNAL, CLASS, INSTANCE, ANY_OF):
        return True
    return _is_flag(value) or is_called(value)


def without_functions(given: Given) -> Given:
    """The settings that are flags: of a few of those objects are told apart, whatever functions they are made with."""
    return tuple((name, value) for name, value in given if _is_flag(value))


def is_flags(given: Given) -> bool:
    """Whether settings are flags alone: no function is among them."""
    return all(_is_flag(value) for _, value in given)


def is_called(value: Value) -> bool:
    """Whether a setting is a function, an object, or a list of them: what is done is what its maker gave it to do."""
    if value.kind is SEQUENCE:
        return bool(value.ref) and all(is_called(item) for item in value.ref)
    if value.kind is INSTANCE:
        return isinstance(value.ref, ClassInfo) and not value.optional
    return value.kind is FUNCTION or value.kind is PARTIAL


def _is_flag(value: Value) -> bool:
    return type(value.ref) in (Const, Usual) and isinstance(value.ref.value, _FLAGS)


def _joined(settings: list[_Settings]) -> _Settings:
    """What a class does, by what each of its methods does."""
    return _Settings(
        frozenset().union(*(own.asked for own in settings)),
        frozenset().union(*(own.called for own in settings)),
        frozenset().union(*(own.handed_on for own in settings)),
        _merged([own.sources for own in settings]),
        _merged([own.passed for own in settings]),
        all(own.is_record for own in settings),
    )


def _merged(tables: list[dict[str, frozenset[str]]]) -> dict[str, frozenset[str]]:
    merged: dict[str, frozenset[str]] = {}
    for table in tables:
        for key, names in table.items():
            merged[key] = merged.get(key, frozenset()) | names
    return merged


def _read(method: FunctionInfo) -> _Settings:
    """What one method does with settings."""
    asked: set[str] = set()
    called: set[str] = set()
    handed_on: set[str] = set()
    sources: dict[str, frozenset[str]] = {}
    passed: dict[str, frozenset[str]] = {}
    is_constructor = method.name == "__init__"
    for node in method.telling:
        if isinstance(node, ast.Subscript):
            continue
        if isinstance(node, ast.Call):
            called |= _called(node.func)
            _note_passed(node, passed)
            if is_constructor and _may_make(node.func):
                for given in (*node.args, *(k.value for k in node.keywords)):
                    handed_on |= _names(given)
        elif isinstance(node, _TESTS):
            asked |= _names(node.test)
        elif isinstance(node, ast.BoolOp):
            asked |= _names(node)
        elif isinstance(node, _ITERATES):
            called |= _names(node.iter)
        elif isinstance(node, ast.Match):
            asked |= _names(node.subject)
        elif is_constructor and isinstance(node, _ASSIGNS) and node.value is not None:
            names = _names(node.value)
            for target in _targets(node):
                if isinstance(target, ast.Attribute):
                    sources[target.attr] = sources.get(target.attr, frozenset()) | names
    is_of_record = method.name.startswith("__")
    return _Settings(
        frozenset(asked),
        frozenset(called),
        frozenset(handed_on),
        sources,
        passed,
        is_of_record,
    )


def _targets(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _names(node: ast.expr) -> set[str]:
    """The names and the attributes of `self` in an expression."""
    parts = found_in([node], _NAMES)
    return {part.id if isinstance(part, ast.Name) else part.attr for part in parts}  # type: ignore[attr-defined]


def _called(func: ast.expr) -> set[str]:
    """The same of what a call calls: most often a name, or an attribute of one."""
    names: set[str] = set()
    while isinstance(func, ast.Attribute):
        names.add(func.attr)
        func = func.value
    if isinstance(func, ast.Name):
        names.add(func.id)
        return names
    return names | _names(func)


def _note_passed(call: ast.Call, passed: dict[str, frozenset[str]]) -> None:
    """Add the names and attributes that a call is given as they are."""
    if isinstance(call.func, ast.Attribute):
        called = call.func.attr
    elif isinstance(call.func, ast.Name):
        called = call.func.id
    else:
        return
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(given, (ast.Name, ast.Attribute)):
            name = given.id if isinstance(given, ast.Name) else given.attr
            passed[name] = passed.get(name, frozenset()) | {called}


def _may_make(func: ast.expr) -> bool:
    """`Sampler(...)` and `super().__init__(...)`."""
    if isinstance(func, ast.Name):
        return func.id[:1].isupper()
    return isinstance(func, ast.Attribute) and func.attr == "__init__"
