"""xlalint as it is installed: from a wheel, and as a pre-commit hook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli_support import Ran

CHECKOUT = Path(__file__).parent.parent
BAD = """\
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x):
    return x[tf.greater(x, 0.0)]
"""
GOOD = BAD.replace("x[tf.greater(x, 0.0)]", "tf.nn.relu(x)")

# What is built and installed is so once: with `--dist loadgroup`, in one worker.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(*command: str | Path, cwd: Path, **environment: str) -> Ran:
    """Run a command that must not find this checkout by accident."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONPATH" and not k.startswith("GIT_")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def succeed(*command: str | Path, cwd: Path, **environment: str) -> str:
    ran = run(*command, cwd=cwd, **environment)
    assert ran.status == 0, ran.out + ran.err
    return ran.out


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir")
    succeed(*pip, folder, CHECKOUT, cwd=folder)
    [built] = folder.glob("*.whl")
    return built


def test_the_wheel_carries_pages_and_catalogue_and_nothing_of_the_checkout(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "xlalint/_data/rules/XLA101.md" in names
    assert "xlalint/_data/rules/catalog/2.21.json" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"xlalint"}


def test_a_wheel_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    succeed(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    succeed(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    command = tmp_path / "env" / "bin" / "xlalint"

    listed = json.loads(succeed(command, "rules", "--format", "json", cwd=tmp_path))
    pages = sorted(path.stem for path in (CHECKOUT / "rules").glob("XLA*.md"))
    assert [rule["code"] for rule in listed] == pages
    assert "data" in succeed(command, "explain", "tf.unique", cwd=tmp_path)

    (tmp_path / "m.py").write_text(BAD)
    ran = run(command, "check", "m.py", "--format", "concise", cwd=tmp_path)
    assert ran.status == 1
    assert ran.out.startswith("m.py:6:12: warning XLA201")
    installed = succeed(python, "-m", "pip", "list", "--format", "json", cwd=tmp_path).lower()
    assert "tensorflow" not in installed


# --- pre-commit -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository that holds what is in this checkout, committed."""
    folder = tmp_path_factory.mktemp("hooks") / "xlalint"
    folder.mkdir()
    for name in ("xlalint", "rules"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(CHECKOUT / name, folder / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(CHECKOUT / name, folder / name)
    make_repository(folder)
    succeed("git", "add", ".", cwd=folder)
    succeed("git", "commit", "--quiet", "--message", "hooks", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def pre_commit_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the environment that it installs: once for all tests here."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def repository(tmp_path: Path, hooks: Path, pre_commit_home: Path) -> Path:
    """A user's repository with the hook installed."""
    revision = succeed("git", "rev-parse", "HEAD", cwd=hooks).strip()
    config = {"repos": [{"repo": str(hooks), "rev": revision, "hooks": [{"id": "xlalint"}]}]}
    # YAML takes JSON as it is.
    (tmp_path / ".pre-commit-config.yaml").write_text(json.dumps(config))
    make_repository(tmp_path)
    pre_commit = (sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    succeed(*pre_commit, cwd=tmp_path, PRE_COMMIT_HOME=str(pre_commit_home))
    return tmp_path


def make_repository(folder: Path) -> None:
    succeed("git", "init", "--quiet", cwd=folder)
    succeed("git", "config", "user.email", "test@example.org", cwd=folder)
    succeed("git", "config", "user.name", "Test", cwd=folder)


def commit(repository: Path, files: dict[str, str], home: Path) -> Ran:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    succeed("git", "add", ".", cwd=repository)
    command = ("git", "commit", "--message", "change")
    return run(*command, cwd=repository, PRE_COMMIT_HOME=str(home))


def test_a_good_commit_passes(repository: Path, pre_commit_home: Path) -> None:
    ran = commit(repository, {"model.py": GOOD}, pre_commit_home)
    assert ran.status == 0, ran.out + ran.err
    assert "xlalint..." in ran.err and "Passed" in ran.err


def test_a_bad_commit_is_stopped_with_the_finding(repository: Path, pre_commit_home: Path) -> None:
    ran = commit(repository, {"src/model.py": BAD}, pre_commit_home)
    assert ran.status == 1
    assert "src/model.py:6:" in ran.err and "XLA201" in ran.err
    assert run("git", "log", "-1", cwd=repository).status != 0


def test_a_commit_without_python_files_is_let_through(
    repository: Path, pre_commit_home: Path
) -> None:
    ran = commit(repository, {"notes.txt": "nothing here\n"}, pre_commit_home)
    assert ran.status == 0, ran.out + ran.err
    assert "(no files to check)Skipped" in ran.err


def test_files_that_the_settings_exclude_stay_excluded(
    repository: Path, pre_commit_home: Path
) -> None:
    settings = "[tool.xlalint]\nexclude = ['legacy/']\n"
    ran = commit(repository, {"legacy/model.py": BAD, "pyproject.toml": settings}, pre_commit_home)
    assert ran.status == 0, ran.out + ran.err
