"""Settings: where they are read from, what they may hold, and what a wrong one says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import RunXlalint, WriteFiles

from xlalint.project.settings import Settings, SettingsError, load


def settings_of(folder: Path, text: str, **overrides: object) -> Settings:
    (folder / "xlalint.toml").write_text(text, encoding="utf-8")
    return load([str(folder)], overrides)


def test_defaults_are_a_tpu_vm_and_every_rule(tmp_path: Path) -> None:
    settings = load([str(tmp_path)])
    assert settings.target == "tpu-vm"
    assert settings.is_selected("XLA101") and settings.is_selected("XLA501")
    assert settings.root == tmp_path


def test_pyproject_and_own_file_read_alike(write: WriteFiles) -> None:
    folder = write(
        {
            "a/pyproject.toml": """
                [tool.xlalint]
                target = "gpu"
                ignore = ["XLA2"]
                per-file-ignores = { "tests/*" = ["XLA101"] }

                [tool.xlalint.verify]
                entry = "train:step"
                inputs = ["float32[8,16]", "int32[8]"]
            """,
            "b/xlalint.toml": """
                target = "gpu"
                ignore = ["XLA2"]
                per-file-ignores = { "tests/*" = ["XLA101"] }

                [verify]
                entry = "train:step"
                inputs = ["float32[8,16]", "int32[8]"]
            """,
        }
    )
    for name in "ab":
        settings = load([str(folder / name)])
        assert settings.target == "gpu"
        assert settings.ignore == ("XLA2",)
        assert settings.per_file_ignores == (("tests/*", ("XLA101",)),)
        assert settings.verify.entry == ("train:step",)
        assert settings.verify.inputs == ("float32[8,16]", "int32[8]")
        assert settings.verify.steps == 5
        assert settings.root == folder / name


def test_the_nearest_file_wins_and_the_repository_ends_the_search(write: WriteFiles) -> None:
    folder = write(
        {
            "xlalint.toml": "target = 'cpu'",
            "repo/.git/HEAD": "",
            "repo/src/model.py": "",
            "outer/xlalint.toml": "target = 'gpu'",
            "outer/src/model.py": "",
        }
    )
    assert load([str(folder / "repo/src/model.py")]).target == "tpu-vm"
    assert load([str(folder / "outer/src")]).target == "gpu"


def test_a_pyproject_without_our_table_is_passed_over(write: WriteFiles) -> None:
    folder = write(
        {
            "xlalint.toml": "target = 'cpu'",
            "package/pyproject.toml": "[project]\nname = 'x'",
            "package/m.py": "",
        }
    )
    assert load([str(folder / "package")]).target == "cpu"


def test_several_paths_share_the_settings_above_them(write: WriteFiles) -> None:
    folder = write(
        {"xlalint.toml": "target = 'cpu'", "a/m.py": "", "b/xlalint.toml": "", "b/m.py": ""}
    )
    assert load([str(folder / "a/m.py"), str(folder / "b/m.py")]).target == "cpu"


def test_the_command_line_comes_over_the_file(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, "target = 'cpu'\nselect = ['XLA1']", target="gpu", extend_select=("XLA201",)
    )
    assert settings.target == "gpu"
    assert settings.select == ("XLA1", "XLA201")
    assert dict(settings.origins)["target"] == "--target"
    assert dict(settings.origins)["select"] == "--extend-select"


@pytest.mark.parametrize(
    ("select", "ignore", "on", "off"),
    [
        ((), (), ["XLA101", "XLA902"], []),
        (("XLA1",), (), ["XLA101", "XLA105"], ["XLA201"]),
        ((), ("XLA2",), ["XLA101"], ["XLA201"]),
        (("XLA",), ("XLA1",), ["XLA201"], ["XLA101"]),
        (("XLA101",), ("XLA1",), ["XLA101"], ["XLA102", "XLA201"]),
        (("XLA1",), ("XLA101",), ["XLA102"], ["XLA101"]),
        (("XLA101",), ("XLA101",), [], ["XLA101"]),
        (("ALL",), ("XLA1",), ["XLA201"], ["XLA101"]),
        (("xla1",), (), ["XLA101"], ["XLA201"]),
    ],
)
def test_the_longest_prefix_decides(
    tmp_path: Path, select: tuple[str, ...], ignore: tuple[str, ...], on: list[str], off: list[str]
) -> None:
    settings = load([str(tmp_path)], {"select": select, "ignore": ignore})
    assert [code for code in (*on, *off) if settings.is_selected(code)] == on


def test_per_file_ignores_count_from_the_settings_folder(tmp_path: Path) -> None:
    settings = settings_of(
        tmp_path, "per-file-ignores = { 'tests/*' = ['XLA1'], 'a.py' = ['ALL'] }"
    )
    assert settings.ignored_in(tmp_path / "tests/deep/m.py") == ("XLA1",)
    assert settings.ignored_in(tmp_path / "a.py") == ("XLA", "PTX")
    assert settings.ignored_in(tmp_path / "src/m.py") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("targets = 'cpu'", "unknown key targets; did you mean target?"),
        ("tf_version = '2.15'", "unknown key tf_version; did you mean tf-version?"),
        ("target = 'tpu'", "target must be one of cpu, gpu, tpu-vm, tpu-node, not 'tpu'"),
        ("target = 3", "target must be one of cpu, gpu, tpu-vm, tpu-node, not 3"),
        ("tf-version = 'new'", "tf-version must be a TensorFlow version such as 2.15, not 'new'"),
        ("tf-version = 2.15", "tf-version must be a string"),
        ("select = 'XLA101'", "select must be a list of strings"),
        ("select = ['XLA111']", "select names no rule: 'XLA111'; did you mean XLA101?"),
        ("ignore = ['']", "ignore names no rule: ''"),
        ("per-file-ignores = ['x']", "per-file-ignores must be a table of pattern = [codes]"),
        ("per-file-ignores = { 'a' = ['E501'] }", "per-file-ignores names no rule: 'E501'"),
        ("pedantic = 'yes'", "pedantic must be true or false"),
        ("jobs = -1", "jobs must be a whole number, 0 for automatic"),
        ("verify = 5", "verify must be a table"),
        ("[verify]\nstep = 5", "unknown key verify.step; did you mean verify.steps?"),
        ("[verify]\nsteps = 0", "verify.steps must be a whole number of at least 1"),
        (
            "[verify]\nentry = 'train'",
            "verify.entry must be `package.module:function`, not 'train'",
        ),
        (
            "[verify]\nentry = ['train:step', 'evaluate']",
            "verify.entry must be `package.module:function`, not 'evaluate'",
        ),
        (
            "[verify]\nentry = ['train:step', 'train:test']\ninputs = ['int32[]']",
            "verify.inputs are one entry's, and verify.entry names 2",
        ),
        ("[verify]\ntimeout = true", "verify.timeout must be a number of seconds above 0"),
        ("target = ", "not valid TOML"),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_of(tmp_path, text)
    assert str(tmp_path / "xlalint.toml") in str(caught.value)
    assert message in str(caught.value)


def test_a_wrong_setting_ends_a_run_with_status_2(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"pyproject.toml": "[tool.xlalint]\ntargte = 'cpu'\n", "m.py": ""})
    ran = xlalint("check", ".")
    assert (ran.status, ran.out) == (2, "")
    assert "pyproject.toml: unknown key targte; did you mean target?" in ran.err


def test_a_wrong_option_ends_a_run_with_status_2(write: WriteFiles, xlalint: RunXlalint) -> None:
    write({"m.py": ""})
    ran = xlalint("check", "--select", "XLA999", "m.py")
    assert ran.status == 2
    assert "--select" in ran.err and "names no rule: 'XLA999'" in ran.err


def test_config_says_where_each_value_comes_from(write: WriteFiles, xlalint: RunXlalint) -> None:
    folder = write({"xlalint.toml": "target = 'gpu'", "requirements.txt": "tensorflow==2.15.0\n"})
    ran = xlalint("config", "--ignore", "XLA4")
    shown = {line.split()[0]: line for line in ran.out.splitlines()}
    assert shown["target"].endswith(f'"gpu"  ({folder / "xlalint.toml"})')
    assert shown["ignore"].endswith('["XLA4"]  (--ignore)')
    assert shown["tf-version"].endswith('"2.15"  (requirements.txt: tensorflow==2.15.0)')
    assert shown["fail-on"].endswith('"warning"  (default)')
