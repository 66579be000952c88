"""Modules that show at their end, on numbers made up for it, what they define: that says nothing of where else it runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from xlalint.semantics.index import ModuleInfo
from xlalint.semantics.syntax import nodes_of

# What a demonstration hands to what it shows.
_MADE_UP = re.compile(
    r"\b(tf|tensorflow|np|numpy|K|backend)\.(random(_\w+)?|constant|ones|zeros|range|fill|eye|[Vv]ariable|convert_to_tensor|array|arange|"
    r"linspace|ones_like|zeros_like|expand_dims|reshape|cast|keras\.Input|keras\.layers\.Input)\b|\bInput\(|"
    # Rows of numbers, as they are written.
    r"\[\[-?\d"
)
# What programs that do something have: data, training, arguments, files, an environment to play in.
_WORKS = re.compile(
    r"\bfit\b|\btrain(?!(ing|able)\b)|apply_gradients|\bminimize\b|\bepochs?\b|[Oo]ptimi[sz]er|[Dd]ata_?(set|loader|frame)|"
    r"tf\.data\b|load|argparse|parse_args|argv|FLAGS|\bapp\.run\b|\bopen\(|imread|read_|\bgym\b|cv2|\bplt\.|\.save|"
    r"strategy|environ|evaluate|compile"
)
# What makes it a program wherever the module has it.
_PROGRAM = re.compile(r"\.function\b|GradientTape")
_MOST_FUNCTIONS = 20


def demonstration_of(module: ModuleInfo) -> ast.If | None:
    """The `if __name__ == "__main__":` of a module that only shows what the module defines.

    Where the module has a tf.function, its author tells compiled code from what runs eagerly: what it shows is a program.
    So is what takes gradients step by step.
    """
    if "__main__" not in module.text or _PROGRAM.search(module.text):
        return None
    shown = next((node for node in module.tree.body if _is_main(node)), None)
    if shown is None:
        return None
    assert isinstance(shown, ast.If)
    text = "\n".join(ast.unparse(part) for part in (*shown.body, *_called_alone(shown, module)))
    is_one = _MADE_UP.search(text) is not None and _WORKS.search(text) is None
    return shown if is_one else None


def drivers_of(shown: ast.If, module: ModuleInfo) -> set[str]:
    """The functions that a demonstration calls without an argument: they are part of it."""
    return {node.name for node in _called_alone(shown, module)}


def _is_main(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = (node.test.left, *node.test.comparators)
    names = {side.id for side in sides if isinstance(side, ast.Name)}
    texts = {side.value for side in sides if isinstance(side, ast.Constant)}
    return "__name__" in names and "__main__" in texts


def _called_alone(shown: ast.If, module: ModuleInfo) -> Iterator[ast.FunctionDef]:
    defined = {node.name: node for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    waiting: list[list[ast.stmt]] = [shown.body]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FUNCTIONS:
        for node in nodes_of(waiting.pop()):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                name = node.func.id
                if name in defined and name not in seen and not (node.args or node.keywords):
                    seen.add(name)
                    waiting.append(defined[name].body)
                    yield defined[name]
