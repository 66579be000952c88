"""XLA107: a layer that is made in every call is made once, in `__init__`."""

from __future__ import annotations

import re

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.fixes.steady import free_names

MENDS = ("XLA107",)

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# A new object for each turn of one of these, and one attribute for all of them.
_REPEATS = (cst.For, cst.While, cst.BaseComp, cst.Lambda)


def propose(site: Site) -> Fix | None:
    """`keras.layers.Dropout(0.1)(x)` in `call` to `self.dropout(x)`."""
    draft, node = site.draft, site.node
    if site.finding.variant != "state" or not isinstance(node, cst.Call):
        return None
    api = draft.api(node.func) or ""
    if not api.startswith("keras.layers."):
        return None
    method = draft.function(node)
    if not isinstance(method, cst.FunctionDef):
        return None
    body = draft.parent(method)
    owner = draft.parent(body) if body is not None else None
    if not isinstance(owner, cst.ClassDef):
        return None
    init = _init(owner)
    if init is None or _is_repeated(draft, node, method) or not _is_known_in(draft, node, init):
        return None
    name = _attribute(draft, owner, node, api)
    return fix(
        UNSAFE,
        f"Make it once, in `__init__`, as `self.{name}`; what weights it has are kept, trained and saved from then on",
        _appended(draft, init, f"self.{name} = {draft.code(node)}"),
        replace(draft, node, f"self.{name}"),
    )


def _init(owner: cst.ClassDef) -> cst.FunctionDef | None:
    """`__init__(self, ...)`, where it ends in no return."""
    for each in owner.body.body:
        if isinstance(each, cst.FunctionDef) and each.name.value == "__init__":
            last = each.body.body[-1] if isinstance(each.body, cst.IndentedBlock) else None
            first = each.params.params[0].name.value if each.params.params else ""
            is_return = isinstance(last, cst.SimpleStatementLine) and any(
                isinstance(part, (cst.Return, cst.Raise)) for part in last.body
            )
            return each if last is not None and first == "self" and not is_return else None
    return None


def _is_repeated(draft: Draft, node: cst.Call, method: cst.FunctionDef) -> bool:
    for above in draft.ancestors(node):
        if above is method:
            return False
        if isinstance(above, _REPEATS):
            return True
    return True


def _is_known_in(draft: Draft, node: cst.Call, init: cst.FunctionDef) -> bool:
    """Whether the arguments mean the same in `__init__`: attributes that it sets, names of the module, and plain values."""
    kept = {
        draft.code(each.target) for each in draft.within(init) if isinstance(each, cst.AssignTarget)
    }
    for given in node.args:
        for part in draft.within(given.value):
            is_outer = not isinstance(draft.parent(part), cst.Attribute)
            if isinstance(part, cst.Attribute) and is_outer:
                root = draft.code(part).partition(".")[0]
                if root == "self" and draft.code(part) not in kept:
                    return False
    names = free_names(draft, node) - {"self"}
    return names <= _of_module(draft)


def _of_module(draft: Draft) -> frozenset[str]:
    """Names that the module's own statements bind."""
    found = set()
    for statement in draft.module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            found.add(statement.name.value)
        elif isinstance(statement, cst.SimpleStatementLine):
            for each in draft.within(statement):
                if isinstance(each, cst.AssignTarget) and isinstance(each.target, cst.Name):
                    found.add(each.target.value)
                elif isinstance(each, cst.ImportAlias):
                    bound = each.asname.name if each.asname is not None else each.name
                    found.add(draft.code(bound).partition(".")[0])
    return frozenset(found)


def _attribute(draft: Draft, owner: cst.ClassDef, node: cst.Call, api: str) -> str:
    """`batch_normalization` for `BatchNormalization`, or a name like it that the class does not use.

    Layers that are written alike have weights of their own, and so names of their own; dropout has none, and one serves all.
    """
    plain = _WORDS.sub("_", api.rpartition(".")[2]).lower()
    used = {
        each.attr.value
        for each in draft.within(owner)
        if isinstance(each, cst.Attribute) and draft.code(each.value) == "self"
    }
    used |= {each.name.value for each in owner.body.body if isinstance(each, cst.FunctionDef)}
    candidates = [plain, f"{plain}_layer", *(f"{plain}_{number}" for number in range(2, 100))]
    free = [name for name in candidates if name not in used]
    code = draft.code(node)
    alike = [e for e in draft.within(owner) if isinstance(e, cst.Call) and draft.code(e) == code]
    number = next(index for index, each in enumerate(alike) if each is node)
    return free[0] if "dropout" in plain else free[number]


def _appended(draft: Draft, init: cst.FunctionDef, code: str) -> Edit:
    """A statement at the end of `__init__`."""
    last = draft.span(init.body.body[-1])
    line = draft.line(last.end_line)
    place = Span(last.end_line, len(line) + 1, last.end_line, len(line) + 1)
    margin = " " * (draft.span(init.body.body[0]).column - 1)
    return Edit(place, f"{draft.module.default_newline}{margin}{code}")
