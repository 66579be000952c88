"""How a reduction of kept elements is written over the full tensor."""

from __future__ import annotations

import libcst as cst

from xlalint.fixes.full_size import operations
from xlalint.fixes.full_size.distinct import is_count
from xlalint.fixes.full_size.flow import (
    COUNT,
    FIRST,
    LAST,
    RETURNED,
    ROW_MEAN,
    SCATTER,
    End,
    fill_of,
)
from xlalint.fixes.full_size.masks import INDICES, VALUES, Kept
from xlalint.fixes.full_size.rewriting import Rewriting
from xlalint.fixes.full_size.texts import is_loose
from xlalint.fixes.full_size.unfit import UnfitError
from xlalint.fixes.ranks import argument

_FLOATS = ("float32", "float64")
_HALVES = ("float16", "bfloat16")
_ROUNDED = "In half precision the number of elements is rounded, and their sum may overflow."
_TIES = "Where all that is kept is infinite, the gradient is shared with what was dropped."


def written(rewriting: Rewriting, end: End) -> str:
    """The code of an end over full tensors.

    Raises:
        UnfitError: there is none.
    """
    known = rewriting.reader.kept(end.operand)
    assert known is not None
    if end.how == COUNT:
        return _count(rewriting, end, known)
    if end.how in (FIRST, LAST):
        return _picked(rewriting, end, known)
    if end.how == SCATTER:
        return _scattered(rewriting, end, known)
    if end.how == "updates":
        return _scattered(rewriting, end, known)
    if end.how == ROW_MEAN:
        return _row_mean(rewriting, end, known)
    if end.how == RETURNED:
        return _returned(rewriting, end, known)
    return _reduced(rewriting, end, known)


def _returned(rewriting: Rewriting, end: End, known: Kept) -> str:
    """The mean of losses, as a vector: what takes the mean of the returned losses takes that of one."""
    tf = rewriting.tf
    losses = rewriting.plain(end.operand, known)
    if not losses.isidentifier():
        losses = rewriting.bind(end, losses, "losses")
    mask = rewriting.mask(known.mask, end.node)
    if known.trailing:
        raise UnfitError
    if known.trailing is None:
        rewriting.doubts["The labels are taken to have the shape of the mask."] = None
    kept = rewriting.bind(end, f"{tf}.where({mask}, {losses}, 0)", "kept")
    count = f"{tf}.reduce_sum({tf}.cast({rewriting.mask(known.mask, end.node)}, {losses}.dtype))"
    rewriting.doubts[
        "It returns the mean of the losses, as a vector of one element, and no loss for each kept element."
    ] = None
    return f"{tf}.reshape({tf}.reduce_sum({kept}) / {count}, [1])"


def _row_mean(rewriting: Rewriting, end: End, known: Kept) -> str:
    """The mean of squares, or of what `tf.abs` gives, of the differences of two vectors."""
    tf, draft = rewriting.tf, rewriting.draft
    loss = end.node
    assert isinstance(loss, cst.Call)
    if rewriting.reader.row_mean(loss) is None:
        loss = loss.args[0].value
        assert isinstance(loss, cst.Call)
    labels, predictions = (given.value for given in loss.args)
    if loss.args[0].keyword is not None and loss.args[0].keyword.value == "y_pred":
        labels, predictions = predictions, labels
    sides = []
    for side in (labels, predictions):
        text = rewriting.render(side)
        sides.append(f"({text})" if is_loose(text) else text)
        part = rewriting.reader.kept(side)
        if part is None or part.trailing is None:
            words = rewriting.render_quoted(side)
            rewriting.doubts[f"`{words}` is taken to have the shape of the mask."] = None
    dtype = draft.value(predictions).dtype
    if dtype is not None and dtype.startswith(("int", "uint", "bool")):
        raise UnfitError
    if dtype in _HALVES:
        rewriting.doubts[_ROUNDED] = None
    if dtype is None or draft.value(labels).dtype != dtype:
        rewriting.doubts["Labels and predictions are taken to be floats of one dtype."] = None
    mask = rewriting.mask(known.mask, end.node)
    function = rewriting.reader.row_mean(loss)
    errors = f"{tf}.{function}({tf}.where({mask}, {' - '.join(sides)}, {_number(dtype, 0)}))"
    name = rewriting.bind(end, errors, "errors")
    kind = f"{tf}.{dtype}" if dtype is not None else f"{name}.dtype"
    return f"{tf}.reduce_sum({name}) / {tf}.reduce_sum({tf}.cast({mask}, {kind}))"


