"""What library functions are for, by their names: losses are made to be differentiated, searches choose among results.

Who calls a library function is not seen. That XLA compiles a loss and not its gradient is found out by who trains with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from xlalint.semantics.facts import ASSUMED
from xlalint.semantics.frames import Frame
from xlalint.semantics.index import FunctionInfo
from xlalint.semantics.parameters import is_setting, is_size
from xlalint.semantics.values import NOTHING_KNOWN

_OBJECTIVES = re.compile(
    r"(^|_)(loss(es)?|\w+loss|nll|elbo|objective|(log_?)?likelihood|log_?prob|log_?pdf|cross_?entropy|penalty|"
    r"regulari[sz](er|ation)|divergence)(_(fn|func|function|on_batch|with_logits|from_logits))?$"
    r"|^(compute|calc|calculate|get|make|total)_\w*loss(es)?(_|$)|_loss_"
)
_OF_OBJECTIVES = re.compile(r"(Loss|Losses|CrossEntropy|Crossentropy|Likelihood|Regulari[sz]er)$")
# Other methods of such a class may match boxes with labels, or pick examples.
_COMPUTES = re.compile(r"^(call|__call__|forward|(_?compute|_?calculate)(_\w+)?)$")
# What predictions are measured by, and how labels and logits are made to go together: nothing is trained with it.
_MEASURES = re.compile(
    r"(^|_)(acc|accuracy|precision|recall|iou|miou|jaccard|dice|auc|roc|f1|f\d?_?score|fbeta|score|scores|metrics?|kappa|map|ap|ndcg|mrr|psnr|"
    r"ssim|wer|cer|ppl|perplexity|spearman\w*|kendall\w*|pearson\w*|correlation|rank|ranks|ranking|confusion\w*|top_?k|hits?|"
    r"correct|errors?|median|percentile|quantiles?|thresholds?|calibration|ece|eval\w*|measure\w*|report\w*|stat\w*|summar\w*|"
    r"log\w*|plot\w*|debug\w*|match\w*|assign\w*|align\w*|mask\w*|filter\w*|flatten\w*|valid\w*|remove\w*|select\w*|prepare\w*|"
    r"preprocess\w*|split\w*|predict\w*|infer\w*)(_|$|\d)"
)
_OF_MEASURES = re.compile(r"metric|eval|measure|score")
_OF_LOSSES = re.compile(r"(^|[._])loss(es)?([._]|$)|objectives?$")
_LABELS_OF_LOGITS = frozenset({"labels", "label", "targets", "target", "y_true", "one_hot_labels"})
# Searches, decoders and samplers choose among results: nothing is trained through them.
_CHOOSES = re.compile(
    r"(^|[._])(nms|\w*suppress\w*|beam\w*|\w*decod(e|ing)|greedy\w*|generate\w*|sampl\w*|\w*search)(_|$|[._])"
)
# Resized to the size of what is compared with them, and never trained.
_LABELS = re.compile(
    r"(^|_)(masks?|labels?|targets?|gt|truth|groundtruth|true|segmentations?)(_|$|\d)"
)
# Whole numbers by their names: no gradient goes through them.
_NUMBERS = re.compile(
    r"(^|_)(ids?|tokens?|lengths?|idx|indices|index|positions?|segments?)(_|$|\d)"
)


def is_label(name: str) -> bool:
    """`y_true`, `mask`, `segmentation`: what predictions are compared with."""
    return _LABELS.search(name.lower()) is not None


def is_number(name: str) -> bool:
    """`input_ids`, `lengths`: whole numbers."""
    return _NUMBERS.search(name.lower()) is not None


def only_chooses(frame: Frame) -> bool:
    """Whether a function searches, decodes or samples."""
    info = frame.function
    if info is None:
        return False
    return _CHOOSES.search(f"{info.module.name}.{info.qualname}".lower()) is not None


def is_objective(info: FunctionInfo | None) -> bool:
    """Whether a function says by its name, or that of its class, that it computes a loss or a likelihood."""
    if info is None or _CHOOSES.search(info.name.lower()) is not None:
        return False
    if _OBJECTIVES.search(info.name.lower()) is not None:
        return True
    if _compares_with_labels(info):
        return True
    is_of_one = info.cls is not None and _OF_OBJECTIVES.search(info.cls.name) is not None
    return is_of_one and _COMPUTES.search(info.name) is not None


def _compares_with_labels(info: FunctionInfo) -> bool:
    """Whether a function is given logits and labels, or in a module of losses `y_true` and `y_pred`, and is not called a measure."""
    if info.cls is not None:
        return False
    names = info.parameter_names
    home = info.module.name.lower()
    if "logits" in names:
        is_given = not names.isdisjoint(_LABELS_OF_LOGITS)
    else:
        is_given = {"y_true", "y_pred"} <= names and _OF_LOSSES.search(home) is not None
    if not is_given or _OF_MEASURES.search(home) is not None:
        return False
    return _MEASURES.search(info.name.lower()) is None


def serves_objective(frame: Frame) -> bool:
    """Whether a loss or a likelihood that others may train with calls this, itself or through others; not to choose among results."""
    return is_objective(frame.context.root) and not only_chooses(frame)


def may_train(names: Iterable[str], frame: Frame, or_unknown: bool = False) -> bool:
    """Whether one of the parameters that these names may be holds numbers that somebody may train: no labels, no indices.

    `or_unknown` counts those of which nothing is known.
    """
    info = frame.function
    if info is None:
        return False
    given = info.node.args
    parameters = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    return any(_may_be_trained(name, frame, or_unknown) for name in parameters.intersection(names))


def may_train_items(names: Iterable[str], frame: Frame) -> bool:
    """The same of names that a parameter is unpacked into."""
    return any(_may_be_trained(name, frame, or_unknown=True) for name in names)


def _may_be_trained(name: str, frame: Frame, or_unknown: bool) -> bool:
    if is_label(name) or is_number(name) or is_setting(name) or is_size(name):
        return False
    value = frame.names.get(name) or NOTHING_KNOWN
    if not value.is_tensor:
        return or_unknown and value == NOTHING_KNOWN
    return value.dtype is None or value.dtype.startswith(("float", "bfloat", "half", "complex"))


def is_open(frame: Frame) -> bool:
    """Whether nobody in sight calls the code: then nobody in sight says whether it is trained."""
    return frame.context.region == ASSUMED
