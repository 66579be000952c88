"""Which parameters of a function hold tensors, by what the function does with them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from xlalint.semantics import backends
from xlalint.semantics.annotations import said_kinds
from xlalint.semantics.callbacks.callables import only_callee
from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.hazards import addons
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.parameters import is_setting, is_size
from xlalint.semantics.syntax import called_name, nodes_of
from xlalint.semantics.values import EXTERNAL, FUNCTION, INSTANCE, NOTHING_KNOWN, UNKNOWN, Value

if TYPE_CHECKING:
    from xlalint.semantics.analysis import Analysis

# How many calls a tensor is followed through to the computation that shows that it is one.
_MOST_CALLS = 3


def used_as_tensor(info: FunctionInfo, frame: Frame) -> set[str]:
    """Parameters, and parts of them, that a function treats as tensors: the first argument of a computation, sliced along
    several axes, or passed to a function of the project that does either, whole or a run of items.
    """
    return _used(info, frame, False, _MOST_CALLS)


def is_one_tensor(name: str, info: FunctionInfo, frame: Frame) -> bool:
    """Whether a function itself computes with a parameter, or with a run of its items, and takes no list of it: no unpacking, no `inputs[0]`."""
    if name not in _used(info, frame, False, 0) or is_asked_for_type(info, name):
        return False
    return not any(_takes_a_list(node, name) for node in nodes_of([info.node]))


def _takes_a_list(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript):
        is_item = isinstance(node.slice, (ast.Constant, ast.UnaryOp))
        return is_item and isinstance(node.value, ast.Name) and node.value.id == name
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], (ast.Tuple, ast.List)):
        return False
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.value))


def treated_as_tensors(info: FunctionInfo, frame: Frame) -> frozenset[str]:
    """What `used_as_tensor` says, found once for all who call the function."""
    return _treated(info, _MOST_CALLS, frame, False)


def computed_with(info: FunctionInfo, frame: Frame) -> set[str]:
    """Parameters that a function computes with, or that it passes to a function of the project that does, NumPy's computations
    among them: what a tf.function is given as an array is a tensor inside.
    """
    return _used(info, frame, True, _MOST_CALLS)


def is_used_as_size(name: str, info: FunctionInfo, frame: Frame) -> bool:
    """Whether a function makes something of the size that a parameter says (`tf.range(x)`): a number then, whatever its name."""
    return any(_is_a_size(parameter) for parameter in _constants_of(name, info, frame))


def _constants_of(
    name: str, info: FunctionInfo, frame: Frame, calls_left: int = _MOST_CALLS
) -> Iterator[str]:
    """The arguments of which XLA needs the value, that a function gives a parameter to as it is, or functions of the project that it
    passes it to.
    """
    for passed, where, callee in info.uses.passed:
        if passed != name:
            continue
        target = _target(callee, info, frame)
        taken = _taken_as(target, where, frame) if calls_left else None
        if taken is not None:
            yield from _constants_of(taken[1], taken[0], frame, calls_left - 1)
            continue
        api = frame.analysis.catalog.api(str(target.ref)) if target.kind is EXTERNAL else None
        if api is None:
            continue
        parameter = where if isinstance(where, str) else "".join(api.params[where : where + 1])
        if parameter in api.constant_args:
            yield parameter


def is_asked_for_type(info: FunctionInfo, name: str) -> bool:
    """Whether a function asks what a parameter is (`isinstance(x, list)`, `callable(x)`): callers pass one thing or another."""
    return any(
        passed == name
        and (callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")) in _ASKING
        for passed, _, callee in info.uses.passed
    )


def is_given_to_numpy(
    name: str, info: FunctionInfo, frame: Frame, calls_left: int = _MOST_CALLS
) -> bool:
    """Whether a function calls NumPy with a parameter (`np.rollaxis(x, 0)`), or passes it to a function of the project that does."""
    for passed, where, callee in info.uses.passed:
        if passed != name:
            continue
        if _is_of_numpy(callee):
            return True
        target = _target(callee, info, frame) if calls_left else NOTHING_KNOWN
        taken = _taken_as(target, where, frame) if target.kind is FUNCTION else None
        if taken is not None and is_given_to_numpy(taken[1], taken[0], frame, calls_left - 1):
            return True
    return False


def asks_for_types(info: FunctionInfo) -> bool:
    """Whether a function asks what anything is that it is given: callers pass arrays as well as tensors."""
    return any(
        called_name(call) in _TYPE_QUESTIONS and not _is_of_its_own(call) for call in info.calls
    )


def _is_of_its_own(call: ast.Call) -> bool:
    """`hasattr(self, "scale")`, `tf.is_tensor(self.scale)`: what an object has of its own says nothing of what it is given."""
    asked: ast.AST | None = call.args[0] if call.args else None
    while isinstance(asked, (ast.Attribute, ast.Subscript)):
        asked = asked.value
    return isinstance(asked, ast.Name) and asked.id == "self"


_TYPE_QUESTIONS = frozenset({"is_tensor", "isinstance", "hasattr", "is_keras_tensor"})
_ASKING = frozenset({"isinstance", "callable", "is_tensor", "is_sparse", "is_ragged", "type"})


def writes_arrays(frame: Frame) -> bool:
    """Whether a library function writes into what it is given along several axes (`image[:, :, c] = x`), as no tensor can be."""
    info = frame.function
    if info is None or frame.context.region != ASSUMED:
        return False
    given = info.node.args
    names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return not names.isdisjoint(info.uses.written)


_ARRAYS_AND_NUMBERS = frozenset("ndarray NDArray ArrayLike int float bool str None".split())


def takes_arrays(frame: Frame) -> bool:
    """Whether a library function, or a method of a class that is none of Keras's, says of all that it takes by name that it is an array, a number
    or a text, and of one that it is an array: `def get_action(self, state: np.ndarray, **kwargs) -> int`.
    """
    info = frame.function
    if info is None or frame.context.region != ASSUMED:
        return False
    if info.cls is not None and frame.analysis.classes.role(info.cls) is not None:
        return False
    given = info.node.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    if info.cls is not None and not frame.analysis.traits(info).is_static:
        parameters = parameters[1:]  # itself
    if given.vararg is not None:
        return False
    kinds = [said_kinds(each.annotation) for each in parameters]
    is_all = all(kind and kind <= _ARRAYS_AND_NUMBERS for kind in kinds)
    return is_all and any("ndarray" in kind or "NDArray" in kind for kind in kinds)


# What asks arrays for one number.
_ANSWERS = frozenset({"sum", "any", "all", "max", "min", "mean", "count_nonzero"})


def follows_arrays(frame: Frame) -> bool:
    """Whether a function goes on as one of NumPy's answers says: `if np.sum(chosen) > 3:`, `while n < 10: n += np.sum(done)`."""
    if frame.function is None:
        return False
    tested: set[str] = set()
    answers: set[str] = set()
    for node in nodes_of(frame.function.body, into_functions=False):
        if isinstance(node, (ast.If, ast.While)):
            for part in nodes_of([node.test]):
                if _is_answer(part):
                    return True
                if isinstance(part, ast.Name):
                    tested.add(part.id)
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name) and _is_answer(node.value):
                answers.add(node.target.id)
    return not tested.isdisjoint(answers)


