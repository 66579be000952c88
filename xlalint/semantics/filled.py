"""Lists and dictionaries that are filled: what a name holds from there on and, in a constructor, an attribute (`self.blocks.append(block)`)."""

from __future__ import annotations

import ast

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import Value


def is_held(owner: ast.expr, frame: Frame) -> bool:
    """Whether what an expression names is known to `keep`."""
    if isinstance(owner, ast.Name):
        return owner.id in frame.names
    attribute = _attribute(owner, frame)
    return attribute is not None and frame.attributes is not None and attribute in frame.attributes


def keep(owner: ast.expr, value: Value, frame: Frame) -> None:
    """`owner` holds `value` from here on, where it is a name, or an attribute of the object that is being made."""
    if not is_held(owner, frame):
        return
    if isinstance(owner, ast.Name):
        frame.names[owner.id] = value
    attribute = _attribute(owner, frame)
    if attribute is not None and frame.attributes is not None:
        frame.names[f"{frame.self_name}.{attribute}"] = value
        frame.attributes[attribute] = value


def _attribute(owner: ast.expr, frame: Frame) -> str | None:
    if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
        return owner.attr if owner.value.id == frame.self_name else None
    return None
