"""The entry of child processes: `python .../xlalint/isolation/child.py MODULE JOB.json` calls that module's `main` with the job.

Run by path, so that it works under any interpreter, whether or not xlalint is installed there: what it runs imports nothing
but the standard library, TensorFlow and this package.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules must not shadow the user's

    import importlib
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

    importlib.import_module(sys.argv[1]).main(sys.argv[2])
