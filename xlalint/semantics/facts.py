"""What the analysis tells the rules: facts about single nodes, asked for by the span of the node.

A fact says what was seen (a tensor used as a condition, a mask used as an index, a call of an API with a hazard) and in
which context. Whether that is a finding, and how bad, is the rules' business.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xlalint.semantics.hazards import families
from xlalint.semantics.index import FunctionInfo, ModuleInfo
from xlalint.semantics.values import CAPTURED, CONSTANT, Value

COMPILED = "compiled"
ASSUMED = "assumed"
EAGER = "eager"


class Context(NamedTuple):
    """Where code runs. `converted`: AutoGraph rewrites this function. `jit`: under an explicit jit_compile=True.

    `why` is the chain of calls from the entry point inwards, `root` the function at its start. `may_convert` is False
    where AutoGraph was turned off (autograph=False, do_not_convert, what `fit` of Keras 3 runs): there Keras 2 does not convert `call`
    either, nor tf.map_fn its function.
    """

    region: str
    converted: bool
    jit: bool = False
    why: tuple[str, ...] = ()
    root: FunctionInfo | None = None
    may_convert: bool = True

    @property
    def is_compiled(self) -> bool:
        return self.region == COMPILED or self.region == ASSUMED

    def key(self) -> tuple[str, bool, bool, bool]:
        return (self.region, self.converted, self.jit, self.may_convert)


# Kinds of facts.
CONDITION = "condition"  # values: the test
STARTED_IN_PYTHON = (
    "while-started"  # detail of a condition: a `while` whose test becomes a tensor after a step
)
COMPREHENSION_FILTER = "comprehension-filter"
MEMBERSHIP = "membership"
CALL = "call"  # api, arguments by parameter name
ARRAY_ITEM = "array-item"  # a NumPy array indexed with a tensor, or given one to store
CONVERSION = "conversion"  # int(t), float(t), bool(t)...
CAST_OPERAND = "cast-operand"  # an operation on what AutoGraph made of int(t); detail: the name and the other dtype
NUMPY_METHOD = "numpy-method"
NUMPY_CALL = "numpy-call"
ARRAY_LIBRARY = "array-library"  # detail of a NUMPY_CALL: the function is of another library
FORMATTING = "formatting"
KERAS_LOOP = "keras-loop"  # `model.predict(x)`: Keras drives it, and works on arrays
WEIGHTS_AS_ARRAYS = "weights-as-arrays"  # `layer.get_weights()`
READ_AS_PYTHON = "read-as-python"  # a traced tensor where TensorFlow reads a Python value
TRAINING_FLAG = (
    "training-flag"  # detail of a READ_AS_PYTHON: it is the `training` of a layer of Keras 3
)
MASK_INDEX = "mask-index"
DATA_SIZED_USE = "data-sized-use"
STRIDE = "stride"  # of a slice, taken from data
INDEX = "index"  # an element, or bounds of a slice, taken from arguments; the expression
SLICE_WRITE = "slice-write"  # `variable[i].assign(x)` with a place from data; the expression
UNFOLLOWED = "unfollowed"  # a slice whose bound XLA cannot find a bound for; value: that number
SLICE = "slice"  # bounds that only the running program knows
MOVED_SLICE = "moved-slice"  # a slice beside an index that only the running program knows; detail: a `moved_slices.Moved`
GROWING_ARRAY = "growing-array"  # a TensorArray with dynamic_size=True that is written to, a variable that is made longer
LOOP_STATE = "loop-state"  # a loop variable that is no longer what it was; LoopChange
JIT_ON = "jit-on"
ARMS = "arms"  # at the test or the call: why the arms cannot become one conditional
ITERATION = "iteration"  # a tensor taken apart in Python
LOOP_GRADIENT = "loop-gradient"  # detail: a `LoopGradient` (loop_gradients.py)
TRACE_EFFECT = "trace-effect"  # detail: a `TraceEffect` (trace_effects.py)
LOOP_EXIT = "loop-exit"  # at the test: a tensor decides whether a loop is left
DTYPE = "dtype"  # detail: a `misfits.Misfit`
TEXT = "text"  # detail: how a string comes to be on the device (`text`)
COST = "cost"  # on a TPU; detail: a `costs.Cost`
PRECISION = "precision"  # of products on a TPU; detail: how it is chosen (precision.py)
ROW_LENGTHS = "row-lengths"  # of a ragged tensor cut by data, where XLA needs the longest row
RECURRENT = "recurrent"  # a layer of Keras 2 that XLA compiles for each step; detail: a `Recurrent` (recurrent.py)
SPARSE_INPUT = "sparse-input"  # of a Keras model
DENSE_SHAPE = "dense-shape"  # of a sparse tensor that arrives, where XLA needs it as a constant
CHECK_WITHOUT_DATA = "check-without-data"  # detail: the API's canonical name
VANISHING_CHECK = "vanishing-check"  # detail: the API's canonical name
DIFFERS = "differs-from-eager"  # detail: how (differences.py)
IGNORED_SEED = "ignored-seed"
GRADIENT = "gradient"  # detail: a `Differentiated` (differentiation.py)
# Of driver code: the detail is a `Driven` (drivers.py).
PARTIAL_BATCH = "partial-batch"
VARIABLE_LENGTH = "variable-length"
PYTHON_ARGUMENT = "python-argument"
REMADE_FUNCTION = "remade-function"
NONE_DIMENSION = "none-dimension"
DEBUG_HOOK = "debug-hook"
UNCAUGHT_CHECK = "uncaught-check"  # detail: the function whose check vanishes
# Of code that sets up replicas and trains across them: the detail is a `Remark`.
TPU_SETUP = "tpu-setup"
EAGER_STEP = "eager-step"
SCOPE = "scope"
REDUCTION = "reduction"
ENDLESS = "endless"
MERGE_IN_ARM = "merge-in-arm"
NODE_INPUT = "node-input"
NODE_FILE = "node-file"
PACKAGES = "packages"
SERIAL_INPUT = "serial-input"
BATCH_SIZE = "batch-size"
LEARNING_RATE = "learning-rate"
# A function of TensorFlow called with what `keras.Input` made; detail: its name.
SYMBOLIC = "symbolic"
SYMBOLIC_TEST = "symbolic-test"  # Python asks one for its truth; detail: the construct
MODEL_FILE = "model-file"  # detail: a `model_files.Misnamed`
REFUSED = "refused-by-keras-3"  # an argument or attribute that Keras 2 takes; detail: a `Remark`
UNTRACKED = "untracked"  # detail: the attribute that holds a tf.Variable
RENAMED = "renamed"  # detail: a `rename_table.Rename`
# Facts about code that runs on the host by its nature.
DRIVING = frozenset(
    {JIT_ON, PARTIAL_BATCH, VARIABLE_LENGTH, PYTHON_ARGUMENT, REMADE_FUNCTION, NONE_DIMENSION}
    | {
        DEBUG_HOOK,
        UNCAUGHT_CHECK,
        RENAMED,
        UNTRACKED,
        REFUSED,
        SYMBOLIC,
        SYMBOLIC_TEST,
        MODEL_FILE,
        TPU_SETUP,
        EAGER_STEP,
        SCOPE,
        REDUCTION,
        ENDLESS,
        MERGE_IN_ARM,
        NODE_INPUT,
        NODE_FILE,
        SPARSE_INPUT,
        PACKAGES,
        SERIAL_INPUT,
        BATCH_SIZE,
        LEARNING_RATE,
    }
)


class Remark(NamedTuple):
    """What a rule about training across replicas says of a node: which of its variants, and the words of its message."""

    variant: str
    words: tuple[tuple[str, str], ...] = ()


class Fact(NamedTuple):
    """One thing seen at one node. `detail` holds what the kind needs beyond the value. `usual` is False for code that
    runs only where a caller passes something other than the default of a parameter.
    """

    kind: str
    value: Value
    context: Context
    function: FunctionInfo | None
    detail: Any = None
    usual: bool = True


class Verdict(NamedTuple):
    """What the catalogue says of a call with these arguments.

    `possible` says that a worse verdict holds for values the analysis could not see; `missing` is then of that one.
    """

    status: str
    missing: tuple[str, ...]
    reason: str | None
    data_sized: tuple[int, ...]
    constant_args: tuple[str, ...]
    possible: bool = False
    gradient: str | None = None
    gradient_missing: tuple[str, ...] = ()


class CallDetail(NamedTuple):
    """A call of a catalogued API: its canonical name, its arguments by parameter, and the catalogue's verdict.

    `makes_data_sized` says that this very call returns a tensor whose size depends on data; `confidence` is how sure
    that is, as in a finding. `family` says what kind of operation it is that lacks a kernel (`families`),
    `exact_args` which arguments may not be bounded either.
    """

    api: str
    arguments: tuple[tuple[str, Value], ...]
    verdict: Verdict
    makes_data_sized: bool
    confidence: str
    replacement: str | None
    ops: tuple[str, ...] = ()
    family: str = families.KERNEL
    exact_args: tuple[str, ...] = ()

    @property
    def counts_made_before(self) -> bool:
        """Whether a tensor that eager code made, and no data, decides how many elements there are."""
        given = dict(self.arguments)
        deciding = [given[name] for name in _DECIDING if name in given] or [*given.values()]
        latest = max((value.dependence for value in deciding), default=CONSTANT)
        return latest == CAPTURED


# What picks elements, where a call has other tensors, too.
_DECIDING = ("mask", "condition", "partitions")


OUTER_SIZE = "outer-size"
ARRAY_SIZE = "array-size"


class LoopChange(NamedTuple):
    """A variable that a tf.while_loop carries, and how one step changes it.

    `what` is `grows` (a concatenation with itself), `shape`, `dtype`, `data-sized`, `outer-size` (`outer_sizes.py`) or `unmade` (`unmade_names.py`); `before` and
    `after` are the shapes or dtypes in words, of an outer size its name, and `code` is the source of the assignment, on line `line`.
    """

    name: str
    what: str
    before: str
    after: str
    code: str
    line: int


# Of one node, callers may have so many different things to say.
_MOST_FACTS = 12


@dataclass(eq=False, slots=True)
class ModuleFacts:
    """All facts of one module, by the span of the node they are about."""

    module: ModuleInfo
    by_node: dict[ast.AST, list[Fact]] = field(default_factory=dict)

    def add(self, node: ast.AST, fact: Fact) -> None:
        known = self.by_node.setdefault(node, [])
        # Callers may all turn out to run on the host: what a function does when it is called by itself is kept whatever they do.
        is_of_its_own = fact.function is not None and fact.context.root is fact.function
        most = 2 * _MOST_FACTS if is_of_its_own else _MOST_FACTS
        if len(known) < most and fact not in known:
            known.append(fact)

    def remove(self, unwanted: Iterable[tuple[ast.AST, Fact]]) -> None:
        for node, fact in unwanted:
            self.by_node[node].remove(fact)
            if not self.by_node[node]:
                del self.by_node[node]
