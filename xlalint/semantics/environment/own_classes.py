"""Which classes of a project get all that they inherit from Keras itself: only of those it is known what their bases have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xlalint.semantics.index import ClassInfo

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis


def is_of_keras_3(cls: ClassInfo, analysis: Analysis, kinds: tuple[str, ...]) -> bool:
    """Whether a class has one of these roles in Keras 3, and no base of another package."""
    role = analysis.classes.role(cls)
    if role is None or role.kind not in kinds or not role.is_of_keras_3(analysis.keras):
        return False
    return all(isinstance(base, ClassInfo) or is_plain(base) for base in bases_of(cls, analysis))


def bases_of(cls: ClassInfo, analysis: Analysis) -> list[ClassInfo | str]:
    """All that a class inherits from: classes of the project, and the names of those of packages."""
    classes = analysis.classes
    return [base for each in classes.line(cls) for base in classes.bases(each)]


def is_plain(base: str) -> bool:
    """Whether a class of a package is Keras's own, or adds nothing to one."""
    return base.startswith(("keras.", "builtins.", "abc."))
