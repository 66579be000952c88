"""Which module a name leads to: those asked for, what lies beside them, and what is installed, read on demand."""

from __future__ import annotations

import os
import sys
from itertools import islice
from pathlib import Path

from xlalint.semantics.index import ModuleInfo, parse_module

# Packages whose sources say nothing that names.py and the catalogue do not already know, or that hold no
# TensorFlow at all. Reading them would cost seconds.
_NEVER_READ = frozenset(
    "tensorflow keras tf_keras numpy scipy pandas torch jax jaxlib flax sklearn matplotlib PIL cv2 google absl "
    "setuptools pkg_resources IPython pytest h5py six typing_extensions packaging".split()
)
# Packages whose names modules of a project bear as well (`hub.py`, `transformers/`): who imports them means the packages.
_ELSEWHERE = (
    _NEVER_READ
    | sys.stdlib_module_names
    | frozenset(
        "transformers tensorflow_addons tensorflow_probability tensorflow_datasets tensorflow_hub einops gym gymnasium horovod wandb "
        "tqdm yaml requests keras_cv keras_hub keras_nlp librosa skimage nltk torchvision pytorch_lightning".split()
    )
)


class Project:
    """Every module that can be reached by name: the files asked for, their siblings, and installed packages."""

    def __init__(self, search_path: list[Path]) -> None:
        self.modules: dict[str, ModuleInfo | None] = {}
        self._search_path = search_path
        self._read_paths: dict[str, ModuleInfo] = {}
        self._folders: dict[ModuleInfo, Path] = {}
        # Names that several modules bear.
        self._shared: set[str] = set()
        self._seen_from: dict[tuple[str, str], str] = {}
        # By word: how many modules have been asked, and whether one holds it.
        self._mentions: dict[str, tuple[int, bool]] = {}

    def add(self, module: ModuleInfo, real_path: Path | None = None) -> None:
        # Two files may claim one dotted name (scripts in several folders): the first keeps it, both are checked.
        if self.modules.setdefault(module.name, module) not in (None, module):
            self._shared.add(module.name)
        if self.modules[module.name] is None:
            self.modules[module.name] = module
        if real_path is not None:
            self._read_paths[str(real_path)] = module
            self._folders[module] = real_path.parent

    def module(self, name: str) -> ModuleInfo | None:
        """The module of that dotted name, read on demand; None where it is not the project's to read."""
        if name in self.modules:
            return self.modules[name]
        found = None
        if name and name.split(".", 1)[0] not in _NEVER_READ:
            found = self._read(name)
        self.modules[name] = found
        return found

    def imported_by(self, importer: ModuleInfo, level: int, module: str | None) -> str:
        """The name, for `module`, of what `from ..module import x` means in a module, with as many dots as `level` says."""
        name = importer.absolute(level, module)
        if level == 0:
            return self.seen_from(importer, name)
        home = self._folders.get(importer)
        if home is None or name not in self._shared:
            return name
        base = home if level == 1 else home.parents[min(level - 2, len(home.parents) - 1)]
        folder, dotted = (base, module) if module else (base.parent, base.name)
        own = self._at(folder, dotted, only_read=True)
        is_taken = own is not None and self.module(name) is not own
        return f"{folder}{os.sep}{dotted}" if is_taken else name

    def submodule(self, package: ModuleInfo, name: str) -> ModuleInfo | None:
        """A module of a package, by its own name there."""
        home = self._folders.get(package)
        is_shared = home is not None and package.name in self._shared
        own = self._at(home, name, only_read=True) if home is not None and is_shared else None
        return own or self.module(f"{package.name}.{name}")

    def seen_from(self, importer: ModuleInfo, name: str) -> str:
        """The full name of the module that an absolute import means in a module.

        A program finds what lies beside it, or where it is started, by its name there, though a package holds both:
        `from blocks import conv` in `models/net.py`, `from models.net import Net` below a folder with an `__init__.py`.
        """
        first = name.partition(".")[0]
        if not name or first in _ELSEWHERE:
            return name
        own = self._beside(importer, first, name) if self._shared else None
        if own is not None:
            return own
        if self._is_known(first, name):
            return name
        asked = importer.name if importer.is_package else importer.name.rpartition(".")[0], name
        if asked not in self._seen_from:
            self._seen_from[asked] = self._within(importer, first, name)
        return self._seen_from[asked]

    def _within(self, importer: ModuleInfo, first: str, name: str) -> str:
        """The full name of what a package, or one around it, holds under a name."""
        parts = importer.name.split(".")
        for depth in range(len(parts) - (not importer.is_package), 0, -1):
            package = ".".join(parts[:depth])
            if first != parts[depth - 1] and self._is_known(
                f"{package}.{first}", f"{package}.{name}"
            ):
                return f"{package}.{name}"
        return name

    def _beside(self, importer: ModuleInfo, first: str, name: str) -> str | None:
        """The name of a module that lies beside a script, where another has taken it: each of several programs has its `utils.py`."""
        folder = self._folders.get(importer)
        if folder is None or "." in importer.name or importer.is_package:
            return None
        for asked in (first, name):
            taken = self.module(asked)
            if taken is not None and self._folders.get(taken) not in (None, folder):
                own = self.module(f"{folder}{os.sep}{asked}")
                if own is not None and own is not taken:
                    return f"{folder}{os.sep}{name}"
        return None

    def _is_known(self, *names: str) -> bool:
        return any(self.module(name) is not None for name in names)

    def _read(self, name: str) -> ModuleInfo | None:
        folder, _, dotted = name.rpartition(os.sep)
        for root in [Path(folder)] if folder else self._search_path:
            found = self._at(root, dotted)
            if found is not None:
                return found
        return None

    def _at(self, root: Path, name: str, *, only_read: bool = False) -> ModuleInfo | None:
        """The module of a name that counts from a folder; `only_read` finds those alone that are there already."""
        # Asked for thousands of names: joined as text, which costs a tenth of joining paths.
        base = os.path.join(root, *name.split("."))
        for path, is_package in ((f"{base}{os.sep}__init__.py", True), (f"{base}.py", False)):
            if path in self._read_paths:
                return self._read_paths[path]
            if not only_read and os.path.isfile(path):
                return self._parse_file(name, Path(path), is_package)
        return None

    def modules_of(self, package: str) -> list[ModuleInfo]:
        """The modules of a package that have been read so far."""
        inside = package + "."
        every = self.modules.items()
        return [m for name, m in every if m and (name == package or name.startswith(inside))]

    def mentions(self, word: str) -> bool:
        """Whether the text of any module that has been read so far holds a word."""
        asked, found = self._mentions.get(word, (0, False))
        if not found and asked < len(self.modules):
            latest = islice(self.modules.values(), asked, None)
            found = any(module is not None and word in module.text for module in latest)
            self._mentions[word] = (len(self.modules), found)
        return found

    def also_read(self) -> tuple[str, ...]:
        """The files that were read to understand those asked for, sorted."""
        return tuple(
            sorted(m.path for m in self.modules.values() if m is not None and not m.is_target)
        )

    def _parse_file(self, name: str, path: Path, is_package: bool) -> ModuleInfo | None:
        try:
            text = path.read_text("utf-8")
            return parse_module(name, str(path), text, is_package=is_package, is_target=False)
        except (OSError, ValueError, SyntaxError, RecursionError):
            return None  # somebody else's broken file is no finding of ours: its names stay unknown
