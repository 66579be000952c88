"""A client of the PJRT C API (xla/pjrt/c/pjrt_c_api.h) by ctypes: topologies, compilation, what an executable needs.

Only functions that compile ahead of time: no client is made and no hardware is touched. The ABI is append-only within a
major version, so the places of functions in `PJRT_Api` and of fields in argument structures are those of the header.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Keep libtpu from asking metadata servers and hardware: it is only to compile.
ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    # Compiling needs no lock on the hardware, and another process may hold it.
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
}
MAJOR = 0
_POINTER = ctypes.c_void_p
_SIZE = ctypes.c_size_t
_INT64 = ctypes.c_int64
# `PJRT_Api` begins with its size, an extension pointer and a PJRT_Api_Version (size, pointer, major, minor).
_FUNCTIONS_AT = 40
_FUNCTIONS = {
    "Error_Destroy": 0,
    "Error_Message": 1,
    "Error_GetCode": 2,
    "Plugin_Initialize": 3,
    "DeviceDescription_Id": 23,
    "Executable_Destroy": 40,
    "Executable_GetCostAnalysis": 46,
    "Executable_OptimizedProgram": 48,
    "TopologyDescription_Create": 82,
    "TopologyDescription_Destroy": 83,
    "TopologyDescription_GetDeviceDescriptions": 86,
    "TopologyDescription_Attributes": 88,
    "Compile": 89,
    "Executable_GetCompiledMemoryStats": 96,
}
_CODES = {
    1: "CANCELLED",
    2: "UNKNOWN",
    3: "INVALID_ARGUMENT",
    4: "DEADLINE_EXCEEDED",
    5: "NOT_FOUND",
    8: "RESOURCE_EXHAUSTED",
    9: "FAILED_PRECONDITION",
    11: "OUT_OF_RANGE",
    12: "UNIMPLEMENTED",
    13: "INTERNAL",
    14: "UNAVAILABLE",
}


class PjrtError(RuntimeError):
    """What the library answered: `code` is a status name such as RESOURCE_EXHAUSTED."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class LibraryError(RuntimeError):
    """The library cannot be used: not a PJRT plugin, or of another version of the interface."""


def _struct(name: str, *members: tuple[str, Any]) -> type[ctypes.Structure]:
    head = [("struct_size", _SIZE), ("extension_start", _POINTER)]
    return type(name, (ctypes.Structure,), {"_fields_": [*head, *members]})


# PJRT_NamedValue_Type; what is none of these is a truth value.
_TEXT, _INTEGER, _INTEGERS, _REAL = range(4)


class _Value(ctypes.Union):
    _fields_ = (
        ("text", _POINTER),
        ("integer", _INT64),
        ("integers", ctypes.POINTER(_INT64)),
        ("real", ctypes.c_float),
        ("truth", ctypes.c_bool),
    )


_NamedValue = _struct(
    "NamedValue",
    ("name", _POINTER),
    ("name_size", _SIZE),
    ("type", ctypes.c_int),
    ("value", _Value),
    ("value_size", _SIZE),
)
_MESSAGE = _struct("Message", ("error", _POINTER), ("message", _POINTER), ("size", _SIZE))
_CODE = _struct("Code", ("error", _POINTER), ("code", ctypes.c_int))
_DESTROY = _struct("Destroy", ("object", _POINTER))
_INITIALIZE = _struct("Initialize")
_CREATE = _struct(
    "Create",
    ("name", ctypes.c_char_p),
    ("name_size", _SIZE),
    ("options", _POINTER),
    ("n_options", _SIZE),
    ("topology", _POINTER),
)
_DEVICES = _struct(
    "Devices", ("topology", _POINTER), ("found", ctypes.POINTER(_POINTER)), ("count", _SIZE)
)
_DEVICE_ID = _struct("DeviceId", ("description", _POINTER), ("id", ctypes.c_int))
_ATTRIBUTES = _struct(
    "Attributes", ("owner", _POINTER), ("found", ctypes.POINTER(_NamedValue)), ("count", _SIZE)
)
# A cost analysis counts before it lists.
_COSTS = _struct(
    "Costs", ("owner", _POINTER), ("count", _SIZE), ("found", ctypes.POINTER(_NamedValue))
)
_PROGRAM = _struct(
    "Program",
    ("code", _POINTER),
    ("code_size", _SIZE),
    ("format", ctypes.c_char_p),
    ("format_size", _SIZE),
)
_COMPILE = _struct(
    "Compile",
    ("topology", _POINTER),
    ("program", ctypes.POINTER(_PROGRAM)),
    ("options", ctypes.c_char_p),
    ("options_size", _SIZE),
    ("client", _POINTER),
    ("executable", _POINTER),
)
_SIZES = (
    "generated_code",
    "argument",
    "output",
    "alias",
    "temp",
    "host_generated_code",
    "host_argument",
    "host_output",
    "host_alias",
    "host_temp",
    "peak",
    "total",
)
_MEMORY = _struct("Memory", ("executable", _POINTER), *((name, _INT64) for name in _SIZES))
_OPTIMIZED = _struct("Optimized", ("executable", _POINTER), ("program", ctypes.POINTER(_PROGRAM)))


