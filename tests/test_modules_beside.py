"""Imports as a program finds them that is started inside of a package: by the names that modules have there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import WriteFiles

from xlalint.engine import check
from xlalint.project.settings import Settings

HELPER = "import tensorflow as tf\n\ndef counted(x):\n    return tf.unique_with_counts(x)\n"
STEP = "\n\n@tf.function\ndef step(x: tf.Tensor):\n    return {call}(x)\n"
IMPORTS = {
    "from where the program is started": ("from nets.helpers import counted", "counted"),
    "from beside it": ("from helpers import counted", "counted"),
    "a module": ("import helpers", "helpers.counted"),
    "a module by another name": ("import nets.helpers as h", "h.counted"),
    "everything": ("from helpers import *", "counted"),
    "when run as a script": (
        'if __name__ == "__main__":\n    from helpers import counted\nelse:\n    from .helpers import counted',
        "counted",
    ),
    "either way": (
        "try:\n    from helpers import counted\nexcept ImportError:\n    from .helpers import counted",
        "counted",
    ),
}


@pytest.mark.parametrize(("line", "call"), IMPORTS.values(), ids=IMPORTS)
def test_what_lies_beside_a_module_of_a_package_is_found(
    tmp_path: Path, write: WriteFiles, line: str, call: str
) -> None:
    write(
        {
            "repo/__init__.py": "",
            "repo/nets/__init__.py": "",
            "repo/nets/helpers.py": HELPER,
            "repo/nets/steps.py": f"import tensorflow as tf\n{line}{STEP.format(call=call)}",
        }
    )
    (finding,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    assert finding.region.why == ("@tf.function step", "counted")


@pytest.mark.parametrize(
    "line", ["from tools.tensorflow.helpers import counted", "from .helpers import counted"]
)
def test_a_package_may_have_a_part_for_tensorflow_of_that_name(
    tmp_path: Path, write: WriteFiles, line: str
) -> None:
    write(
        {
            "tools/tensorflow/__init__.py": "",
            "tools/tensorflow/helpers.py": HELPER,
            "tools/tensorflow/steps.py": f"import tensorflow as tf\n{line}{STEP.format(call='counted')}",
        }
    )
    (finding,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    assert finding.region.why == ("@tf.function step", "counted")


def test_folders_need_no_init_between_a_script_and_what_it_imports(
    tmp_path: Path, write: WriteFiles
) -> None:
    write(
        {
            "core/helpers.py": HELPER,
            "scripts/steps.py": "import tensorflow as tf\nfrom core import helpers\n"
            + STEP.format(call="helpers.counted"),
        }
    )
    (finding,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    assert finding.region.why == ("@tf.function step", "counted")


SEVERAL = {
    "a module": ("utils.py", "import utils", "utils.helper"),
    "from a module": ("utils.py", "from utils import helper", "helper"),
    "from a package": ("nets/parts.py", "from nets.parts import helper", "helper"),
    "from a relative module": ("nets/parts.py", "from nets.whole import parts", "parts.helper"),
    "from a relative name": ("nets/parts.py", "from nets.whole import helper", "helper"),
    "a submodule": ("nets/parts.py", "import nets.parts", "nets.parts.helper"),
    "from a folder": ("loose/parts.py", "from loose.parts import helper", "helper"),
}


@pytest.mark.parametrize(("file", "line", "call"), SEVERAL.values(), ids=SEVERAL)
def test_each_of_several_programs_has_the_modules_beside_it(
    tmp_path: Path, write: WriteFiles, file: str, line: str, call: str
) -> None:
    """Every folder of `examples/` has its `utils.py` and its `nets/`, as repositories of several programs have."""
    files = {}
    for program, given in (("first", "x"), ("second", "tf.unique_with_counts(x)"), ("third", "x")):
        files[f"{program}/nets/__init__.py"] = ""
        files[f"{program}/nets/whole.py"] = "from . import parts\nfrom .parts import helper\n"
        files[f"{program}/nets/parts.py"] = ""
        files[f"{program}/{file}"] = (
            f"import tensorflow as tf\n\ndef helper(x):\n    return {given}\n"
        )
        files[f"{program}/steps.py"] = f"import tensorflow as tf\n{line}{STEP.format(call=call)}"
    write(files)
    (finding,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    assert (finding.path, finding.code) == (str(tmp_path / "second" / file), "XLA401")
    assert finding.region.why == ("@tf.function step", "helper")


@pytest.mark.parametrize("package", ["transformers", "random", "keras"])
def test_a_package_that_is_meant_is_not_the_module_of_that_name(
    tmp_path: Path, write: WriteFiles, package: str
) -> None:
    text = f"import tensorflow as tf\nfrom {package} import counted{STEP.format(call='counted')}"
    write(
        {"repo/__init__.py": "", f"repo/{package}.py": HELPER, "repo/steps.py": text},
    )
    (finding,) = check([str(tmp_path)], Settings(root=tmp_path)).findings
    assert finding.region.why[0] != "@tf.function step"


@pytest.mark.compiler
def test_verify_imports_what_lies_where_the_program_is_started(write: WriteFiles) -> None:
    folder = write(
        {
            "repo/__init__.py": "",
            "repo/nets/__init__.py": "",
            "repo/nets/helpers.py": HELPER,
            "repo/steps.py": "import tensorflow as tf\nfrom nets.helpers import counted"
            + STEP.format(call="counted"),
        }
    )
    command = [sys.executable, "-m", "xlalint", "verify", "steps.py", "nets", "--steps", "1"]
    ran = subprocess.run(command, cwd=folder / "repo", capture_output=True, text=True, check=False)
    assert "1 confirmed, 0 refuted, 0 not reached" in ran.stdout, ran.stdout + ran.stderr
