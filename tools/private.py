"""`python -m tools.private`: write `rules/private.json`, the public names of what TensorFlow's own modules hold.

Programs import `tensorflow.python.ops.array_ops` and its like as if they were public. Run it with each TensorFlow whose
modules are to be known, the newest last: what a module holds in one version stays known where another has moved it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from tools.catalog.public import enumerate_public

_TABLE = Path(__file__).parent.parent / "rules" / "private.json"
_START = "tensorflow.python."
# What they hold is Keras's, of the compiler, made from the registry of operations, or for TensorFlow's own tests.
_LEFT_OUT = ("keras.", "autograph.", "tools.", "lib.", "pywrap", "debug.", "compiler.", "profiler.")


def public_objects() -> dict[int, str]:
    """The name of each public function, class and dtype of the installed TensorFlow, by identity."""
    dtypes = ((f"tf.{name}", value) for name, value in vars(tf.dtypes).items())
    named = {id(value): name for name, value in dtypes if isinstance(value, tf.DType)}
    for each in enumerate_public().values():
        owner = each.name.split(".")[-2]
        # A method is what a class makes of a function, which alone is another thing (`tf.RaggedTensor.__ne__`).
        if each.name.startswith("tf.") and not owner[0].isupper() and owner != "raw_ops":
            named[id(each.target)] = each.name
    return named


def private_names(named: Mapping[int, str]) -> Iterator[tuple[str, str, str]]:
    """Module below `tensorflow.python`, name in it, and the public name of the same object."""
    for full, module in sorted(sys.modules.items()):
        short = full.removeprefix(_START)
        leaf = short.rsplit(".", 1)[-1]
        if not full.startswith(_START) or short.startswith(_LEFT_OUT) or leaf.startswith("gen_"):
            continue
        for name, value in sorted(_held(module).items()):
            if id(value) in named and not name.startswith("_"):
                yield short, name, named[id(value)]


def _held(module: Any) -> dict[str, Any]:
    """What programs import from a module by name: of its own, and what it gathers from others (`standard_ops`)."""
    return {name: value for name, value in vars(module).items() if not isinstance(value, type(sys))}


def main() -> int:
    """Write what the installed TensorFlow holds over what the table says of other versions."""
    table: dict[str, dict[str, str]] = {}
    if _TABLE.is_file():
        table = json.loads(_TABLE.read_text(encoding="utf-8"))
    for module, name, public in private_names(public_objects()):
        table.setdefault(module, {})[name] = public
    lines = (
        f"{json.dumps(module)}: {json.dumps(table[module], sort_keys=True)}"
        for module in sorted(table)
    )
    _TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(
        f"TensorFlow {tf.__version__}: {sum(map(len, table.values()))} names in {len(table)} modules"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
