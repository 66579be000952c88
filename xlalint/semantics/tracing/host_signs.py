"""Signs that a library function nobody is seen to call is host code: it is not taken as compiled."""

from __future__ import annotations

import ast
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from xlalint.semantics.syntax import last_name, nodes_of

if TYPE_CHECKING:
    from xlalint.semantics.index import FunctionInfo

# Library functions whose names say that they feed, load or show data: host code unless something compiles them.
_HOST_NAMES = re.compile(
    r"(^|_)(parse|preprocess\w*|load|loads|reader|download|plot|draw|visuali[sz]e|serialize|deserialize|export|write|"
    r"save|restore|dataset|datasets|input_fn|tokeni[sz]e\w*|main|fetch|print|show|to_list|to_numpy|as_numpy|numpy|report|summary|summarize|debug|register|"
    r"collate\w*|convert_\w+_checkpoint\w*|augment_dataset|run_experiment|setup|configure|callbacks?|"
    # What Keras calls, eagerly, for the functions that it then compiles.
    r"make_(train|test|predict)_function|"
    # What the model garden's trainer calls between the batches and after them.
    r"aggregated?_logs|"
    # Not every `log`, `decode`, `read` and `generator`: densities, boxes, memories and adversarial networks have them too.
    r"(data|batch|image|sample|file|train|test|val|valid|validation)_generator|"
    r"(decode|read)_(\w+_)?(image|img|jpe?g|png|gif|raw|csv|json|text|file|bytes|audio|wav|video|tf_?records?|records?|examples?|fn))(_|$)"
    r"|^_?(log|read)$|(^|_)log_(metrics?|results?|images?|stats|info|message|to|params|hparams|config|epoch|scalars?)(_|$)"
)
# Modules that hold nothing but host code, by the names that packages give them.
_HOST_MODULES = re.compile(
    r"^(data|inputs?_fn|preprocessors?)$|(^|_)(image|video|audio)_processors?$|^(tokenization|image_processing|feature_extraction|data_collator|convert|run)(_|$)|"
    r"(^|_)(callbacks?|dataset|datasets|dataloader|data_loader|data_utils|input_pipeline|data_pipeline|io_utils|evaluator|visuali[sz]e|visuali[sz]ation"
    r"(_utils)?|plotting|plot)$|"
    # `tf_example_decoder`, `prepare_tfrecords`: what is in files.
    r"(^|_)(tf_?examples?_\w+|tf_?records?(_\w+)?)$"
)


# Packages whose modules all read or prepare data, on the host.
_HOST_PACKAGES = frozenset(
    "datasets dataloader dataloaders data_loader data_loaders data_provider data_providers input_pipeline input_pipelines".split()
)


# Methods of many classes share a name, and functions of one file its module.
@cache
def names_host_work(function: str) -> bool:
    return _HOST_NAMES.search(function) is not None


_EPOCHS = re.compile(r"^(num_|n_|max_|nb_)?epochs?(_num|_idx|_i)?$|^i_?epoch$", re.IGNORECASE)
# What hands out batches in Python. A dataset may be gone through in a compiled function, too.
_LOADER = re.compile(r"(^|_)(data)?loader$", re.IGNORECASE)


# Asked of a function for each call of it.
@lru_cache(maxsize=4096)
def drives_training(info: FunctionInfo) -> bool:
    """`for epoch in range(epochs): ...`, `for batch in loader: ...`: whoever counts epochs, or asks for one batch after another, runs steps
    from the host, and compiles none of this.
    """
    mentions = info.module.mentions
    if not (mentions("epoch") or mentions("oader")) or not isinstance(info.node.body, list):
        return False
    return any(
        isinstance(node, ast.For) and (_counts_epochs(node.target) or _is_loader(node.iter))
        for node in nodes_of(info.node.body, into_functions=False)
    )


def _counts_epochs(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and _EPOCHS.match(target.id) is not None


def _is_loader(over: ast.expr) -> bool:
    """`loader`, `self.train_loader`, `enumerate(tqdm(loader))`."""
    while isinstance(over, ast.Call) and over.args:
        over = over.args[0]
    return _LOADER.search(last_name(over)) is not None


@cache
def holds_host_work(module: str) -> bool:
    *packages, last = module.split(".")
    return _HOST_MODULES.search(last) is not None or not _HOST_PACKAGES.isdisjoint(packages)


# What Keras and unittest call eagerly, whatever they compile.
NEVER_TRACED = frozenset(
    {
        "build",
        # A loop over data, or over all of them at once: what it compiles, it compiles itself.
        "fit",
        "get_config",
        "from_config",
        "compute_output_shape",
        "compute_output_spec",
        # Arrays, before a model is trained and after it.
        "set_weights",
        "get_weights",
        "setUp",
        "tearDown",
    }
)


def returns_array(info: FunctionInfo) -> bool:
    """`-> np.ndarray`, `-> tuple[np.ndarray, np.ndarray]`: no traced function keeps that promise."""
    returns = getattr(info.node, "returns", None)
    if isinstance(returns, ast.Subscript):
        outer = ast.unparse(returns.value).rsplit(".", 1)[-1]
        inside = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
        return outer in ("tuple", "Tuple") and all(map(_is_array_type, inside))
    return _is_array_type(returns)


def _is_array_type(node: ast.expr | None) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node).endswith("ndarray")


def only_checks(info: FunctionInfo) -> bool:
    """`def validate(self): if ...: raise ...`: it takes no tensors, returns and changes nothing, and may raise.

    There is nothing in it to compile; constructors and whoever read the settings call it.
    """
    given = info.node.args
    body = info.node.body
    if not isinstance(body, list) or info.parameter_names - {"self", "cls"} or given.vararg:
        return False
    raises = False
    for node in nodes_of(body):
        if isinstance(node, _CHANGES) or (isinstance(node, ast.Return) and node.value is not None):
            return False
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            return False
        if isinstance(getattr(node, "ctx", None), ast.Store) and not isinstance(
            node, ast.Name | ast.Tuple
        ):
            return False
        raises = raises or isinstance(node, (ast.Raise, ast.Assert))
    return raises


def only_prints(info: FunctionInfo) -> bool:
    """`def display(self): print("error {:.3f}".format(self.error))`: it takes no tensors and does nothing but print."""
    body = info.node.body
    if not isinstance(body, list) or info.parameter_names - {"self", "cls"}:
        return False
    said = [part for part in body if not _is_text(part)]
    return bool(said) and all(
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Call)
        and isinstance(part.value.func, ast.Name)
        and part.value.func.id == "print"
        for part in said
    )


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


_CHANGES = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Delete)
