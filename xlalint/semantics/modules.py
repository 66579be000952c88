"""Names of modules: what they are bound to when a module's body has run, and what imports lead to."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from xlalint.semantics import eager, flow
from xlalint.semantics.callbacks import builtin_calls
from xlalint.semantics.closures import Closures
from xlalint.semantics.environment import keras_names
from xlalint.semantics.facts import EAGER, Context
from xlalint.semantics.failures import Failure
from xlalint.semantics.frames import Frame
from xlalint.semantics.imports import given_names, libraries
from xlalint.semantics.imports.exports import Exports
from xlalint.semantics.imports.frameworks import Frameworks
from xlalint.semantics.imports.late_imports import late_imports
from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.names import canonical, of_backend, rooted
from xlalint.semantics.project_modules import Project
from xlalint.semantics.tracing import demonstrations
from xlalint.semantics.values import (
    CLASS,
    DEFERRED,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    NONE,
    NOTHING_KNOWN,
    PROJECT_MODULE,
    SOME_PYTHON,
    TENSOR,
    Value,
)

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

_OWN_PLACE = "sys.modules[__name__]"

_BUILTINS = {name: Value(EXTERNAL, ref=f"builtins.{name}") for name in builtin_calls.NAMES}


def _is_own_place(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and ast.unparse(target) == _OWN_PLACE


class Modules:
    """The project's modules as running programs see them: what their names, and the names they import, stand for."""

    def __init__(self, analysis: Analysis, project: Project) -> None:
        self._analysis = analysis
        self.project = project
        self.frameworks = Frameworks(project)
        self.exports = Exports(project, self.frameworks)
        self._module_frames: dict[ModuleInfo, Frame] = {}
        # Modules whose further names are operations of a loaded library, and those whose further names nobody knows.
        self._libraries: set[ModuleInfo] = set()
        self._open: set[ModuleInfo] = set()
        # What is being looked for in modules for TensorFlow.
        self._asked: set[tuple[ModuleInfo, str]] = set()
        self.closures = Closures(self)

    def global_name(self, module: ModuleInfo, name: str) -> Value:
        """The value of a module-level name, or of a builtin."""
        frame = self._module_frames.get(module) or self.module_frame(module)
        value = frame.names.get(name)
        if value is None:
            # A module's `any` is Python's own up to where the module defines another.
            value = _BUILTINS.get(name) or self._defined_later(module, name)
        if value is None:
            return self._of_library(module, name)
        if value.kind is DEFERRED:
            value = frame.names[name] = self.resolved(value)
        return eager.captured(eager.made(value)) if value.kind is TENSOR else value

    def _defined_later(self, module: ModuleInfo, name: str) -> Value | None:
        """A function or class of a module whose body is still being run (modules that import each other)."""
        info = module.definition(name)
        if info is None:
            return None
        return Value(FUNCTION if isinstance(info, FunctionInfo) else CLASS, ref=info)

    def resolved(self, value: Value) -> Value:
        """What a name imported with `from source import name` stands for."""
        return self.imported_from(*value.ref) if value.kind is DEFERRED else value

    def imported(self, dotted: str, importer: ModuleInfo) -> Value:
        """What `import dotted` in a module stands for."""
        dotted = self.project.seen_from(importer, dotted)
        module = self.project.module(dotted) or self.frameworks.missing(dotted)
        return (
            Value(PROJECT_MODULE, ref=module)
            if module is not None
            else Value(EXTERNAL, ref=canonical(dotted))
        )

    def imported_from(self, source: str, name: str) -> Value:
        module = self.project.module(source) or self.frameworks.missing(source)
        if module is None:
            inner = self.project.module(f"{source}.{name}")
            if inner is not None:
                return Value(PROJECT_MODULE, ref=inner)
            return Value(EXTERNAL, ref=of_backend(source, name) or canonical(f"{source}.{name}"))
        return self.module_member(module, name)

    def module_member(self, module: ModuleInfo, name: str) -> Value:
        frame = self.module_frame(module)
        if module.mentions(_OWN_PLACE):
            instead = self._of_object_instead(module, name, frame)
            if instead is not None:
                return instead
        if name in frame.names:
            value = frame.names[name]
            if value.kind is DEFERRED:
                # Names that import each other in a circle end here; that of a module mostly by way of `import *`.
                inner = frame.names[name] = self._submodule(module, name)
                if value.ref != (module.name, name):
                    found = self.resolved(value)
                    inner = frame.names[name] = inner if found == NOTHING_KNOWN else found
                value = inner
            return eager.captured(eager.made(value)) if value.kind is TENSOR else value
        inner = self._submodule(module, name)
        if inner is not NOTHING_KNOWN:
            return inner
        later = self._defined_later(module, name)
        if later is not None:
            return later
        front = self.frameworks.filling(module)
        if front is None or front is module:
            return self._of_library(module, name)
        if (front, name) in self._asked:
            return NOTHING_KNOWN  # the module for TensorFlow has it from the package, which has it from there
        self._asked.add((front, name))
        try:
            return self._of_framework(front, name)
        finally:
            self._asked.remove((front, name))

    def _of_object_instead(self, module: ModuleInfo, name: str, frame: Frame) -> Value | None:
        """A method of the object that a module puts in its own place: `sys.modules[__name__] = Backend()`."""
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and _is_own_place(node.targets[0]):
                instead = self._analysis.evaluate(node.value, frame)
                if instead.kind is INSTANCE and isinstance(instead.ref, ClassInfo):
                    method = self._analysis.classes.method(instead.ref, name)
                    return None if method is None else Value(FUNCTION, ref=(method, instead))
        return None

    def _of_framework(self, front: ModuleInfo, name: str) -> Value:
        """What a package has from its module for TensorFlow: a name of that, or what the class of the backend there has."""
        found = self.module_member(front, name)
        cls = self.frameworks.backend_class(front.name) if found == NOTHING_KNOWN else None
        if cls is None or name.startswith("_"):
            return found
        given = given_names.given(name, self.module_frame(front))
        if given is not None:
            return given
        method = self._analysis.classes.method(cls, name)
        return found if method is None else Value(FUNCTION, ref=(method, Value(INSTANCE, ref=cls)))

    def _submodule(self, module: ModuleInfo, name: str) -> Value:
        """A module of a package: its own name there, which `from . import name` in the package's body binds too."""
        if not module.is_package:
            return NOTHING_KNOWN
        missing = self.frameworks.missing(f"{module.name}.{name}")
        inner = self.project.submodule(module, name) or missing
        return NOTHING_KNOWN if inner is None else Value(PROJECT_MODULE, ref=inner)

    def _of_library(self, module: ModuleInfo, name: str) -> Value:
        """A name that a module does not bind itself: an operation, where the module took over a library of them."""
        if module in self._libraries and module not in self._open and not name.startswith("_"):
            return libraries.operation(name)
        return NOTHING_KNOWN

    def exported(self, source: str, importer: ModuleInfo) -> dict[str, Value]:
        """What `from source import *` binds in a module."""
        module = self.project.module(source)
        if module is None:
            self._open.add(importer)
            return {name: Value(DEFERRED, ref=(source, name)) for name in self._public_in(source)}
        names = self.module_frame(module).names
        if module in self._libraries:
            self._libraries.add(importer)
        if module in self._open:
            self._open.add(importer)
        return {
            name: Value(DEFERRED, ref=(source, name))
            for name in names
            if not name.startswith("_") and "." not in name
        }

    def _public_in(self, source: str) -> Iterable[str]:
        """What TensorFlow or Keras offer in a module of theirs: `from tensorflow.keras.layers import *`."""
        package, _, inner = rooted(source).partition(".")
        if package in ("keras", "tf_keras"):
            return keras_names.public_in(inner)
        return self._analysis.catalog.members(rooted(source)) if package == "tf" else ()

    def module_frame(self, module: ModuleInfo) -> Frame:
        """The frame of a module's body, run on first use."""
        frame = self._module_frames.get(module)
        if frame is None:
            frame = Frame(self._analysis, module, None, Context(EAGER, False))
            frame.scope = self._analysis.scopes.start_of(module, module.tree.body)
            self._module_frames[module] = frame
            frame.names["__name__"] = SOME_PYTHON
            try:
                self._run_body(module, frame)
            except Exception as error:
                self._analysis.failures.append(Failure(module, 1, "<module>", error))
            if libraries.fills(frame):
                self._libraries.add(module)
            self._import_late(module, frame)
        return frame

    def _run_body(self, module: ModuleInfo, frame: Frame) -> None:
        """Run a module; what it only demonstrates eagerly may be compiled all the same."""
        shown = demonstrations.demonstration_of(module)
        if shown is None:
            flow.run_block(module.tree.body, frame)
            return
        flow.run_block([node for node in module.tree.body if node is not shown], frame)
        visited = self._analysis.functions.visited
        before = set(visited)
        drivers = demonstrations.drivers_of(shown, module)
        flow.run_block([shown], frame)
        for info in [info for info in visited if info not in before and info.name not in drivers]:
            del visited[info]

    def _import_late(self, module: ModuleInfo, frame: Frame) -> None:
        """What functions import into globals that the module's body leaves empty: it is there when other functions run."""
        for name, dotted in late_imports(module).items():
            if dotted and frame.names.get(name, NONE) in (NONE, NOTHING_KNOWN):
                frame.names[name] = self.imported(dotted, module)
