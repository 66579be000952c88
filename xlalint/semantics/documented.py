"""What docstrings say of parameters: `scores: A float Tensor of shape [batch, n]`. Authors without annotations write it there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.results.composites import ARRIVES
from xlalint.semantics.results.dtypes import COMPLEX, NAMES, SOME_COMPLEX
from xlalint.semantics.values import (
    ARRIVING,
    COLLECTION,
    RAGGED,
    SOME_PYTHON,
    SPARSE,
    TENSOR,
    Value,
)

# `name: what it is`, `name (type): what it is`, `name {type} -- what it is`, `name : type`, `:param name: what it is` and
# `:type name: type`, one entry to a line; the names as Markdown has them, several of them with commas between.
_ENTRY = re.compile(
    r"([ \t]*)(?:[-*][ \t]+)?(?::(?:param|(type))[ \t]+)?[`*]*(\w+(?:[ \t]*,[ \t]*\w+)*)[`*]*"
    r"(?:[ \t]*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\{([^{}]*)\}(?=[ \t]*--)))?([ \t]*)(?::|(?<=[ \t])--)[ \t]*(\S.*)"
)
# Remarks that stand where a type may stand.
_SAYS_NO_TYPE = frozenset({"optional", "required"})
# So many lines of an entry are read: its first sentence.
_MOST_LINES = 4
_MARKUP = re.compile(r":(?:obj|class):|[`*~\"']|\b(?:tf|tensorflow)\.")
_END = re.compile(r"[.;](?:\s|$)|\bdefaults?\b", re.IGNORECASE)
_TENSOR = re.compile(r"(?<![\w.-])(?:[Tt]ensor|(Sparse|Ragged)Tensor)(?![\w-])")
_BRACKETS = re.compile(r"\[[^\]]*\]|\([^()]*\)|<[^>]*>")
# A scalar is documented as a tensor where Python's numbers are taken as readily.
_SCALAR = re.compile(r"\brank[- ]?(?:0|zero)\b|\b0-?d\b|\bscalar\b|\[\]", re.IGNORECASE)
# `pair (tf.Tensor): tuple of (loss, mask)`: a type that is one only of what is in it.
_SEVERAL = re.compile(
    r"(?:an?\s+|the\s+)?(?:nested\s+)?(?:tuples?|lists?|pairs?|sequences?|dict\w*|mappings?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]\w*")
_MOST_ADJECTIVES = 5
# Before the word "tensor", these say that something else is meant, or several things are possible: "list of", "shape of the", "int or".
_NO_ADJECTIVES = frozenset(
    "and or of to from for with in on by that which whose if when whether where not is are list lists tuple tuples dict "
    "dictionary mapping map sequence iterable nested nest structure structures set collection array arrays np numpy ndarray "
    "python callable function fn lambda name names shape shapes dtype type size sizes number count axis axes dimension "
    "dimensions str string layer layers spec flag sparse ragged graph torch keras symbolic eager index step none "
    "any union".split()
)
# What may follow it, where no punctuation does. ("Tensor name", "tensor product" and "tensor like" are other things.)
_FOLLOWING = frozenset(
    "of with in from to that which whose where containing representing holding indicating specifying describing denoting "
    "giving defining corresponding used as on at is has having or broadcastable".split()
)
# Who is asked for sizes in a tensor may pass them as a list as well.
_OF_SIZES = re.compile(
    r"\b(?:specifying|representing|indicating|containing|describing|giving|defining)\s+(?:\w+\s+){0,2}(?:dimensions?|sizes?|shapes?)\b",
    re.IGNORECASE,
)
# What else callers may pass, anywhere in the sentence, or after "or".
_ELSE = frozenset(
    "like convertible converted numpy np python ndarray array arrays structure structures nest list lists tuple union "
    "callable sequence tensors".split()
)
_OR_ELSE = frozenset(
    "float int integer integers number numbers scalar dict dictionary mapping nested iterable sparse sparsetensor ragged raggedtensor tensorarray str "
    "string bool constant function value object anything something variable_scope dataset".split()
)
_OR = re.compile(r"\bor\b|/|\|", re.IGNORECASE)
# "int", "An integer, the number of", "Python float.", "list of ints": what Python holds, unless a shape follows.
_PYTHON = re.compile(
    r"(?:\(?optional\)?[,:]?\s+)?(?:(?:an?|the)\s+)?(?:python\s+)?((?:list|tuple|sequence|iterable|pair)s?\s+of\s+(?:(?:two|three|python)\s+)?)?"
    r"(?:ints?|integers?|floats?|bools?|booleans?|str|strings?|numbers?)\b(?=\s*(?:$|[,.;:)(]|\bor None\b|values?\b|numbers?\b|flags?\b|"
    r"indicating\b|specifying\b|giving\b|whether\b|between\b|in\b|to\b|that\b|which\b|representing\b|for\b|greater\b|controlling\b|"
    r"describing\b|defining\b|of\b))",
    re.IGNORECASE,
)
_ARRAY = re.compile(
    r"(?:an?\s+)?(?:np\.(?:nd)?array|numpy[ .](?:nd)?array|ndarray)\b", re.IGNORECASE
)
_HAS_SHAPE = re.compile(r"tensor|array|matri|vector|shape|scalar|batch|\[", re.IGNORECASE)
_IS_COMPLEX = re.compile(
    r"\bcomplex(?:64|128)?(?:[- ]valued)?\s+(?:\w+\s+){0,2}(?:tensors?|matri(?:x|ces)|vectors?)\b|\bd?type:?\s+(?:tf\.)?complex(?:64|128)\b",
    re.IGNORECASE,
)
# "a real or complex matrix", "float or complex tensor": then nobody knows.
_IS_OPEN = re.compile(
    r"\b(?:real|float\w*|int\w*|or|and|if|whether|number|string|str|bool)\b", re.IGNORECASE
)


class _Entry(NamedTuple):
    """What is said of a parameter, and its type where that has a place of its own."""

    said: str
    type: str | None = None


def is_override(info: FunctionInfo) -> bool:
    """`@tf.experimental.dispatch_for_api(tf.pad)`: its words are those of the API, which takes lists for tensors."""
    return any(
        isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("dispatch_for_api")
        for decorator in info.decorators
    )


def parameter(info: FunctionInfo, name: str) -> Value | None:
    """What the docstring of a function promises of a parameter: one tensor, with the dtype that is named; a sparse or ragged
    one. None where it says something else, more than one thing, or nothing.
    """
    text = _docstring(info)
    if text is None or "ensor" not in text:
        return None
    entry = _entries(text).get(name)
    if entry is None:
        return None
    if entry.type and not _SAYS_NO_TYPE.issuperset(_words(entry.type)):
        is_several = "tensors" in entry.said or _SEVERAL.match(entry.said) is not None
        # "Tensor" and "a tensor of shape (2, n)" may be two tensors in a list, or a number; who writes `tf.Tensor` means one.
        is_one = "tf.Tensor" in entry.type
        sentence = _first_sentence(entry.said)
        is_number = not is_one and _SCALAR.search(sentence) is not None
        is_array = not is_one and _ARRAY.match(sentence) is not None and "ensor" not in sentence
        typed = None if is_several or is_number or is_array else _promised(entry.type)
        return None if typed is None else typed._replace(sure=is_one)
    return _promised(entry.said)


def python_value(info: FunctionInfo, name: str) -> Value | None:
    """A Python number, flag or text, or a list of them, where the docstring says that a parameter is one; None of all others."""
    text = _docstring(info)
    entry = None if text is None else _entries(text).get(name)
    if entry is None:
        return None
    is_typed = entry.type and not _SAYS_NO_TYPE.issuperset(_words(entry.type))
    sentence = _first_sentence(entry.type if entry.type and is_typed else entry.said)
    found = _PYTHON.match(sentence)
    if found is None or _HAS_SHAPE.search(sentence) is not None:
        return None
    return Value(COLLECTION, ref=SOME_PYTHON) if found[1] else SOME_PYTHON


def is_number(info: FunctionInfo, name: str) -> bool:
    """Whether the docstring of a function has in the place of a parameter's type that it is a number: `start {Number} -- ...`, `n (int): ...`.

    Of `(float)`, authors mean tensors as readily.
    """
    text = _docstring(info)
    entry = None if text is None else _entries(text).get(name)
    return entry is not None and _NUMBER.fullmatch((entry.type or "").strip()) is not None


_NUMBER = re.compile(r"(?:python )?(?:number|int|integer)(?:,? optional)?", re.IGNORECASE)


def is_array(info: FunctionInfo, name: str) -> bool:
    """Whether the docstring of a function says that a parameter is an array of NumPy's, and nothing of tensors."""
    text = _docstring(info)
    if text is None or _ARRAY.search(text) is None:
        return False
    entry = _entries(text).get(name, _Entry(""))
    said = entry.type or _first_sentence(entry.said)
    return _ARRAY.match(said) is not None and "ensor" not in said


