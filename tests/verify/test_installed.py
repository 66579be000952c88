"""The claims of check are about the TensorFlow and the Keras that will run."""

from __future__ import annotations

import pytest
from cli_support import WriteFiles

from xlalint.project.settings import load
from xlalint.verify.installed import settings_for, tensorflow_of


@pytest.mark.parametrize(
    ("distribution", "minor"),
    [
        ("tensorflow-2.15.1.dist-info", "2.15"),
        ("tensorflow_cpu-2.18.0rc1.dist-info", "2.18"),
        ("tensorflow_probability-0.25.0.dist-info", None),
    ],
)
def test_the_version_is_read_beside_the_interpreter(
    distribution: str, minor: str | None, write: WriteFiles
) -> None:
    folder = write({f"lib/python3.11/site-packages/{distribution}/METADATA": "", "bin/python": ""})
    assert tensorflow_of(str(folder / "bin/python")) == minor


def test_what_is_installed_decides_unless_the_command_line_does(write: WriteFiles) -> None:
    folder = write(
        {
            "lib/python3.11/site-packages/tensorflow-2.15.1.dist-info/METADATA": "",
            "requirements.txt": "tensorflow==2.18.0\n",
        }
    )
    python = str(folder / "bin/python")
    settings, notes = settings_for(load([str(folder)]), python, {})
    assert settings.tf_version == "2.15"
    assert notes == ("checked for TensorFlow 2.15, which is installed, not 2.18",)
    told = load([str(folder)], {"tf_version": "2.18"})
    assert settings_for(told, python, {}) == (told, ())


def test_a_program_that_is_given_keras_2_is_checked_for_it(
    write: WriteFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    folder = write({"train.py": ""})
    plain = load([str(folder)])
    assert settings_for(plain, str(folder / "bin/python"), {})[0].keras is None
    legacy, _ = settings_for(plain, str(folder / "bin/python"), {"TF_USE_LEGACY_KERAS": "1"})
    assert legacy.keras == "2"
