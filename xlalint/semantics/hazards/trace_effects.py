"""What Python does while tracing and not when the program runs: clocks and dice, counters, lists that collect tensors, new state.

Tracing runs a function once, both arms of its conditionals and one step of its loops. What it drew, counted or collected stays
as it was then; a tensor made inside a conditional or a loop cannot be used outside of it; and variables may be made in the
first trace only (all measured, TensorFlow 2.21).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from xlalint.semantics.facts import COMPILED, TRACE_EFFECT
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.names import api_name
from xlalint.semantics.syntax import last_name, nodes_of
from xlalint.semantics.values import PYTHON, TENSOR_ARRAY, Value

FROZEN = "frozen"
COUNTED = "counted"
STALE = "stale"
LEAKED = "leaked"
COLLECTED = "collected"
REBOUND = "rebound"
STATE = "state"
TOLD = "told"
KEPT = "kept"
CACHED = "cached"
BUILT = "built"
REMEMBERED = "remembered"
DROPPED = "dropped"
# Where variables are made that no trace finds made before.
EVERY_TIME = "every time"


class TraceEffect(NamedTuple):
    """An effect of tracing: its kind, the name or API it is about, and the construct it happens in."""

    kind: str
    name: str
    where: str = ""


_CLOCKS = frozenset(
    "time.time time.time_ns time.perf_counter time.monotonic time.process_time datetime.datetime.now datetime.datetime.utcnow "
    "datetime.datetime.today datetime.date.today os.urandom secrets.token_bytes secrets.randbelow".split()
)
_DICE = re.compile(
    r"^(random|np\.random)\.(random|rand\w*|uniform|normal\w*|standard_\w+|choice|choices|shuffle|permut\w+|sample|gauss|triangular|"
    r"beta|gamma|poisson|binomial|exponential|integers|laplace|getrandbits|betavariate|expovariate|bytes)$"
)
# Keras layers with weights of their own; in Keras 3 also those with a stream of random numbers, which is a variable there.
_WEIGHTED = re.compile(
    r"^keras\.layers\.(Dense|EinsumDense|Embedding|ReversibleEmbedding|\w*Conv\w*|LocallyConnected[12]D|(?!Unit)\w*Normalization|"
    r"(LSTM|GRU|SimpleRNN)(Cell)?|MultiHeadAttention|GroupQueryAttention|AdditiveAttention|PReLU|STFTSpectrogram)$"
)
_RANDOM_LAYERS = re.compile(
    r"^keras\.layers\.(\w*Dropout\w*|Gaussian\w+|Random\w+|RandAugment|AugMix|CutMix|MixUp|Solarization)$"
)
_MAKES_VARIABLES = frozenset(
    {
        "tf.Variable",
        "keras.Variable",
        "tf.random.Generator.from_seed",
        "tf.random.Generator.from_non_deterministic_state",
        "tf.random.Generator.split",
        "keras.random.SeedGenerator",
    }
)
_MAKES_STATE = _MAKES_VARIABLES | {
    "keras.Sequential",
    "keras.backend.variable",
    "keras.backend.zeros",
    "keras.backend.ones",
    "keras.backend.eye",
}
_STATEFUL_OBJECTS = re.compile(r"^keras\.(optimizers|metrics)\.[A-Z]\w+$")


def has_weights(name: str) -> bool:
    """Whether a layer of Keras has weights of its own."""
    return _WEIGHTED.match(name) is not None


def note_call(name: str, node: ast.AST, frame: Frame) -> None:
    """A call of another package's function in compiled code."""
    note_told(name, node, frame)
    if not frame.context.is_compiled or frame.silent:
        return
    if name in _CLOCKS or (name.startswith(("random.", "np.random.")) and _DICE.match(name)):
        frame.analysis.note(frame, node, TRACE_EFFECT, Value(PYTHON), TraceEffect(FROZEN, name))
    elif frame.context.region == COMPILED and _makes_state(name, frame):
        if not (is_first_time(node, frame) or _is_of_layers_at_hand(name, node, frame)):
            when = (
                EVERY_TIME if makes_variables(name, frame) and _is_every_time(node, frame) else ""
            )
            effect = TraceEffect(STATE, name, when)
            frame.analysis.note(frame, node, TRACE_EFFECT, Value(PYTHON), effect)


_WRITES = frozenset({"write", "unstack", "scatter", "split"})


def note_dropped(node: ast.Expr, value: Value, frame: Frame) -> None:
    """`array.write(i, x)` as a statement of its own: eager TensorFlow writes into the array, a graph makes another one."""
    call = node.value
    if value.kind is not TENSOR_ARRAY or not frame.context.is_compiled or frame.silent:
        return
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        if call.func.attr in _WRITES:
            effect = TraceEffect(DROPPED, ast.unparse(call.func.value))
            frame.analysis.note(frame, call, TRACE_EFFECT, value, effect)