def complex_dtype(info: FunctionInfo, name: str) -> str | None:
    """The dtype of a parameter that is documented as a complex tensor, `dtypes.SOME_COMPLEX` of no width; None of all others."""
    text = _docstring(info)
    if text is None or "complex" not in text:
        return None
    entry = _entries(text).get(name, _Entry(""))
    said = f"{entry.type}: {entry.said}" if entry.type else entry.said
    if _IS_COMPLEX.search(said) is None or _IS_OPEN.search(said) is not None:
        return None
    named = {dtype for dtype in COMPLEX if dtype in said}
    return named.pop() if len(named) == 1 else SOME_COMPLEX


def is_for_tensors(info: FunctionInfo) -> bool:
    """Whether a public function of a module says that one of its parameters is a tensor, or may be: `np.ndarray or tf.Tensor`."""
    if info.parent is not None or info.cls is not None or info.name.startswith("_"):
        return False
    if any("tf.Tensor" in ast.unparse(each) for each in info.annotations.values()):
        return True
    text = _docstring(info)
    if text is None or "tf.Tensor" not in text:
        return False
    entries = _entries(text)
    return any(
        "tf.Tensor" in (entries[name].type or "") for name in info.parameter_names & entries.keys()
    )


def _docstring(info: FunctionInfo) -> str | None:
    return None if isinstance(info.node, ast.Lambda) else ast.get_docstring(info.node, clean=False)


