"""Looking facts up. A catalogue holds one row per API; `Api` objects are made when they are asked for, because a run of `check`
meets a few hundred of several thousand names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xlalint.semantics.catalog.entries import Api, Op, api_of
from xlalint.semantics.catalog.spellings import spellings_of

# Inputs of operations that tf.raw_ops gives another name.
_RAW_PARAMETERS = {"reduction_indices": "axis", "dim": "axis", "split_dim": "axis"}
_GENERATED_WRAPPER = re.compile(r"(?:(?:^|\.)gen_\w+_ops|^tf\.raw_ops)\.(\w+)$")


class Catalog:
    """The measured facts of one TensorFlow version."""

    __slots__ = (
        "_aliases",
        "_apis",
        "_keras_2",
        "_made",
        "_ops",
        "_squeezed",
        "keras",
        "tensorflow",
    )

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.tensorflow: str = raw["tensorflow"]
        self.keras: str | None = raw["keras"]
        self._ops: Mapping[str, Mapping[str, Any]] = raw["ops"]
        self._apis: Mapping[str, Mapping[str, Any]] = raw["apis"]
        self._aliases: Mapping[str, str] = raw["aliases"]
        self._made: dict[str, Api | None] = {}
        self._keras_2: dict[str, Api | None] = {}
        self._squeezed: dict[str, str] | None = None

    def api(self, name: str) -> Api | None:
        """Facts of `name` (`tf.reduce_sum`, `keras.ops.sum`, `tf.raw_ops.Unique`), or None for an unknown name.

        Takes every public spelling: aliases, `tf.compat.v2.*`, `tf.compat.v1.*` where it is the same function,
        `tf.keras.*` and `tf_keras.*`, and generated wrappers (`gen_array_ops.unique`).
        """
        if name not in self._made:
            canonical = self.canonical(name)
            self._made[name] = None if canonical is None else self._make(canonical)
        return self._made[name]

    def api_of_keras_2(self, name: str) -> Api | None:
        """Facts of `keras.layers.Dense` as Keras 2 has it, under that name.

        They are measured from tf_keras where TensorFlow brings Keras 3, and from TensorFlow's own Keras before that.
        """
        key = f"tf_{name}"
        if key not in self._keras_2:
            api = self.api(key)
            if api is not None and api.name.startswith("tf_keras."):
                api = replace(api, name=api.name.removeprefix("tf_"))
            self._keras_2[key] = api
        return self._keras_2[key]

    def op(self, op_type: str) -> Op | None:
        """Facts of one operation type, such as `UniqueWithCounts`, or None for an unknown one."""
        row = self._ops.get(op_type)
        if row is None:
            return None
        return Op(
            name=op_type,
            kernel=row.get("kernel", False),
            constant_inputs=tuple(row.get("constant_inputs", ())),
            data_sized=tuple(row.get("data_sized", ())),
            outputs=row.get("outputs", 1),
            is_host=row.get("host", False),
        )

    def canonical(self, name: str) -> str | None:
        """The name under which the catalogue holds `name`, or None."""
        for spelling in spellings_of(name):
            if spelling in self._apis:
                return spelling
            if spelling in self._aliases:
                return self._aliases[spelling]
            if spelling.startswith("tf.raw_ops.") and spelling[11:] in self._ops:
                return spelling
        return self._generated(name)

    def names(self) -> tuple[str, ...]:
        """Every canonical name that has a row of its own, sorted."""
        return tuple(sorted(self._apis))

    def spellings(self) -> tuple[str, ...]:
        """Every name that is written down: canonical names and aliases, sorted."""
        return tuple(sorted({*self._apis, *self._aliases}))

    def members(self, module: str) -> tuple[str, ...]:
        """The names that are written down right under `module` (`tf.math`), modules among them, sorted."""
        start = f"{module}."
        below = (name.removeprefix(start) for name in self.spellings() if name.startswith(start))
        return tuple(sorted({name.partition(".")[0] for name in below}))

    def emitters(self, op_type: str) -> tuple[str, ...]:
        """APIs whose graph holds an operation, sorted; those of `tf.compat.v1` last."""
        found = [name for name, row in self._apis.items() if op_type in row.get("ops", ())]
        return tuple(sorted(found, key=lambda name: (name.startswith("tf.compat."), name)))

    def has_row(self, name: str) -> bool:
        """Whether a canonical name has a row of its own; raw ops without one are told by the registry."""
        return name in self._apis

    def op_types(self) -> tuple[str, ...]:
        """Every operation type of this version, sorted."""
        return tuple(sorted(self._ops))

    def _generated(self, name: str) -> str | None:
        """`gen_math_ops.segment_sum` stands for the op `SegmentSum`; the words of both agree without underscores."""
        wrapper = _GENERATED_WRAPPER.search(name)
        if wrapper is None:
            return None
        if self._squeezed is None:
            self._squeezed = {op.lower(): op for op in self._ops}
        op = self._squeezed.get(wrapper[1].replace("_", "").lower())
        return None if op is None else f"tf.raw_ops.{op}"

    def _make(self, name: str) -> Api:
        row = self._apis.get(name)
        return self._raw_op(name) if row is None else api_of(name, row)

    def _raw_op(self, name: str) -> Api:
        """A raw op that was not traced by itself: the registry says whether it has a kernel."""
        op = self.op(name.removeprefix("tf.raw_ops."))
        assert op is not None  # `canonical` looked it up
        row: dict[str, Any] = {
            "status": "compiles" if op.kernel else "fails",
            "ops": [op.name],
            "data_sized": op.data_sized,
            "constant_args": tuple(_RAW_PARAMETERS.get(i, i) for i in op.constant_inputs),
            "returns": {0: "none", 1: "tensor"}.get(op.outputs, "structure"),
            "host": op.is_host,
        }
        if not op.kernel:
            row |= {"missing": [op.name], "reason": "no-kernel"}
        return api_of(name, row)
