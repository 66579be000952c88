"""Which TensorFlow a project is for, by what it declares."""

from __future__ import annotations

import pytest
from cli_support import WriteFiles

from xlalint.project.settings import load
from xlalint.project.versions import detect, known, minor

MINORS = tuple(f"2.{n}" for n in range(12, 22))


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("tensorflow>=2.12", "2.21"),
        ("tensorflow<2.16", "2.15"),
        ("tensorflow<=2.16", "2.16"),
        ("tensorflow>2.9,<2.16", "2.15"),
        ("tensorflow==2.13.1", "2.13"),
        ("tensorflow==2.14.*", "2.14"),
        ("tensorflow~=2.15.0", "2.15"),
        ("tensorflow~=2.15", "2.21"),
        ("tensorflow >= 2.12, != 2.21.*", "2.20"),
        ("tensorflow-cpu[and-cuda]>=2.12,<2.20; platform_system != 'Darwin'", "2.19"),
        ("tensorflow_cpu==2.18.0  # pinned", "2.18"),
        ("tensorflow (>=2.12,<2.17)", "2.16"),
        ("tensorflow==2.16.0rc1", "2.16"),
        ("tensorflow==2.4", "2.12"),
        ("tensorflow>=2.30", "2.21"),
        ("keras<3", "2.15"),
        ("keras==2.13.1", "2.13"),
        ("keras==2.2.4", "2.12"),
        ("keras>=2.12", None),
        ("keras>=3.0,<3.14", None),
        ("tensorflow", None),
        ("tensorflow-datasets>=4.0", None),
        ("tensorflow @ https://example.org/tensorflow.whl", None),
        ("-r other.txt", None),
    ],
)
def test_the_newest_minor_that_a_requirement_allows(
    write: WriteFiles, requirement: str, expected: str | None
) -> None:
    folder = write({"requirements.txt": requirement + "\n"})
    found = detect(folder, MINORS)
    assert (found.minor if found else None) == expected


@pytest.mark.parametrize(
    ("name", "text", "origin"),
    [
        (
            "pyproject.toml",
            "[project]\ndependencies = ['numpy', 'tensorflow~=2.14.0']",
            "pyproject.toml dependencies: tensorflow~=2.14.0",
        ),
        (
            "pyproject.toml",
            "[project.optional-dependencies]\ntf = ['tensorflow>=2.12,<2.15']",
            "pyproject.toml extra tf: tensorflow>=2.12,<2.15",
        ),
        (
            "pyproject.toml",
            "[dependency-groups]\ndev = ['tensorflow<2.15', {include-group = 'x'}]",
            "pyproject.toml group dev: tensorflow<2.15",
        ),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\ntensorflow = {version = '~2.14.1'}",
            "pyproject.toml poetry dependencies: tensorflow>=2.14.1,==2.14.*",
        ),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    numpy\n    tensorflow<2.15\n",
            "setup.cfg install_requires: tensorflow<2.15",
        ),
        (
            "setup.cfg",
            "[options.extras_require]\ntf = tensorflow<2.15\n",
            "setup.cfg tf: tensorflow<2.15",
        ),
        (
            "setup.py",
            "from setuptools import setup\nDEPS = ['tensorflow>2.9,<2.15']\nsetup(install_requires=DEPS)",
            "setup.py: tensorflow>2.9,<2.15",
        ),
        ("requirements/base.txt", "tensorflow<2.15\n", "requirements/base.txt: tensorflow<2.15"),
        ("requirements-dev.txt", "tensorflow<2.15\n", "requirements-dev.txt: tensorflow<2.15"),
        (
            "PKG-INFO",
            "Metadata-Version: 2.1\nRequires-Dist: tensorflow<2.15\n\nRequires-Dist: tensorflow<2.13\n",
            "PKG-INFO: tensorflow<2.15",
        ),
        (
            "package-1.0.dist-info/METADATA",
            "Name: package\nRequires-Dist: tensorflow (<2.15,>=2.13) ; extra == 'tf'\n",
            "package-1.0.dist-info/METADATA: tensorflow (<2.15,>=2.13)",
        ),
        (
            "package.egg-info/requires.txt",
            "numpy\n\n[tf]\ntensorflow<2.15\n",
            "package.egg-info/requires.txt [tf]: tensorflow<2.15",
        ),
    ],
)
def test_every_place_where_projects_declare_dependencies(
    write: WriteFiles, name: str, text: str, origin: str
) -> None:
    found = detect(write({name: text}), MINORS)
    assert found is not None
    assert (found.minor, found.origin) == ("2.14", origin)


def test_tensorflow_is_asked_before_keras(write: WriteFiles) -> None:
    found = detect(write({"requirements.txt": "keras<2.14\ntensorflow==2.15\n"}), MINORS)
    assert found is not None and found.minor == "2.15"


def test_of_several_distributions_each_speaks_for_its_own_packages(write: WriteFiles) -> None:
    folder = write(
        {
            "first-1.dist-info/METADATA": "Requires-Dist: tensorflow<2.15\n",
            "first-1.dist-info/RECORD": "first/__init__.py,,\nfirst/layers.py,,\n",
            "second.egg-info/PKG-INFO": "Name: second\n",
            "second.egg-info/requires.txt": "tensorflow<2.17\n",
            "second.egg-info/top_level.txt": "second\n",
        }
    )
    found = {name: detect(folder, MINORS, name) for name in ("first", "second", "third", "")}
    assert {name: each.minor for name, each in found.items() if each} == {
        "first": "2.14",
        "second": "2.16",
    }


def test_an_installed_package_is_checked_for_what_it_asks_for(write: WriteFiles) -> None:
    folder = write(
        {
            "site-packages/net/__init__.py": "",
            "site-packages/net/layers/__init__.py": "",
            "site-packages/net-1.dist-info/METADATA": "Requires-Dist: tensorflow<2.16\n",
            "site-packages/net-1.dist-info/RECORD": "net/__init__.py,,\n",
            "site-packages/other-1.dist-info/METADATA": "Requires-Dist: tensorflow<2.14\n",
        }
    )
    settings = load([str(folder / "site-packages" / "net" / "layers")])
    assert settings.tf_version == "2.15"


def test_declarations_that_do_not_parse_are_passed_over(write: WriteFiles) -> None:
    folder = write({"pyproject.toml": "[[", "setup.py": "def (", "setup.cfg": "no section"})
    assert detect(folder, MINORS) is None


def test_the_project_comes_before_its_test_requirements(write: WriteFiles) -> None:
    folder = write(
        {
            "pyproject.toml": "[project]\ndependencies = ['tensorflow<2.16']",
            "requirements-test.txt": "tensorflow==2.19.0\n",
        }
    )
    found = detect(folder, MINORS)
    assert found is not None and found.minor == "2.15"


def test_the_shipped_catalogue_gives_the_range() -> None:
    assert known()[-1] == "2.21"
    assert list(known()) == sorted(known(), key=lambda m: int(m.split(".")[1]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2.15", "2.15"), ("2.15.1", "2.15"), ("tf-2.9.0rc1", "2.9"), ("x", None)],
)
def test_minor(text: str, expected: str | None) -> None:
    assert minor(text) == expected