def _reduced(rewriting: Rewriting, end: End, known: Kept) -> str:
    api, _, axis = end.how.partition(" ")
    if api in operations.MEANS:
        return _mean(rewriting, end, known, bool(axis))
    dtype = rewriting.draft.value(end.operand).dtype
    if dtype is None and is_count(rewriting.draft, end.operand):
        dtype = "int32"
    text = rewriting.render(end.operand)
    if api in operations.ANY | operations.ALL:
        return _truth(rewriting, end, known, text, api in operations.ANY)
    if api in operations.MAXIMA | operations.MINIMA:
        fill = _extreme(rewriting, end, dtype, api in operations.MAXIMA)
    elif api in operations.LOG_SUMS:
        fill = 'float("-inf")'
    elif api in operations.PRODUCTS_OVER:
        fill = _number(dtype, 1)
    else:
        fill = _number(dtype, 0)
        if rewriting.guards.zero_at(end.operand) == 0.0:
            return _call(rewriting, end, text)
    return _call(rewriting, end, rewriting.where(known, end.operand, text, fill))


def _call(rewriting: Rewriting, end: End, operand: str) -> str:
    """The call of an end with another operand."""
    assert isinstance(end.node, cst.Call)
    func = rewriting.source(end.node.func)
    rest = [rewriting.source(given) for given in end.node.args[1:]]
    if rewriting.fills_line(end, operand) and not operand.isidentifier():
        operand = rewriting.bound(end, operand, "kept") or operand
    return f"{func}({', '.join((operand, *rest))})"


def _mean(rewriting: Rewriting, end: End, known: Kept, has_axis: bool) -> str:
    tf = rewriting.tf
    assert isinstance(end.node, cst.Call)
    dtype = rewriting.draft.value(end.operand).dtype
    if dtype is not None and dtype.startswith(("int", "uint", "bool")):
        raise UnfitError
    text = rewriting.render(end.operand)
    trailing = known.trailing
    if trailing and not has_axis:
        axis = "-1" if trailing == 1 else str([-n for n in range(1, trailing + 1)])
        text = f"{tf}.reduce_mean({text}, axis={axis})"
        known = Kept(VALUES, known.mask, 0)
        total = rewriting.where(known, end.operand, text, _number(dtype, 0))
    elif rewriting.guards.zero_at(end.operand) == 0.0:
        total = text
    else:
        total = rewriting.where(known, end.operand, text, _number(dtype, 0))
    kind = f"{tf}.{dtype}" if dtype is not None else _dtype_of(rewriting, end.operand)
    if dtype not in _FLOATS:
        rewriting.doubts[
            _ROUNDED
            if dtype in _HALVES
            else "Floats of 32 or 64 bits are assumed: the mean of whole numbers was a whole number."
        ] = None
    if kind is None:
        total = kept = rewriting.bind(end, total, "kept")
        kind = f"{kept}.dtype"
    count = f"{tf}.reduce_sum({tf}.cast({rewriting.mask(known.mask, end.node)}, {kind}))"
    axis_given = argument(end.node, ("axis",), 1)
    axis_text = f", axis={rewriting.source(axis_given)}" if has_axis and axis_given else ""
    quotient = f"{tf}.reduce_sum({total}{axis_text}) / {count}"
    if rewriting.is_long(end, quotient) and not total.isidentifier():
        name = rewriting.bound(end, total, "kept")
        if name is not None:
            return f"{tf}.reduce_sum({name}{axis_text}) / {count}"
    return quotient


def _truth(rewriting: Rewriting, end: End, known: Kept, text: str, is_any: bool) -> str:
    mask = rewriting.where(known, end.operand, text, "False" if is_any else "True")
    return _call(rewriting, end, mask)


def _extreme(rewriting: Rewriting, end: End, dtype: str | None, is_maximum: bool) -> str:
    """What counts as the least (the greatest) number: what eager TensorFlow returns for an empty tensor."""
    if dtype is not None and dtype.startswith(("float", "bfloat")):
        rewriting.doubts[_TIES] = None
        return 'float("-inf")' if is_maximum else 'float("inf")'
    which = "min" if is_maximum else "max"
    if dtype is not None:
        return f"{rewriting.tf}.{dtype}.{which}"
    kind = _dtype_of(rewriting, end.operand)
    if kind is None:
        raise UnfitError
    extreme = "lowest" if is_maximum else "highest"
    rewriting.doubts[
        f"Where nothing is kept, the result is the {extreme} finite number, and was infinite for floats."
    ] = None
    return f"{kind}.{which}"


