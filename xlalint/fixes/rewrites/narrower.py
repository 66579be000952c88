"""XLA404: the narrower dtype, where the wide one is written at the very call that a TPU has no numbers for."""

from __future__ import annotations

import libcst as cst

from xlalint.finding import Fix
from xlalint.fixes.calls import argument, call_at, spreads, with_value
from xlalint.fixes.draft import Draft
from xlalint.fixes.site import UNSAFE, Site, fix, replace

MENDS = ("XLA404",)

# Where the dtype is written: its place among the parameters.
_DRAWS = {"tf.random.normal": 3, "tf.random.truncated_normal": 3, "tf.random.uniform": 3}


def propose(site: Site) -> Fix | None:
    """float64 random numbers drawn as float32 and cast, complex128 to complex64, `set_floatx("float64")` to float32."""
    draft = site.draft
    call = call_at(draft, site.node)
    if call is None or spreads(call):
        return None
    api = draft.api(call.func) or ""
    if api in _DRAWS:
        return _drawn(site, call, argument(call, "dtype", _DRAWS[api]))
    if api == "tf.cast":
        return _complex(site, argument(call, "dtype", 1))
    if api in ("keras.backend.set_floatx", "keras.config.set_floatx"):
        return _floatx(site, call)
    return None


def _drawn(site: Site, call: cst.Call, given: cst.Arg | None) -> Fix | None:
    draft = site.draft
    narrow = _narrowed(draft, given, "float64", "float32")
    if given is None or narrow is None:
        return None
    tensorflow, imports = draft.import_tensorflow()
    whole, wide = draft.code(call), draft.code(given)
    narrowed = wide[: wide.rindex(draft.code(given.value))] + narrow
    if whole.count(wide) != 1:
        return None
    code = f"{tensorflow}.cast({whole.replace(wide, narrowed)}, {tensorflow}.float64)"
    return fix(
        UNSAFE,
        "Draw in float32 and cast: the numbers are others, and have 24 bits",
        replace(draft, call, code),
        *imports,
    )


def _complex(site: Site, given: cst.Arg | None) -> Fix | None:
    narrow = _narrowed(site.draft, given, "complex128", "complex64")
    if given is None or narrow is None:
        return None
    return fix(
        UNSAFE,
        "Compute in complex64, in half the digits; what it meets must be complex64, too",
        with_value(site.draft, given, narrow),
    )


def _floatx(site: Site, call: cst.Call) -> Fix | None:
    given = argument(call, "value", 0)
    given = given or argument(call, "floatx")
    narrow = _narrowed(site.draft, given, "float64", "float32")
    if given is None or narrow is None:
        return None
    return fix(
        UNSAFE,
        "Compute in float32, in half the digits; arrays that are passed in must be float32, too",
        with_value(site.draft, given, narrow),
    )


def _narrowed(draft: Draft, given: cst.Arg | None, wide: str, narrow: str) -> str | None:
    """`tf.float64` or `"float64"` as it is written, with the narrower name."""
    if given is None:
        return None
    code = draft.code(given.value)
    is_name = isinstance(given.value, cst.Attribute) and given.value.attr.value == wide
    is_text = isinstance(given.value, cst.SimpleString) and given.value.evaluated_value == wide
    return code.replace(wide, narrow) if is_name or is_text else None
