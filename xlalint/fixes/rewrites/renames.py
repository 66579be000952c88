"""XLA504: the names of today for what TensorFlow and Keras renamed."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Edit, Fix
from xlalint.fixes.calls import argument, spreads
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import SAFE, UNSAFE, Site, fix, replace
from xlalint.semantics.environment.rename_table import Entry, Rename
from xlalint.semantics.facts import RENAMED

MENDS = ("XLA504",)

_RESOLVER = "TPUClusterResolver"


def propose(site: Site) -> Fix | None:
    """The name, method or parameter of today, where that is all it takes."""
    found = next((fact.detail for fact in site.facts if fact.kind == RENAMED), None)
    if not isinstance(found, Rename):
        return None
    if found.kind == "environment":
        return _local_tpu(site)
    entry = found.entry
    if not entry.use or entry.instead or found.kind not in _EDITS:
        return None
    edits = _EDITS[found.kind](site, found, entry)
    if not edits:
        return None
    said = "is the name of today" if found.is_gone else "is its name, and does the same"
    return fix(SAFE, f"`{entry.use}` {said}", *edits)


def _name(site: Site, found: Rename, entry: Entry) -> list[Edit] | None:
    draft, node = site.draft, site.node
    above = draft.parent(node)
    if isinstance(above, cst.ImportAlias):
        node = above  # an import without `as` stands where its name does
    if isinstance(node, cst.ImportAlias):
        return _import(draft, node, found, entry)
    if not isinstance(node, cst.Attribute):
        return None
    written = draft.code(node).split(".")
    old, new = found.found.split("."), entry.use.split(".")
    common = _common(old, new)
    kept = len(written) - (len(old) - common)
    if kept < 1:
        return None
    edits = [replace(draft, node, ".".join((*written[:kept], *new[common:])))]
    call = draft.parent(node)
    if isinstance(call, cst.Call) and call.func is node:
        for before, after in entry.parameters:
            given = argument(call, before)
            if given is not None and given.keyword is not None:
                edits.append(replace(draft, given.keyword, after))
    return edits


def _common(old: list[str], new: list[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))


def _import(draft: Draft, node: cst.ImportAlias, found: Rename, entry: Entry) -> list[Edit] | None:
    """`from tensorflow.keras.layers.experimental import preprocessing`, where it imports nothing else."""
    # A folder of TensorFlow named `distribute` stands before the API of that name: nothing is imported from there.
    if not found.found.startswith("keras."):
        return None
    statement = draft.parent(node)
    if not isinstance(statement, cst.ImportFrom) or statement.module is None:
        return None
    if not isinstance(statement.names, (list, tuple)) or len(statement.names) != 1:
        return None
    written = f"{draft.code(statement.module)}.{draft.code(node.name)}"
    package = found.found.partition(".")[0]
    if not written.endswith(found.found[len(package) :]):
        return None
    root = written[: len(written) - len(found.found) + len(package)]
    module, _, name = (root + entry.use[len(package) :]).rpartition(".")
    bound = draft.code(node.asname.name) if node.asname is not None else draft.code(node.name)
    called = name if name == bound else f"{name} as {bound}"
    return [replace(draft, statement, f"from {module} import {called}")]


def _module(site: Site, found: Rename, entry: Entry) -> list[Edit] | None:
    """`from keras.layers.core import Dense`, whose names are all in one module today."""
    written, old = site.draft.code(site.node), found.found
    package = old.partition(".")[0]
    if not written.endswith(old[len(package) :]):
        return None
    root = written[: len(written) - len(old) + len(package)]
    return [replace(site.draft, site.node, root + entry.use[len(package) :])]


def _method(site: Site, found: Rename, entry: Entry) -> list[Edit] | None:
    node = site.node
    return [replace(site.draft, node.attr, entry.use)] if isinstance(node, cst.Attribute) else None


def _parameter(site: Site, found: Rename, entry: Entry) -> list[Edit] | None:
    node = site.node
    if not isinstance(node, cst.Arg) or node.keyword is None:
        return None
    call = site.draft.parent(node)
    if not isinstance(call, cst.Call) or argument(call, entry.use) is not None:
        return None
    return [replace(site.draft, node.keyword, entry.use)]


def _local_tpu(site: Site) -> Fix | None:
    """`TPUClusterResolver(tpu="grpc://" + os.environ["COLAB_TPU_ADDR"])` to `TPUClusterResolver(tpu="local")`."""
    draft = site.draft
    for above in draft.ancestors(site.node):
        if isinstance(above, cst.Call) and draft.code(above.func).endswith(_RESOLVER):
            given = argument(above, "tpu", 0)
            if given is None or spreads(above) or site.node not in list(draft.within(given)):
                return None
            return fix(
                UNSAFE,
                "Take the TPU of this machine, as Colab and TPU VMs have it; one elsewhere needs its name",
                replace(draft, given.value, '"local"'),
            )
        if isinstance(above, cst.BaseStatement):
            break
    return None


_EDITS = {"name": _name, "module": _module, "method": _method, "parameter": _parameter}