@dataclass(frozen=True, slots=True)
class Executable:
    """A compiled program: bytes by name (`argument`, `output`, `alias`, `temp`, `peak`...) on one device, XLA's cost
    analysis, and the optimized module as a serialized HloModuleProtoWithConfig."""

    memory: Mapping[str, int]
    costs: Mapping[str, float]
    optimized: bytes


@dataclass(frozen=True, slots=True)
class Topology:
    """A slice: the ids of its devices and its attributes (`device_memory_bytes_limit`...)."""

    handle: int
    devices: tuple[int, ...]
    attributes: Mapping[str, Any]


class Library:
    """libtpu, loaded and initialized. One per process; raises LibraryError where it cannot be used."""

    def __init__(self, path: Path) -> None:
        for name, value in ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        try:
            self._library = ctypes.CDLL(str(path))
            self._library.GetPjrtApi.restype = _POINTER
        except (OSError, AttributeError) as error:
            raise LibraryError(f"{path} is no PJRT plugin: {error}") from error
        self._api = int(self._library.GetPjrtApi())
        self._size = _SIZE.from_address(self._api).value
        self.version = tuple((ctypes.c_int * 2).from_address(self._api + 32))
        if self.version[0] != MAJOR or self._size < _FUNCTIONS_AT + 8 * (
            max(_FUNCTIONS.values()) + 1
        ):
            told = ".".join(map(str, self.version))
            raise LibraryError(
                f"{path} speaks version {told} of the PJRT C API, which is not known here"
            )
        self._call("Plugin_Initialize", _INITIALIZE())

    def topology(self, name: str, options: Mapping[str, str | list[int]] | None = None) -> Topology:
        """The slice called `name` (`v5e:2x4`), `options` by libtpu's names (`chips_per_host_bounds`).

        Raises PjrtError for one that libtpu does not know.
        """
        encoded = name.encode()
        given = [_given(key, value) for key, value in (options or {}).items()]
        listed = (_NamedValue * len(given))(*given)
        made = self._call(
            "TopologyDescription_Create",
            _CREATE(
                name=encoded,
                name_size=len(encoded),
                options=ctypes.addressof(listed),
                n_options=len(given),
            ),
        )
        handle = made.topology
        listed = self._call("TopologyDescription_GetDeviceDescriptions", _DEVICES(topology=handle))
        ids = [
            self._call("DeviceDescription_Id", _DEVICE_ID(description=listed.found[index])).id
            for index in range(listed.count)
        ]
        attributes = self._call("TopologyDescription_Attributes", _ATTRIBUTES(owner=handle))
        return Topology(handle, tuple(ids), _named(attributes.found, attributes.count))

    def compile(self, topology: Topology, hlo: bytes, options: bytes) -> Executable:
        """Compile a serialized HloModuleProto. Raises PjrtError with the compiler's words."""
        code = ctypes.create_string_buffer(hlo, len(hlo))
        format_ = b"hlo"
        program = _PROGRAM(
            struct_size=ctypes.sizeof(_PROGRAM),
            code=ctypes.addressof(code),
            code_size=len(hlo),
            format=format_,
            format_size=len(format_),
        )
        made = self._call(
            "Compile",
            _COMPILE(
                topology=topology.handle,
                program=ctypes.pointer(program),
                options=options,
                options_size=len(options),
            ),
        )
        try:
            return Executable(
                self._memory(made.executable),
                self._costs(made.executable),
                self._optimized(made.executable),
            )
        finally:
            self._call("Executable_Destroy", _DESTROY(object=made.executable))

    def _memory(self, executable: int) -> dict[str, int]:
        found = self._call("Executable_GetCompiledMemoryStats", _MEMORY(executable=executable))
        return {name: int(getattr(found, name)) for name in _SIZES}

    def _costs(self, executable: int) -> dict[str, float]:
        found = self._call("Executable_GetCostAnalysis", _COSTS(owner=executable))
        return {name: float(value) for name, value in _named(found.found, found.count).items()}

    def _optimized(self, executable: int) -> bytes:
        program = _PROGRAM(struct_size=ctypes.sizeof(_PROGRAM))
        asked = _OPTIMIZED(executable=executable, program=ctypes.pointer(program))
        self._call("Executable_OptimizedProgram", asked)  # without a buffer: tells the size
        code = ctypes.create_string_buffer(program.code_size)
        program.code = ctypes.addressof(code)
        self._call("Executable_OptimizedProgram", asked)
        return code.raw

    def _call(self, name: str, arguments: Any) -> Any:
        arguments.struct_size = ctypes.sizeof(arguments)
        error = self._function(name)(ctypes.addressof(arguments))
        if error:
            raise self._error(error)
        return arguments

    def _function(self, name: str) -> Any:
        address = _POINTER.from_address(self._api + _FUNCTIONS_AT + 8 * _FUNCTIONS[name]).value
        return ctypes.CFUNCTYPE(_POINTER, _POINTER)(address or 0)

    def _error(self, error: int) -> PjrtError:
        said = _MESSAGE(struct_size=ctypes.sizeof(_MESSAGE), error=error)
        self._function("Error_Message")(ctypes.addressof(said))
        message = ctypes.string_at(said.message, said.size).decode("utf-8", "replace")
        code = _CODE(struct_size=ctypes.sizeof(_CODE), error=error)
        self._function("Error_GetCode")(ctypes.addressof(code))
        gone = _DESTROY(struct_size=ctypes.sizeof(_DESTROY), object=error)
        self._function("Error_Destroy")(ctypes.addressof(gone))
        return PjrtError(_CODES.get(code.code, f"code {code.code}"), message)