def note_weight(attr: str, node: ast.AST, frame: Frame) -> None:
    """`self.kernel = self.add_weight(...)` in `call`, with nothing that asks whether it was made before."""
    if not frame.context.is_compiled or frame.silent or frame.context.region != COMPILED:
        return
    if not any(each.name == "call" for each in _since_traced(frame)):
        return
    if is_first_time(node, frame):
        return
    if _is_every_time(node, frame):
        effect = TraceEffect(STATE, f"self.{attr}", EVERY_TIME)
        frame.analysis.note(frame, node, TRACE_EFFECT, Value(PYTHON), effect)


def _is_every_time(node: ast.AST, frame: Frame) -> bool:
    """Whether each trace comes by: a statement of the compiled function itself, or of a method that it calls, which nothing in front of it may
    leave.
    """
    function = frame.function
    way = _since_traced(frame)
    if function is None or frame.constructs or not way or way[-1] is not function:
        return False
    for caller, callee in pairwise(way):
        statements = _always_run(caller)
        if not any(_calls(part, callee.name) for each in statements for part in nodes_of([each])):
            return False
    line: int = getattr(node, "lineno", 0)
    return any(
        isinstance(each, (ast.Assign, ast.AnnAssign))
        and each.lineno <= line <= (each.end_lineno or line)
        for each in _always_run(function)
    )


def _since_traced(frame: Frame) -> list[FunctionInfo]:
    """What is running, from the function that is compiled or from the `call` of the innermost layer on."""
    root, running = frame.context.root, frame.analysis.functions.running
    if root is None or root not in running:
        return []
    layers = [place for place, each in enumerate(running) if each.name == "call"]
    return running[max([running.index(root), *layers[-1:]]) :]


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)


def _always_run(function: FunctionInfo) -> Iterator[ast.stmt]:
    """The simple statements of a function that nothing leaves it before."""
    statements = function.node.body if isinstance(function.node.body, list) else []
    for statement in statements:
        if isinstance(statement, _SIMPLE):
            yield statement
        if any(isinstance(part, (ast.Return, ast.Raise)) for part in nodes_of([statement])):
            return


_TELLS = re.compile(
    r"^(print|warnings\.warn|(absl\.)?logging\.(debug|info|warning|warn|error|critical|exception|log|fatal))$"
)


def note_told(name: str, node: ast.AST, frame: Frame) -> None:
    """`print` under a tensor condition: tracing goes through both arms, once, and prints what either has to say."""
    arm = frame.constructs[-1] if frame.constructs else None
    if not isinstance(arm, ast.If) or not _TELLS.match(name) or frame.silent:
        return
    if frame.context.region == COMPILED and frame.context.converted:
        frame.analysis.note(frame, node, TRACE_EFFECT, Value(PYTHON), TraceEffect(TOLD, name))


def _makes_state(name: str, frame: Frame) -> bool:
    plain = api_name(name)
    if plain in _MAKES_STATE or is_weighted(name) or _STATEFUL_OBJECTS.match(plain):
        return True
    return makes_variables(name, frame)


def _is_of_layers_at_hand(name: str, node: ast.AST, frame: Frame) -> bool:
    """`keras.Sequential(self.blocks[:3])`: layers that were made before, which have their weights."""
    if api_name(name) != "keras.Sequential" or not isinstance(node, ast.Call) or not node.args:
        return False
    given = node.args[0]
    if isinstance(given, ast.Name) and frame.function is not None:
        for statement in frame.function.telling:
            if isinstance(statement, ast.Assign) and given.id in map(last_name, statement.targets):
                if _makes_anything(statement.value):
                    return False
    return not _makes_anything(given)


def _makes_anything(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Call) for part in nodes_of([node]))


def is_weighted(name: str) -> bool:
    """Whether `name` is a layer of Keras that makes variables when it is called for the first time."""
    return _WEIGHTED.match(api_name(name)) is not None


def makes_variables(name: str, frame: Frame) -> bool:
    """Whether calling `name` makes variables there and then."""
    plain = api_name(name)
    if plain in _MAKES_VARIABLES:
        return True
    is_keras_2 = name.startswith("tf_keras.") or frame.analysis.keras == "2"
    return not is_keras_2 and _RANDOM_LAYERS.match(plain) is not None


# Functions that set an object up, once.
_SETS_UP = re.compile(r"^_*(__init__|init\w*|build\w*|create\w*|make\w*|setup\w*|get_\w+)$")


