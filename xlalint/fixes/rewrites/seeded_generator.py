"""XLA406: numbers that a seed repeats under XLA too, drawn from a tf.random.Generator."""

from __future__ import annotations

import re

import libcst as cst

from xlalint.finding import Edit, Fix, Span
from xlalint.fixes.calls import argument, call_at, spreads, with_value, without_argument
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace
from xlalint.semantics.facts import IGNORED_SEED

MENDS = ("XLA406",)

# Methods that a generator has itself, with the same parameters but the seed; by the end of the API's name.
_DRAWN = re.compile(
    r"\brandom[._](uniform|normal|truncated_normal)$|\brandom\.(?:random_)?(uniform)$"
)
_SEED_AT = 4
# Functions that have a stateless form with the same parameters: what they need is a seed that moves on.
_STATELESS = re.compile(
    r"^tf\.image\.(random_(?:brightness|contrast|crop|flip_left_right|flip_up_down|hue|jpeg_quality|saturation))$"
)
_WARNING = (
    "the numbers are others than those of the seed in eager execution, and under a tf.distribute strategy the generator must "
    "be made in its scope"
)


def propose(site: Site) -> Fix | None:
    """`tf.random.uniform(shape, seed=1)` to `generator.uniform(shape)`, of a generator that is made once from that seed."""
    draft = site.draft
    call = call_at(draft, site.node)
    if call is None or spreads(call) or draft.tensorflow is None:
        return None
    seed = argument(call, "seed", _SEED_AT)
    if seed is None:
        return None
    generator = _generator(draft, seed.value)
    if generator is None:
        return None
    name, made = generator
    edits = _edits(draft, call, seed, name)
    if edits is None:
        return None
    return fix(UNSAFE, f"Draw from a tf.random.Generator; {_WARNING}", *edits, *made)


def _edits(draft: Draft, call: cst.Call, seed: cst.Arg, generator: str) -> list[Edit] | None:
    api = draft.api(call.func) or ""
    tensorflow = draft.tensorflow
    drawn = _DRAWN.search(api)
    if drawn is not None and api.startswith("tf."):
        method = drawn.group(1) or drawn.group(2)
        called = replace(draft, call.func, f"{generator}.{method}")
        return [called, without_argument(draft, call, seed)]
    if seed.keyword is None:
        return None
    moving = with_value(draft, seed, f"{generator}.make_seeds()[:, 0]")
    image = _STATELESS.match(api)
    if image is not None:
        return [replace(draft, call.func, f"{tensorflow}.image.stateless_{image.group(1)}"), moving]
    positional = sum(given.keyword is None for given in call.args)
    if api == "tf.nn.dropout" and positional <= 2:
        return [
            replace(draft, call.func, f"{tensorflow}.nn.experimental.stateless_dropout"),
            moving,
        ]
    if api == "tf.random.categorical" and argument(call, "name") is None:
        # XLA's kernel takes seeds of int32 only.
        narrow = f"{tensorflow}.cast({generator}.make_seeds()[:, 0], {tensorflow}.int32)"
        called = replace(draft, call.func, f"{tensorflow}.random.stateless_categorical")
        return [called, with_value(draft, seed, narrow)]
    return None


def _generator(draft: Draft, seed: cst.BaseExpression) -> tuple[str, tuple[Edit, ...]] | None:
    """The module's generator, and what makes it where there is none: in front of the first code that draws with a seed."""
    first = _first_to_draw(draft)
    if first is None:
        return None
    line = draft.span(first).line
    if isinstance(first, (cst.FunctionDef, cst.ClassDef)) and first.decorators:
        line = draft.span(first.decorators[0]).line
    for statement in draft.module.body:
        known = _made_in(draft, statement)
        if known is not None and draft.span(statement).line < line:
            return known, ()
    if not isinstance(seed, cst.Integer) and not _is_known_before(draft, seed, line):
        return None
    name = draft.fresh("generator")
    newline = draft.module.default_newline
    while line > 1 and draft.line(line - 1).startswith("#"):
        line -= 1
    code = f"{name} = {draft.tensorflow}.random.Generator.from_seed({draft.code(seed)}){newline}"
    return name, (Edit(Span(line, 1, line, 1), code + newline * 2),)


def _first_to_draw(draft: Draft) -> cst.CSTNode | None:
    """The first function or class of the module that gives a random operation a seed."""
    for statement in draft.module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            for node in draft.within(statement):
                if isinstance(node, cst.Call) and draft.facts_at(node, IGNORED_SEED):
                    return statement
    return None


def _made_in(draft: Draft, statement: cst.CSTNode) -> str | None:
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    made = statement.body[0]
    if not isinstance(made, cst.Assign) or not isinstance(made.value, cst.Call):
        return None
    target = made.targets[0].target
    is_generator = draft.api(made.value) == "tf.random.Generator.from_seed"
    return target.value if is_generator and isinstance(target, cst.Name) else None


def _is_known_before(draft: Draft, seed: cst.BaseExpression, line: int) -> bool:
    """Whether the seed is a name that the module binds above a line."""
    if not isinstance(seed, cst.Name):
        return False
    return any(
        isinstance(statement, cst.SimpleStatementLine)
        and draft.span(statement).line < line
        and any(
            isinstance(node, cst.AssignTarget) and draft.code(node.target) == seed.value
            for node in draft.within(statement)
        )
        for statement in draft.module.body
    )
