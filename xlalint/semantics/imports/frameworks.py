"""Packages that run on several frameworks, with a module or a class for each, chosen while they run: TensorFlow's is meant here.

`import geomstats.backend as gs` names a module that no file holds: `geomstats/_backend/tensorflow` stands in its place,
beside `numpy` and `pytorch`. `dgl/backend/__init__.py` is there, and takes its functions over from `backend/tensorflow`.
`get_backend(x)` of others returns the object of a class, `TensorflowBackend` beside `NumpyBackend`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlalint.semantics.index import ClassInfo, FunctionInfo, ModuleInfo
from xlalint.semantics.project_modules import Project

_TENSORFLOW = ("tensorflow", "tf")
_OTHERS = ("numpy", "np", "pytorch", "torch", "jax", "mxnet", "cupy", "autograd", "paddle")
# How packages name the module of a framework.
_SPELLINGS = ("{}", "_{}", "{}_backend", "backend_{}", "_{}_backend")
# Where the modules of the frameworks lie, beside `backend` itself.
_INSTEAD_OF_BACKEND = ("_backend", "backends", "_backends")
# What a package does that has its names from the framework's module.
_FILLS_ITSELF = ("import_module", "setattr(", "getattr(", "__getattr__", "globals()", "sys.modules")

_OWN_CLASS = re.compile(r"_*(tensorflow|tf)_?backend|_*backend_?(tensorflow|tf)", re.IGNORECASE)
_CLASS_OF_ANOTHER = re.compile(
    r"_*(numpy|torch|pytorch|jax|cupy)_?backend|_*backend_?(numpy|torch|pytorch|jax|cupy)",
    re.IGNORECASE,
)
_CLASS = re.compile(r"^class[ \t]+(\w*backend\w*)", re.IGNORECASE | re.MULTILINE)
_OF_ANOTHER = re.compile(rf"(^|[._])({'|'.join(_OTHERS)})([._]|$)")
# NumPy's arrays are what host code of any package is about, and no sign of another framework.
_IMPORTS_ANOTHER = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(?:torch|jax|mxnet|cupy|paddle|autograd)\b", re.MULTILINE
)


class Frameworks:
    """What is TensorFlow's in the packages of a project that run on several frameworks."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._modules: dict[str, ModuleInfo | None] = {}
        self._classes: dict[str, ClassInfo | None] = {}
        self._serves: dict[str, bool] = {}
        # Whether any package has a class for each framework: where none has, objects need no second look.
        self.has_classes = False

    def missing(self, dotted: str) -> ModuleInfo | None:
        """The module that stands in the place of one that no file holds, `package.backend`."""
        owner, _, leaf = dotted.rpartition(".")
        if leaf != "backend" or not owner or self._project.module(owner) is None:
            return None
        for name in _INSTEAD_OF_BACKEND:
            found = self._beside_others(f"{owner}.{name}")
            if found is not None:
                return found
        return None

    def filling(self, module: ModuleInfo) -> ModuleInfo | None:
        """The module from which a package takes the names that it does not bind itself."""
        if not module.is_package or not any(sign in module.text for sign in _FILLS_ITSELF):
            return None
        return self._beside_others(module.name)

    def backend_class(self, module: str) -> ClassInfo | None:
        """The one class of TensorFlow's backend, beside those of others, in the package of a module of that name."""
        package = module.partition(".")[0]
        if package not in self._classes:
            self._classes[package] = self._find_class(package)
        return self._classes[package]

    def offers(self, info: FunctionInfo | ClassInfo) -> bool:
        """Whether a function is one that the package's backend has for TensorFlow: callers know it by another name."""
        if info.name.startswith("_") or info.parent is not None:
            return False
        if isinstance(info, FunctionInfo) and info.cls is not None:
            return self.has_classes and info.cls in self._classes.values()
        return info.module in self._modules.values()

    def serves(self, module: ModuleInfo) -> bool:
        """Whether a module belongs to such a package, and is not one that works with another framework."""
        package = module.name.partition(".")[0]
        if package not in self._serves:
            self._serves[package] = self._is_of_several(package)
        if not self._serves[package] or not module.is_target or module.is_test:
            return False
        if _OF_ANOTHER.search(module.name):
            return False
        return _IMPORTS_ANOTHER.search(module.text) is None

    def _is_of_several(self, package: str) -> bool:
        home = self._project.module(package)
        if home is None or not home.is_package:
            return False
        if self.missing(f"{package}.backend") or self.backend_class(package):
            return True
        own = self._project.module(f"{package}.backend")
        return own is not None and self.filling(own) is not None

    def _beside_others(self, package: str) -> ModuleInfo | None:
        """TensorFlow's module of a package that has one for another framework, too, spelled alike."""
        if package not in self._modules:
            self._modules[package] = next(self._spelled_alike(package), None)
        return self._modules[package]

    def _spelled_alike(self, package: str) -> Iterator[ModuleInfo]:
        ask = self._project.module
        for own in _TENSORFLOW:
            for spelling in _SPELLINGS:
                found = ask(f"{package}.{spelling.format(own)}")
                others = (f"{package}.{spelling.format(other)}" for other in _OTHERS)
                if found is not None and any(ask(other) is not None for other in others):
                    yield found

    def _find_class(self, package: str) -> ClassInfo | None:
        for home in ("backend", *_INSTEAD_OF_BACKEND):
            # Where only some of the package's files are checked, this reads the others.
            if self._project.module(f"{package}.{home}"):
                self._beside_others(f"{package}.{home}")
        names: dict[str, ModuleInfo] = {}
        for module in self._project.modules_of(package):
            if "ackend" in module.text and not module.is_test:
                names.update((each, module) for each in _CLASS.findall(module.text))
        own = [each for each in names if _OWN_CLASS.fullmatch(each)]
        if len(own) != 1 or not any(map(_CLASS_OF_ANOTHER.fullmatch, names)):
            return None
        found = names[own[0]].definition(own[0])
        if not isinstance(found, ClassInfo):
            return None
        self.has_classes = True
        return found
