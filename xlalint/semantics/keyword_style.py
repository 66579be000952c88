"""`tf.tile(input=x, multiples=n)` is read as `tf.tile(x, n)`: what looks at the text of a call need know one form only.

Converted code (`tf_upgrade_v2`) is full of such calls. The syntax tree is this analysis' own: arguments change their list in
it, and keep their places in the file.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from xlalint.semantics.names import api_name

if TYPE_CHECKING:
    from xlalint.semantics.frames import Frame

# Parameters that are given by name wherever they stand: from the first of these on, a call stays as it is written.
_BY_NAME = frozenset(
    "axis axes keepdims name dtype out_type seed method mode training shape_invariants parallel_iterations back_prop "
    "swap_memory maximum_iterations initializer input_signature autograph jit_compile strict".split()
)
_NAMESPACES = ("tf.", "keras.", "tf_keras.")


def put_in_order(node: ast.Call, name: str, frame: Frame) -> None:
    """Have the call of an API pass by place what it passes by name, as far as its first parameters go."""
    if node.keywords[0].arg in _BY_NAME or any(a.__class__ is ast.Starred for a in node.args):
        return
    if not name.startswith(_NAMESPACES) or not _is_function(name):
        return
    api = frame.analysis.catalog.api(api_name(name))
    if api is None:
        return
    given = {keyword.arg: keyword for keyword in node.keywords}
    for parameter in api.params[len(node.args) :]:
        keyword = given.get(parameter)
        if keyword is None or parameter in _BY_NAME:
            return
        node.args.append(keyword.value)
        node.keywords.remove(keyword)


@cache
def _is_function(name: str) -> bool:
    return name.rpartition(".")[2][:1].islower() and name != "tf.function"
