"""Which rewrite mends which finding: the findings of a program, each with the fix that fits it best."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from xlalint.finding import Finding, Fix
from xlalint.fixes.draft import Draft, draft
from xlalint.fixes.rewrites import by_code
from xlalint.fixes.site import Site
from xlalint.rules.base import Aim
from xlalint.semantics.beliefs import Belief
from xlalint.semantics.facts import ModuleFacts


def is_mendable(finding: Finding) -> bool:
    """Whether some rewrite is for findings of this rule. Whether one fits is found out by `propose`."""
    return finding.code in by_code()


def propose(
    findings: Sequence[Finding],
    facts: ModuleFacts,
    beliefs: Mapping[ast.AST, Sequence[Belief]],
    aim: Aim,
) -> list[Finding]:
    """The findings of one program (their spans counted in it), with fixes where a rewrite fits."""
    if not any(is_mendable(finding) for finding in findings):
        return list(findings)
    module = facts.module
    try:
        program = draft(module.text, module.tree, beliefs, facts.by_node)
    except cst.ParserSyntaxError:
        # libcst cannot read all that `ast` can, and a rewrite needs the whole file.
        return list(findings)
    # What a rule has proposed itself (to take an unused comment away) stays.
    return [
        finding if finding.fix else replace(finding, fix=_fix_of(finding, program, aim))
        for finding in findings
    ]


def _fix_of(finding: Finding, program: Draft, aim: Aim) -> Fix | None:
    rewrites = by_code().get(finding.code, ())
    nodes = program.at(finding.span) if rewrites else ()
    if not nodes:
        return None
    # The innermost: `x` as a statement and as an expression stand at one place.
    node = nodes[-1]
    facts = tuple(program.facts_at(node))
    site = Site(finding, program, node, facts, aim)
    for rewrite in rewrites:
        found = rewrite(site)
        if found is not None:
            return found
    return None
