"""What stands for a method: given the object, the name and the arguments, it notes what is wrong and returns the value of the call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from xlalint.semantics.frames import Frame
from xlalint.semantics.values import Value

if TYPE_CHECKING:
    from xlalint.semantics.arguments import Arguments

Method = Callable[[Value, str, "Arguments", ast.AST, Frame], Value]