def _dtype_of(rewriting: Rewriting, node: cst.BaseExpression) -> str | None:
    """The dtype of an expression as code; None where it takes a name to ask."""
    known = rewriting.reader.kept(node)
    if known is None:
        return None
    if isinstance(node, cst.Name):
        text = rewriting.render(node)
        return f"{text}.dtype"
    if known.is_source:
        return f"{known.whole.value}.dtype" if isinstance(known.whole, cst.Name) else None
    if isinstance(node, cst.Call):
        api = rewriting.draft.api(node)
        if api not in operations.ELEMENTWISE or api in ("tf.cast", "tf.saturate_cast"):
            return None
    elif not isinstance(node, (cst.BinaryOperation, cst.UnaryOperation)):
        return None
    for operand in rewriting.reader.operands(node):
        if rewriting.reader.kept(operand) is not None:
            return _dtype_of(rewriting, operand)
    return None


def _count(rewriting: Rewriting, end: End, known: Kept) -> str:
    tf = rewriting.tf
    if known.mask.key in rewriting.numbers:
        return rewriting.numbers[known.mask.key]
    return f"{tf}.reduce_sum({tf}.cast({rewriting.mask(known.mask, end.node)}, {tf}.int32))"


def _picked(rewriting: Rewriting, end: End, known: Kept) -> str:
    tf = rewriting.tf
    if known.mask.is_vector is None:
        rewriting.doubts["The mask is taken to have one axis."] = None
    elif not known.mask.is_vector:
        raise UnfitError
    mask = rewriting.mask(known.mask, end.node)
    dtype = rewriting.draft.value(end.operand).dtype if known.kind != VALUES else "int32"
    size = f"{tf}.size({mask})" if dtype == "int32" else f"{tf}.size({mask}, {tf}.int64)"
    places = f"{tf}.range({size})"
    if end.how == FIRST:
        place = (
            f"{tf}.reduce_min({tf}.where({rewriting.mask(known.mask, end.node)}, {places}, {size}))"
        )
        none = "the number of elements" if known.kind != VALUES else "the last element under XLA"
    else:
        place = f"{tf}.reduce_max({tf}.where({rewriting.mask(known.mask, end.node)}, {places}, -1))"
        none = "-1" if known.kind != VALUES else "the first element under XLA"
    rewriting.doubts[f"Where nothing is kept, eager TensorFlow raises, and this is {none}."] = None
    if known.kind != VALUES:
        return place
    text = rewriting.render(end.operand)
    if rewriting.is_long(end, f"{tf}.gather({text}, {place})"):
        place = rewriting.bound(end, place, end.how) or place
    return f"{tf}.gather({text}, {place})"


def _scattered(rewriting: Rewriting, end: End, known: Kept) -> str:
    assert isinstance(end.node, cst.Call)
    draft, tf = rewriting.draft, rewriting.tf
    api = draft.api(end.node)
    is_new = api == "tf.scatter_nd"
    indices = argument(end.node, ("indices",), 0 if is_new else 1)
    updates = argument(end.node, ("updates",), 1 if is_new else 2)
    tensor = None if is_new else argument(end.node, ("tensor",), 0)
    assert indices is not None and updates is not None
    place = rewriting.reader.kept(indices)
    given = rewriting.reader.kept(updates)
    assert place is not None and place.kind == INDICES
    if given is None:
        fill = fill_of(draft, updates)
        if fill is None:
            raise UnfitError
        text, trailing = fill, 0
        if tensor is None:
            raise UnfitError
        rank = rewriting.reader.trailing(tensor, place.mask)
        if rank is None:
            rewriting.doubts[
                f"`{rewriting.source(tensor)}` is taken to have the shape of the mask."
            ] = None
        elif rank:
            raise UnfitError
    else:
        text = rewriting.render(updates)
        trailing = given.trailing or 0
    mask = rewriting.mask(place.mask, end.node, trailing)
    if is_new:
        rewriting.doubts["The result takes the shape of what is scattered."] = None
        return f"{tf}.where({mask}, {text}, {_number(draft.value(end.node).dtype, 0)})"
    assert tensor is not None
    target = rewriting.render(tensor)
    if api == "tf.tensor_scatter_nd_add":
        zero = _number(draft.value(end.node).dtype, 0)
        return f"{target} + {tf}.where({mask}, {text}, {zero})"
    if given is None:
        text = _filled(rewriting, text, target)
    return f"{tf}.where({mask}, {text}, {target})"


def _filled(rewriting: Rewriting, number: str, like: str) -> str:
    """A number as a tensor like another: tf.where takes the dtype from its first branch."""
    if number in ("0", "1"):
        return f"{rewriting.tf}.{'zeros' if number == '0' else 'ones'}_like({like})"
    return f"{rewriting.tf}.fill({rewriting.tf}.shape({like}), {number})"


def _number(dtype: str | None, number: int) -> str:
    """A number as the dtype has it. A whole one is taken by tensors of any number type."""
    if dtype == "bool":
        return str(bool(number))
    return (
        f"{number}.0"
        if dtype is not None and dtype.startswith(("float", "bfloat"))
        else f"{number}"
    )