@lru_cache(maxsize=64)
def _entries(text: str) -> Mapping[str, _Entry]:
    """What a docstring says of each name. Results are listed behind parameters, under the same names: the first counts."""
    found: dict[str, _Entry] = {}
    for names, entry in _split(text):
        for name in (part.strip() for part in names.split(",")):
            if name not in found:
                found[name] = entry
            elif not entry.said and found[name].type is None:
                found[name] = entry._replace(said=found[name].said)  # `:type x: Tensor`
    return found


def _split(text: str) -> Iterator[tuple[str, _Entry]]:
    """Each entry with its names, the first lines of it as one."""
    names, kind, indent = "", None, 0
    lines: list[str] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if names and depth > indent and len(lines) < _MOST_LINES and line.strip():
            lines.append(line.strip())
            continue
        if names:
            yield names, _Entry(" ".join(lines), kind)
        names = ""
        found = _ENTRY.match(line)
        if found is not None:
            indent, names = len(found[1]), found[3]
            written, said = found[4] or found[5], found[7]
            is_type = found[2] or (found[6] and not written)  # `:type x: Tensor`, `x : Tensor`
            kind, lines = (said, []) if is_type else (written, [said])
    if names:
        yield names, _Entry(" ".join(lines), kind)


def _promised(said: str) -> Value | None:
    """What the first sentence about a parameter promises."""
    sentence = _first_sentence(said)
    found = _TENSOR.search(sentence)
    if found is None:
        return None
    before = _words(sentence[: found.start()])
    after = sentence[found.end() :]
    if len(before) > _MOST_ADJECTIVES or not _NO_ADJECTIVES.isdisjoint(before):
        return None
    if _SCALAR.search(sentence) or _is_something_else(after):
        return None
    if found[1] is not None:
        if _TENSOR.search(after):
            return None
        return Value(RAGGED if found[1] == "Ragged" else SPARSE, ARRIVING, ref=ARRIVES, sure=False)
    # "`Tensor` representing the value(s) of the momentum": one, or a list of them.
    may_be_several = "(s)" in after
    return Value(TENSOR, ARRIVING, dtype=_dtype(sentence), sure=False, structured=may_be_several)


def _first_sentence(said: str) -> str:
    """The first sentence without markup."""
    sentence = _MARKUP.sub("", said).strip()
    ending = _END.search(sentence)
    return sentence if ending is None else sentence[: ending.start()]


def _words(text: str) -> list[str]:
    """The words of a text but those in brackets, in small letters."""
    return [word.lower() for word in _WORD.findall(_BRACKETS.sub(" ", text))]


def _is_something_else(after: str) -> bool:
    """Whether what follows the word makes it mean another thing, or names what else callers may pass."""
    following = re.match(r"\s*(\w+)", after)
    if following is not None and following[1].lower() not in _FOLLOWING:
        return True
    if _OF_SIZES.search(after) is not None:
        return True
    if not _ELSE.isdisjoint(word.lower() for word in _WORD.findall(after)):
        return True
    return any(not _OR_ELSE.isdisjoint(_words(choice)[:4]) for choice in _OR.split(after)[1:])


def _dtype(sentence: str) -> str | None:
    """The one dtype that a sentence names; `bool` is one, `float` may be any of several."""
    words = {"bool" if word == "boolean" else word for word in _WORD.findall(sentence)}
    named = words & NAMES
    return named.pop() if len(named) == 1 and "string" not in named else None