def is_first_time(node: ast.AST, frame: Frame) -> bool:
    """In `build` and what it calls, in a property, behind `if self.v is None` or in a handler: made by the first trace alone. An
    Estimator builds the graph of its `model_fn` once.
    """
    if frame.context.why[:1] == ("Estimator",):
        return True
    running = frame.analysis.functions.running
    for info in running:
        if _SETS_UP.match(info.name) or frame.analysis.traits(info).is_property:
            return True
    line: int = getattr(node, "lineno", 0)
    if any(
        part.lineno <= line <= (part.end_lineno or line)
        and (isinstance(part, ast.ExceptHandler) or _is_once(part, frame.function, frame))
        for part in _exceptions_to_the_rule(frame.function)
    ):
        return True
    return any(
        _is_once(part, caller, frame)
        and any(_calls(each, callee.name) for each in nodes_of(part.body))
        for caller, callee in pairwise(running)
        for part in _conditionals(caller)
    )


def _exceptions_to_the_rule(info: FunctionInfo | None) -> Iterator[ast.If | ast.ExceptHandler]:
    """Conditionals and handlers: `try: self.means[name]` finds what the first trace made, `except KeyError:` makes it."""
    body = info.node.body if info is not None and isinstance(info.node.body, list) else []
    return (part for part in nodes_of(body) if isinstance(part, (ast.If, ast.ExceptHandler)))


def _conditionals(info: FunctionInfo | None) -> Iterator[ast.If]:
    body = info.node.body if info is not None and isinstance(info.node.body, list) else []
    return (part for part in nodes_of(body) if isinstance(part, ast.If))


def _calls(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    return (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) == name


def _is_once(part: ast.If, info: FunctionInfo | None, frame: Frame) -> bool:
    """`if self.v is None: ...`, and `if self.is_first: ...; self.is_first = False`."""
    if _asks_for_state(part.test):
        return not _asks_for_setting(part.test, info, frame)
    asked = ast.unparse(part.test)
    return any(
        isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Constant)
        and any(ast.unparse(target) == asked for target in each.targets)
        for each in part.body
    )


def _asks_for_state(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return True  # `if not self.built`, `if not cache`
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn):
        # `if name not in self.means`, not `if mode not in ("a", "b")`.
        return isinstance(test.comparators[0], (ast.Name, ast.Attribute))
    text = ast.unparse(test)
    return "None" in text or "hasattr" in text or "built" in text


def _asks_for_setting(test: ast.expr, info: FunctionInfo | None, frame: Frame) -> bool:
    """`if not self.causal` of what a constructor keeps, and nothing changes: as it is the first time, it is every time."""
    if not isinstance(test, ast.UnaryOp) or info is None or info.cls is None:
        return False
    asked = test.operand
    if not isinstance(asked, ast.Attribute) or not isinstance(asked.value, ast.Name):
        return False
    constructor = info.cls.methods.get("__init__")
    # Not `self.sums = {}`, which fills.
    stored = constructor is not None and any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, (ast.Name, ast.Constant))
        and ast.unparse(node.targets[0]) == ast.unparse(asked)
        for node in constructor.telling
    )
    return stored and frame.analysis.configurations.keeps(info.cls, asked.attr)


def note_count(node: ast.AugAssign, target: Value, added: Value, frame: Frame) -> None:
    """`self.calls += 1`, or a global: Python adds while tracing, and never again."""
    if target.kind is not PYTHON or added.kind is not PYTHON or frame.context.region != COMPILED:
        return
    if isinstance(node.target, ast.Attribute):
        owner = node.target.value
        if not isinstance(owner, ast.Name) or owner.id != frame.self_name:
            return
    elif not (isinstance(node.target, ast.Name) and _is_global(node.target.id, frame)):
        return
    if frame.function is not frame.context.root:
        return  # a helper that numbers what it traces
    name = ast.unparse(node.target)
    if _reads(frame, name) > 0:
        return
    frame.analysis.note(frame, node.target, TRACE_EFFECT, target, TraceEffect(COUNTED, name))


def _reads(frame: Frame, name: str) -> int:
    """How often the function reads a name or attribute: what it reads while tracing, it may count for that."""
    body = frame.function.node.body if frame.function is not None else []
    return sum(
        ast.unparse(part) == name
        for part in nodes_of(body if isinstance(body, list) else [body])
        if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Load)
    )


def _is_global(name: str, frame: Frame) -> bool:
    body = frame.function.node.body if frame.function is not None else None
    return isinstance(body, list) and any(
        isinstance(part, ast.Global) and name in part.names
        for part in nodes_of(body, into_functions=False)
    )
