"""`pytest --xlalint-verify`: each target of verify is a test item. Without the option, nothing of xlalint is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("xlalint", "code for XLA and TPUs")
    group.addoption(
        "--xlalint-verify",
        action="store_true",
        help="compile and run what `xlalint verify` would, each target as a test item",
    )
    group.addoption(
        "--xlalint-script",
        action="append",
        metavar="COMMAND",
        help="a program to verify, such as 'train.py --epochs 1'; may be repeated "
        "[default: scripts in [tool.xlalint.verify]]",
    )
    group.addoption(
        "--xlalint-strategy",
        metavar="NAME",
        help="what else to train under [default: strategy in [tool.xlalint.verify]]",
    )
    group.addoption(
        "--xlalint-steps",
        type=int,
        metavar="N",
        help="training steps to run [default: steps in [tool.xlalint.verify], else 5]",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "xlalint: a target of `pytest --xlalint-verify`")
    if config.getoption("xlalint_verify"):
        from xlalint.pytest_plugin.items import Plugin

        config.pluginmanager.register(Plugin(config), "xlalint-verify")