def _is_answer(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not _is_of_numpy(node.func):
        return False
    return node.func.attr in _ANSWERS


def _is_of_numpy(callee: ast.expr) -> TypeGuard[ast.Attribute]:
    """`np.max`."""
    owner = callee.value if isinstance(callee, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("np", "numpy")


_OF_TENSORS = frozenset({"tf", "keras", "tf_keras", "tensorflow_addons", "tensorflow_probability"})


def computes(info: FunctionInfo, frame: Frame) -> bool:
    """Whether a function calls TensorFlow, Keras or what is made of them, and no computation of NumPy's: its `x` is no array."""
    return not info.uses.calls_numpy and _calls_tensorflow(info, frame)


# The parameters by which Keras, and everybody else, knows a loss or a metric.
OF_LOSSES = frozenset({"y_true", "y_pred"})
_LOSS = re.compile(r"(^|_)loss(_fn)?$")


def is_loss(info: FunctionInfo, frame: Frame) -> bool:
    """Whether a function is one that a step hands labels and predictions: tensors, whatever NumPy or SciPy is asked beside TensorFlow."""
    is_one = info.parameter_names >= OF_LOSSES or _LOSS.search(info.name) is not None
    return is_one and _calls_tensorflow(info, frame)


def is_objective(info: FunctionInfo, analysis: Analysis) -> bool:
    """Whether a function computes a loss or a metric of tensors alone: Keras calls it in the step, whose method it may be."""
    return (
        info.parameter_names >= OF_LOSSES
        and not info.uses.calls_numpy
        and any(
            _is_of_tensors(analysis.modules.global_name(info.module, root))
            for root in info.uses.roots
        )
    )


def _calls_tensorflow(info: FunctionInfo, frame: Frame) -> bool:
    return any(
        _is_of_tensors(frame.look_up(root) or frame.analysis.modules.global_name(info.module, root))
        for root in info.uses.roots
    )


def _is_of_tensors(value: Value) -> bool:
    return value.kind is EXTERNAL and str(value.ref).split(".")[0] in _OF_TENSORS


def _used(info: FunctionInfo, frame: Frame, numpy: bool, calls_left: int) -> set[str]:
    arguments = info.node.args
    candidates = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    many = asked_for_extremes(info) | _asked_for_rows(info)
    candidates = {name for name in candidates if not is_setting(name) or name in many}
    candidates -= _words(arguments)
    found: set[str] = set()
    if not candidates:
        return found
    uses = info.uses
    candidates -= uses.taken_apart
    for text, part in uses.parts.items():
        if part.owner in candidates and not is_setting(part.key):
            candidates.add(text)
    if numpy:
        found |= candidates & (uses.sliced | uses.shaped)
    elif not uses.calls_numpy and not info.module.is_of_arrays:
        found |= candidates & uses.sliced
    for name, where, callee in (*uses.passed, *uses.cut):
        if name not in candidates or name in found:
            continue
        target = _target(callee, info, frame)
        if target.kind is EXTERNAL:
            if not _is_computation(str(target.ref), where, frame, numpy):
                continue
            if target.ref == _RESHAPE and any(_constants_of(name, info, frame)):
                continue
            found.add(name)
        elif (target.kind is FUNCTION or target.kind is INSTANCE) and calls_left:
            if _takes_tensor(target, where, frame, calls_left - 1, numpy):
                found.add(name)
    for name, where, callee in uses.cast:
        if name in candidates and name not in found and _takes_many(callee):
            target = _target(callee, info, frame)
            if target.kind is EXTERNAL and _is_computation(str(target.ref), where, frame, numpy):
                found.add(name)
    return found


def asked_for_extremes(info: FunctionInfo) -> set[str]:
    """What `max` or `min` of Python alone is asked of holds several numbers: no `length` is a setting in `max(length)`."""
    return {
        call.args[0].id
        for call in info.calls
        if isinstance(call.func, ast.Name)
        and call.func.id in ("max", "min")
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
    }


def _asked_for_rows(info: FunctionInfo) -> set[str]:
    """What has rows is no single number, whatever its name: `n_node` in `tf.range(tf.shape(n_node)[0])`."""
    indexed = [node.value for node in info.telling if isinstance(node, ast.Subscript)]
    return {
        call.args[0].id
        for call in indexed
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "shape"
        and len(call.args) == 1
        and isinstance(call.args[0], ast.Name)
    }


def _words(arguments: ast.arguments) -> set[str]:
    """Parameters that are a word unless callers choose another, of which `tf.strings.regex_full_match(sides, "s.*")` makes no tensors."""
    named = [*arguments.posonlyargs, *arguments.args][-len(arguments.defaults) :]
    written = (*zip(named, arguments.defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults))
    return {
        parameter.arg
        for parameter, default in written
        if isinstance(default, ast.Constant) and isinstance(default.value, str)
    }


def _takes_many(callee: ast.expr) -> bool:
    """Whether what is called is no computation of numbers: what is cast for `tf.math.rsqrt` may be a setting."""
    return isinstance(callee, ast.Attribute) and callee.attr in _OF_MANY


_OF_MANY = frozenset(
    "reduce_sum reduce_mean reduce_max reduce_min reduce_any reduce_all cumsum argmax argmin argsort sort top_k "
    "boolean_mask count_nonzero bincount unique cumprod reduce_logsumexp reduce_std reduce_variance segment_sum segment_mean "
    "segment_max unsorted_segment_sum unsorted_segment_mean unsorted_segment_max".split()
)


def _target(callee: ast.expr, info: FunctionInfo, frame: Frame) -> Value:
    if not isinstance(callee, (ast.Name, ast.Attribute)):
        return NOTHING_KNOWN
    value = frame.analysis.evaluate(callee, frame)
    if value.kind is UNKNOWN and isinstance(callee, ast.Name) and callee.id in info.nested:
        return Value(FUNCTION, ref=info.nested[callee.id])
    if value.kind is UNKNOWN and frame.analysis.modules.frameworks.has_classes:
        return backends.of_local(callee, info, frame)
    return value


def _takes_tensor(
    target: Value, where: int | str, frame: Frame, calls_left: int, numpy: bool
) -> bool:
    """Whether a function of the project treats an argument, by position or keyword, as a tensor."""
    taken = _taken_as(target, where, frame)
    if taken is None or is_setting(taken[1]):
        return False
    return taken[1] in _treated(taken[0], calls_left, frame, numpy)


def _taken_as(target: Value, where: int | str, frame: Frame) -> tuple[FunctionInfo, str] | None:
    """The function that is called, and its parameter for an argument, by position or keyword."""
    callee = only_callee(target, frame.analysis)
    if callee is None:
        return None
    info, bound = callee.function, callee.bound
    if info.cls is not None and bound is None:
        return None
    if isinstance(where, str):
        return info, where
    arguments = info.node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    if bound is not None and not frame.analysis.traits(info).is_static:
        names = names[1:]
    return (info, names[where]) if where < len(names) else None


def _treated(info: FunctionInfo, calls_left: int, frame: Frame, numpy: bool) -> frozenset[str]:
    known = frame.analysis.tensor_parameters
    key = (info, calls_left, numpy)
    if key not in known:
        known[key] = frozenset()  # a function that leads back to itself adds nothing
        home = frame.analysis.modules.closures.around(info)
        home = home or frame.analysis.modules.module_frame(info.module)
        known[key] = frozenset(_used(info, home, numpy, calls_left))
    return known[key]


def _is_computation(name: str, where: int | str, frame: Frame, numpy: bool) -> bool:
    """Whether an API computes on its first argument, which this is, rather than makes tensors of a size."""
    if numpy and name.startswith("np."):
        return where == 0 and name.rsplit(".", 1)[-1] in _ARRAY_COMPUTATIONS
    if not name.startswith(("tf.", "keras.backend.", "keras.ops.", "keras.activations.")):
        return where == 0 and addons.takes_tensors(name)
    if name.startswith(_OF_STRUCTURES):
        return False
    if name.startswith(_SCATTERS):
        return where not in _SETTINGS_OF_SCATTERS and (name, where) not in _SHAPES_OF_SCATTERS
    if name.startswith(_OF_ROWS) and (where == 1 or where in _ROWS):
        return True
    leaf = name.rsplit(".", 1)[-1]
    api = frame.analysis.catalog.api(name)
    if api is None or not (where == 0 or api.params[:1] == (where,)):
        return False
    if leaf in _MEASURES:
        return True
    if leaf in _OF_LISTS or api.params[:1] == (_LIST,):
        return False
    if api.returns not in ("tensor", "structure"):
        return False
    if api.params and api.params[0] in api.constant_args and _is_a_size(api.params[0]):
        return False
    return leaf not in _NOT_EVIDENCE


def _is_a_size(parameter: str) -> bool:
    """Whether what an API calls its first parameter says that it is a number or a shape."""
    return is_size(parameter) or is_setting(parameter) or parameter in _SIZES


_SIZES = frozenset({"dims", "limit", "start", "stop", "shape0", "shape_x", "N", "M", "value"})
# Where the rows of a ragged tensor end: given to the functions that make one of a tensor.
_OF_ROWS = "tf.RaggedTensor.from_"
_ROWS = frozenset({"row_lengths", "row_splits", "value_rowids", "lengths"})
# Places and what is written there.
_SCATTERS = ("tf.scatter_nd", "tf.tensor_scatter_nd_", "keras.ops.scatter")
_SETTINGS_OF_SCATTERS = frozenset({"shape", "reduction", "name", 3})
_SHAPES_OF_SCATTERS = frozenset({("tf.scatter_nd", 2), ("keras.ops.scatter", 2)})
_OF_STRUCTURES = ("tf.nest.", "keras.tree.")
_MEASURES = frozenset({"shape", "size", "rank"})
# These take a list of tensors, of other shapes too: gradients, the parts of a sum.
_LIST = "t_list"
_OF_LISTS = frozenset(
    "accumulate_n add_n concatenate cross cross_hashed dstack hstack identity_n join parallel_stack tuple "
    "vstack".split()
)
_ARRAY_COMPUTATIONS = frozenset(
    "norm mean sum max min argmax argmin argsort std var dot matmul concatenate stack any all unique nonzero median "
    "zeros_like ones_like full_like cumsum cumprod diff interp nan_to_num sort transpose".split()
)
# What is a size elsewhere in the function may be a number or a list that a tensor is made of (`tf.reshape(repeats, [-1])`).
_RESHAPE = "tf.reshape"
# These take Python numbers and shapes as readily as tensors.
_NOT_EVIDENCE = frozenset(
    "constant convert_to_tensor broadcast_to cast zeros ones fill range eye concat stack TensorShape "
    "maximum minimum sqrt pow reduce_prod log exp square to_float".split()
)
