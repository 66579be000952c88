"""What the message of a compiler's error says: its gist, and the operations that it names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NO_KERNEL = re.compile(
    r"(\w+) \(No registered '\w+' OpKernel for (XLA_\w+) devices compatible with node "
    r"((?:\{\{[^}]*\}\})+)(.*?)\)\{\{",
    re.S,
)
_NODE = re.compile(r"\{\{(function_node|node) ([^}]*)\}\}")
# Of what XLA's own passes say of an instruction: `metadata={op_name="cond/cholesky_solve/MatrixTriangularSolve"}`. What a tape adds
# stands where the gradient is asked for, which tells nothing.
_INSTRUCTION = re.compile(r'op_name="((?!gradient)[^"]+)"')
_BRACKETED = re.compile(r"\[\[([\w/.\-]+)\]\]")
# What `stubs` puts behind the names of functions.
_COPY = re.compile(r"_without_\d+$")
# `PartitionedCall_1/gradients/TopKV2_grad/range`: what TensorFlow makes to differentiate `TopKV2`.
_GRADIENT_OF = re.compile(r"(?:^|/)gradients/(.+?)_grad(?:_\d+)?/")
_EXCEPTION = re.compile(r"\s+[A-Z]\w*(?:Error|Exception)\b: ")

# Lines of a message that say nothing of the cause.
_EMPTY_WORDS = (
    "Graph execution error",
    "Detected at node",
    "<stack traces unavailable>",
    "Traceback (most",
    'File "',
)


@dataclass(frozen=True, slots=True)
class Suspect:
    """What an error message says of one operation: the type it names, the node, the function that holds it."""

    message: str
    op: str = ""
    node: str = ""
    function: str = ""


def suspects(message: str) -> list[Suspect]:
    """The operations that a message blames; one without a name where it blames none."""
    unsupported = []
    for match in _NO_KERNEL.finditer(message):
        nodes = _NODE.findall(match[3])
        function = next((name for kind, name in nodes if kind == "function_node"), "")
        types = " ".join(match[4].split())
        words = f"{match[1]} has no XLA kernel" + (
            f" for these types: {types[:160]}" if types else ""
        )
        unsupported.append(
            Suspect(words, match[1], nodes[-1][1].strip() if nodes else "", function)
        )
    if unsupported:
        return unsupported
    first = gist(message)
    nodes = [name.strip() for kind, name in _NODE.findall(message) if kind == "node"]
    nodes += _BRACKETED.findall(message)
    nodes = nodes or _INSTRUCTION.findall(message)
    names = list(dict.fromkeys(node for node in nodes if node))
    return [Suspect(first, node=name) for name in names] or [Suspect(first)]


def differentiated(suspect: Suspect, ops: Mapping[str, list[Any]]) -> Any:
    """The operation of the forward pass whose gradient is meant, by the name that TensorFlow gives what it makes for that."""
    named = _GRADIENT_OF.search(suspect.node)
    return None if named is None else match(Suspect(suspect.message, node=named[1]), ops)


def match(suspect: Suspect, ops: Mapping[str, list[Any]]) -> Any:
    """The operation that is meant, out of a program's operations by name; None where none fits."""
    found = ops.get(suspect.node, [])
    if (
        not found and suspect.node
    ):  # inlined calls put their own name first: StatefulPartitionedCall/x/Where
        tails = [name for name in ops if suspect.node.endswith("/" + name)]
        found = ops[max(tails, key=len)] if tails else []
    if suspect.op:
        found = [op for op in found if op.type == suspect.op] or found
    if suspect.function:
        # `__inference_step_12` names the graph `step`.
        name = _COPY.sub("", suspect.function.split("__inference_")[-1])
        stem = re.sub(r"_\d+$", "", name)
        found = [op for op in found if stem in getattr(op.graph, "name", "")] or found
    if not found and suspect.op:
        found = [op for same in ops.values() for op in same if op.type == suspect.op]
    return found[0] if found else None


def blamed_by_words(message: str, ops: Mapping[str, list[Any]]) -> Any:
    """The operation that a message without a node is about: the loop whose gradient has no bound."""
    if "fixed tensor list size" not in message:
        return None
    loops = [op for same in ops.values() for op in same if op.type in ("While", "StatelessWhile")]
    # The forward loop comes before the gradient's own.
    return loops[0] if loops else None


def gist(message: str) -> str:
    """The sentence that says what is wrong, out of a message with stacks and locations around it."""
    # Keras tells of a layer that fails, and then of the reason.
    text = message.partition("Error encountered:")[2] or message
    if "in user code:" in text:
        # The error itself follows the frames: `    OperatorNotAllowedInGraphError: Using a symbolic ...`.
        tail = [line.strip() for line in text.splitlines() if _EXCEPTION.match(line)]
        text = re.sub(r"^[A-Z]\w*(?:Error|Exception)\b: ", "", tail[-1]) if tail else text
    roots = re.findall(r"^\s*\(0\)\s+(.*)$", text, re.M)
    lines = [line.strip() for line in ([roots[0]] if roots else text.splitlines())]
    telling = [line for line in lines if line and not line.startswith(_EMPTY_WORDS)]
    line = telling[0] if telling else ""
    line = re.sub(r"\{\{function_node [^}]*\}\}", "", line)
    line = re.sub(r"^Failed getting HLO text: '", "", line)
    line = re.sub(r" You can attempt the following resolutions.*", "", line)
    sentence = re.match(r".{40,}?\.(?=\s[A-Z])", line)
    return sentence[0] if sentence else line[:400]