def _given(name: str, value: str | list[int]) -> Any:
    """A named value to hand over; what it points to lives as long as it does."""
    made = _NamedValue(struct_size=ctypes.sizeof(_NamedValue), value_size=len(value))
    encoded = ctypes.create_string_buffer(name.encode())
    made.name, made.name_size = ctypes.addressof(encoded), len(name.encode())
    if isinstance(value, str):
        text = ctypes.create_string_buffer(value.encode())
        made.value.text, made.value_size = ctypes.addressof(text), len(value.encode())
        made.keeps = encoded, text
        return made
    numbers = (_INT64 * len(value))(*value)
    made.type, made.value.integers = _INTEGERS, ctypes.cast(numbers, ctypes.POINTER(_INT64))
    made.keeps = encoded, numbers
    return made


def _named(values: Any, count: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index in range(count):
        one = values[index]
        name = ctypes.string_at(one.name, one.name_size).decode()
        found[name] = _value(one)
    return found


def _value(one: Any) -> Any:
    if one.type == _TEXT:
        return ctypes.string_at(one.value.text, one.value_size).decode("utf-8", "replace")
    if one.type == _INTEGER:
        return int(one.value.integer)
    if one.type == _INTEGERS:
        return [one.value.integers[index] for index in range(one.value_size)]
    return float(one.value.real) if one.type == _REAL else bool(one.value.truth)
