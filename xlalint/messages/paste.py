"""Read what somebody pasted: colours, log prefixes, quote marks and line wraps removed, stack frames found."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|(?<![\w\]])\[(?:0|1|[0-9]{1,2}(?:;[0-9]{1,2})*)m|\[0m")
_QUOTE = re.compile(r"^(?:\s*>)+ ?|^E {3}(?: {4})?|^\s*\|(?= )")
_LOG = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?\]?:? )?(?:[IWEF](?:\d{4} [\d:.]+ +\d+)? [\w/.\-]+\.(?:cc|h|py):\d+\] )"
    r"|^\[[\w\-]+(?:,\d+)?\]<\w+>:|^\(\w+ pid=\d+[^)]*\) "
)
_STRAIGHT = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u200b": ""})

# The ways in which Python, IPython, pytest and AutoGraph write a frame.
_FRAMES = (
    re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>[^\s*]+))?'),
    re.compile(
        r"^\s*(?P<path>(?:/|~|\.|<ipython|[A-Za-z]:\\)[^\s:]+):(?P<line>\d+) (?P<function>[\w.<>]+) *\*?\s*$"
    ),
    re.compile(
        r"^\s*(?P<path>(?:/|~|\.)?[\w/.\-]+\.py):(?P<line>\d+): (?:in )?(?P<function>\w+)\s*$"
    ),
)
_IPYTHON = re.compile(
    r"^\s*(?P<path>(?:/|~|<ipython-input|(?:Cell |Input )In ?\[?\d*)[^\s]*(?: \[\d+\])?)(?:,? in | line )(?P<function>[^(,]*)"
)
_ARROW = re.compile(r"^\s*-{2,}> ?(?P<line>\d+) (?P<text>.*)$")

# Whose frames are nobody's own code.
_MACHINERY = re.compile(
    r"(?:site|dist)-packages/(?:tensorflow|keras|tf_keras|numpy|wrapt|six|absl|jax|optree|IPython|ipykernel|_pytest|pluggy)\b"
    r"|(?:^|/)(?:tensorflow|keras|tf_keras)/(?:python|src|core|engine|compiler)\b|/lib/python\d[\d.]*/(?!site-packages|dist-packages)"
    r"|__autograph_generated|<frozen|runpy\.py|importlib/|ipykernel_launcher|threading\.py|^<string>$"
)
_INSTALLED = re.compile(r"(?:site|dist)-packages/")


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a stack: path and line as pasted (line 0 where it is not told), function, and the line's text."""

    path: str
    line: int
    function: str
    text: str

    @property
    def is_own(self) -> bool:
        """Is it code of the one who pasted it, or of a package other than TensorFlow and Keras?"""
        return not _MACHINERY.search(self.path)

    @property
    def is_installed(self) -> bool:
        return bool(_INSTALLED.search(self.path))


@dataclass(frozen=True, slots=True)
class Paste:
    """`readings` are the text on one line: with spaces for line ends, and with none, as terminals wrap words."""

    readings: tuple[str, str]
    frames: tuple[Frame, ...]

    @property
    def place(self) -> Frame | None:
        """The innermost frame of somebody's own code; None where the paste has none."""
        own = [frame for frame in self.frames if frame.is_own]
        return own[-1] if own else None

    @property
    def called_from(self) -> Frame | None:
        """The innermost frame outside installed packages, where `place` is inside one."""
        own = [frame for frame in self.frames if frame.is_own and not frame.is_installed]
        place = self.place
        return own[-1] if own and place is not None and place.is_installed else None


def read(text: str) -> Paste:
    """What a pasted text holds."""
    lines = [_clean(line) for line in text.translate(_STRAIGHT).splitlines()]
    spaced = " ".join(" ".join(lines).split())
    return Paste((spaced, "".join(line.rstrip("\n") for line in lines)), tuple(_frames(lines)))


def _clean(line: str) -> str:
    line = _COLOR.sub("", html.unescape(line))
    before = None
    while before != line:
        before = line
        line = _LOG.sub("", _QUOTE.sub("", line))
    return line


def _frames(lines: list[str]) -> list[Frame]:
    found: list[Frame] = []
    waiting: tuple[str, str] | None = (
        None  # IPython's path and function, whose line comes with an arrow
    )
    for index, line in enumerate(lines):
        arrow = _ARROW.match(line)
        if arrow and waiting:
            found.append(Frame(*_split(waiting[0]), waiting[1], arrow["text"].strip()))
            found[-1] = Frame(
                found[-1].path, int(arrow["line"]), found[-1].function, found[-1].text
            )
            waiting = None
            continue
        match = next((m for pattern in _FRAMES if (m := pattern.match(line))), None)
        if match:
            following = lines[index + 1].strip() if index + 1 < len(lines) else ""
            is_code = bool(following) and not any(p.match(lines[index + 1]) for p in _FRAMES)
            text = following if is_code and lines[index + 1][:1] in " \t" else ""
            found.append(Frame(match["path"], int(match["line"]), match["function"] or "", text))
            continue
        told = _IPYTHON.match(line)
        if told:
            waiting = (told["path"], told["function"].strip())
    return found


def _split(path: str) -> tuple[str, int]:
    return path, 0
