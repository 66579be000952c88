"""The process that compiles: `python .../xlalint/tpu/child.py JOB.json`. The compiler may kill it."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules must not shadow others

    import importlib.util
    from pathlib import Path

    package = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location(
        "xlalint", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["xlalint"] = module
    spec.loader.exec_module(module)

    from xlalint.tpu.work import main

    main(sys.argv[1])
