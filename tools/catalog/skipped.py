"""Public names that are never called while measuring, each with the reason: a catalogue says why it holds no verdict."""

from __future__ import annotations

from collections.abc import Mapping

_REASONS: Mapping[str, tuple[str, ...]] = {
    "an input pipeline, which runs on the host": (
        "tf.data.", "tf.queue.", "tf.compat.v1.data.", "tf.feature_column.", "tf.compat.v1.feature_column.", "keras.preprocessing.",
        "keras.datasets.", "keras.utils.image_dataset", "keras.utils.text_dataset", "keras.utils.audio_dataset", "keras.utils.timeseries_dataset",
        "keras.utils.split_dataset", "keras.utils.pack_x_y", "keras.utils.unpack_x_y", "keras.utils.pad_sequences", "tf.compat.v1.queue.",
    ),
    "files, saving and loading, which the host does": (
        "tf.io.gfile.", "tf.io.write_graph", "tf.saved_model.", "tf.train.", "tf.load_", "tf.graph_util.", "tf.summary.create_", "tf.summary.flush",
        "tf.summary.experimental.", "tf.summary.graph", "tf.summary.trace_", "tf.compat.v1.gfile.", "tf.compat.v1.saved_model.", "tf.compat.v1.train.",
        "tf.compat.v1.graph_util.", "keras.saving.", "keras.export.", "keras.utils.get_file", "keras.utils.load_img", "keras.utils.save_img",
        "keras.models.load_model", "keras.models.save_model", "keras.models.model_from", "keras.callbacks.", "tf.quantization.experimental.quantize_saved_model",
        "keras.utils.array_to_img", "keras.utils.img_to_array", "keras.utils.plot_model", "keras.utils.model_to_dot", "keras.visualization.", "keras.utils.save_",
        "keras.utils.load_",
    ),
    "a setting of the process or of the build": (
        "tf.config.", "tf.compat.v1.config.", "tf.debugging.disable_", "tf.debugging.enable_", "tf.debugging.experimental.", "tf.debugging.set_",
        "tf.debugging.get_", "tf.experimental.async_", "tf.experimental.dispatch", "tf.experimental.enable", "tf.experimental.register",
        "tf.experimental.unregister", "tf.experimental.function_executor", "tf.experimental.numpy.experimental_", "tf.dtypes.experimental_",
        "tf.random.set_", "tf.random.experimental.set_", "tf.random.get_global", "tf.random.experimental.get_", "tf.get_logger", "tf.sysconfig.",
        "tf.version.", "tf.types.", "tf.compat.", "tf.summary.record_if", "tf.summary.should_record", "tf.distribute.experimental_set", "tf.__internal__.",
        "keras.config.", "keras.mixed_precision.", "keras.dtype_policies.", "tf.compat.v1.app.", "tf.compat.v1.flags", "tf.compat.v1.logging.",
        "tf.compat.v1.resource_loader.", "tf.compat.v1.sysconfig.", "tf.compat.v1.version.", "tf.compat.v1.mixed_precision.", "keras.utils.set_random_seed",
        "keras.utils.enable_", "keras.utils.disable_", "keras.utils.is_interactive", "keras.version", "keras.utils.clear_session", "keras.random.SeedGenerator",
        "keras.backend.experimental.", "keras.utils.register", "keras.utils.get_registered", "keras.utils.get_custom", "keras.utils.custom_object", "keras.utils.warmstart",
    ),
    "a cluster, devices or a TPU system": (
        "tf.distribute.experimental.", "tf.distribute.cluster_resolver.", "tf.distribute.coordinator.", "tf.experimental.dtensor", "tf.experimental.dlpack",
        "tf.tpu.", "keras.dtensor.", "tf.device", "tf.compat.v1.distribute.", "tf.compat.v1.tpu.", "tf.compat.v1.manip.", "keras.distribution.", "tf.profiler.",
        "tf.compat.v1.profiler.", "tf.experimental.tensorrt", "tf.check_pinned",
    ),
    "it transforms functions or graphs; what it is given is compiled or not on its own account": (
        "tf.function", "tf.autograph.", "tf.compat.v1.autograph.", "tf.autodiff.", "tf.custom_gradient", "tf.recompute_grad", "tf.grad_pass_through",
        "tf.gradients", "tf.hessians", "tf.init_scope", "tf.name_scope", "tf.variable_creator_scope", "tf.make_", "tf.import_graph", "tf.register_",
        "tf.no_gradient", "tf.type_spec_from", "tf.xla.", "tf.compat.v1.xla.", "tf.GradientTape", "tf.Module", "keras.ops.vectorize", "keras.ops.jvp",
        "keras.utils.legacy.", "keras.legacy.", "keras.src.", "keras.tree.map_shape_structure",
    ),
    "a test tool or a converter": (
        "tf.test.", "tf.compat.v1.test.", "tf.mlir.", "tf.compat.v1.mlir.", "tf.lite.", "tf.compat.v1.lite.", "keras.wrappers.", "keras.utils.FeatureSpace",
    ),
    "a whole model, made of layers that are measured": (
        "keras.applications.", "keras.models.", "keras.Model", "keras.Sequential", "keras.Function", "keras.Input", "keras.experimental.", "keras.distillation.",
        "keras.estimator.", "keras.layers.Input",
    ),
    "a number of threads or processes of Python": ("tf.random.create_rng", "tf.random.experimental.create_rng", "keras.utils.Progbar"),
}  # fmt: skip
# What differs in compat.v1 and computes; the rest builds sessions, variable scopes, queues and estimators.
_VERSION_ONE = (
    "tf.compat.v1.debugging.", "tf.compat.v1.image.", "tf.compat.v1.io.", "tf.compat.v1.linalg.", "tf.compat.v1.losses.",
    "tf.compat.v1.math.", "tf.compat.v1.nn.", "tf.compat.v1.random.", "tf.compat.v1.ragged.", "tf.compat.v1.signal.",
    "tf.compat.v1.sparse.", "tf.compat.v1.strings.", "tf.compat.v1.sets.",
    "tf.compat.v1.summary.audio", "tf.compat.v1.summary.histogram", "tf.compat.v1.summary.image",
    "tf.compat.v1.summary.scalar", "tf.compat.v1.summary.tensor_summary", "tf.compat.v1.summary.text",
)  # fmt: skip
_VERSION_ONE_SKIPPED = (
    "add_check_numerics", "add_to_collection", "all_variables", "control_flow_v2_enabled", "create_partitioned_variables",
    "device", "disable_", "enable_", "executing_eagerly_outside", "fixed_size_partitioner", "flags", "get_collection",
    "get_default", "get_local_variable", "get_logger", "get_seed", "get_session", "get_variable", "global_variables",
    "gradients", "hessians", "import_graph_def", "init_scope", "initialize_", "is_variable_initialized", "load_",
    "local_variables", "make_template", "min_max_variable_partitioner", "model_variables", "moving_average_variables",
    "name_scope", "no_regularizer", "op_scope", "placeholder", "report_uninitialized", "reset_default_graph", "resource_",
    "set_random_seed", "trainable_variables", "tables_initializer", "variable", "wrap_function",
    "assign", "colocate_with", "container", "control_dependencies", "delete_session_tensor", "NotDifferentiable",
    "NoGradient", "RegisterGradient", "Session", "InteractiveSession", "batch_gather_", "while_v2", "experimental",
    "nn.dynamic_rnn", "nn.bidirectional", "nn.static_", "nn.raw_rnn", "random.set_", "random.get_", "register_tensor",
    "batch_scatter_update", "count_up_to", "scatter_", "losses.get_", "losses.add_loss",
)  # fmt: skip
# What no arguments were found for, or what cannot be tried in a process of its own.
_PROTO = "it takes descriptions of protocol buffers, which the host reads"
_NEEDS_MORE = "it needs a package that is not among those of TensorFlow"
_NUMPY_BEHAVIOUR = "it works only where NumPy behaviour is switched on for the whole process"
_OF_PYTHON = "it takes and gives values of Python, types and functions"
UNTRACED: Mapping[str, str] = {
    "keras.backend.conv2d_transpose": "this environment's build of TensorFlow refuses it on a CPU",
    "keras.backend.function": _OF_PYTHON,
    "keras.backend.result_type": _OF_PYTHON,
    "keras.initializers.STFTInitializer": _NEEDS_MORE,
    "keras.layers.STFTSpectrogram": _NEEDS_MORE,
    "keras.layers.MaxNumBoundingBoxes": "it takes boxes of the input pipeline, which runs on the host",
    "keras.layers.SpectralNormalization": "this version of Keras refuses a layer made by itself",
    "keras.layers.experimental.DynamicEmbedding": "a table that grows, which the host keeps",
    "keras.layers.experimental.DynamicLookup": "a table that grows, which the host keeps",
    "keras.losses.Reduction": _OF_PYTHON,
    "keras.metrics.MeanMetricWrapper": _OF_PYTHON,
    "keras.metrics.experimental.PyMetric": _OF_PYTHON,
    "keras.optimizers.MultiOptimizer": "it shares variables among optimizers that are measured",
    "keras.optimizers.Muon": "it takes variables of Keras by their paths only",
    "keras.optimizers.OptimizerMap": "it shares variables among optimizers that are measured",
    "tf.compat.v1.io.tf_record_iterator": "an input pipeline, which runs on the host",
    "tf.experimental.extension_type.as_dict": _OF_PYTHON,
    "tf.experimental.numpy.around": _NUMPY_BEHAVIOUR,
    "tf.experimental.numpy.round": _NUMPY_BEHAVIOUR,
    "tf.image.generate_bounding_box_proposals": "an operation without a kernel for CPUs",
    "tf.io.decode_jxl": "a decoder of images, which runs on the host",
    "tf.io.decode_proto": _PROTO,
    "tf.io.decode_webp": "a decoder of images, which runs on the host",
    "tf.io.encode_proto": _PROTO,
    "tf.io.match_filenames_once": "files, saving and loading, which the host does",
    "tf.io.parse_sequence_example": _PROTO,
    "tf.quantization.quantized_concat": "an operation of quantized dtypes, which have no kernels for XLA",
    "tf.compat.v1.summary.image": "eager TensorFlow does not run it; its operation, ImageSummary, has no XLA kernel",
    "tf.compat.v1.nn.quantized_conv2d": "an operation of quantized dtypes, which have no kernels for XLA",
}
_GRAPH_MODE = "it works on graphs, sessions and variables of TensorFlow 1"
_FROM_CONFIGURATION = "from names and configurations to objects, and back"
# Preprocessing of images is part of programs; models themselves are not measured whole.
_MEASURED = (".preprocess_input",)


def reason(name: str) -> str | None:
    """Why calling this would be unsafe or senseless here; None for what is measured."""
    plain = name.removeprefix("tf_") if name.startswith("tf_keras.") else name
    if plain.endswith(_MEASURED):
        return None
    if plain.startswith("tf.compat.v1."):
        rest = plain.removeprefix("tf.compat.v1.")
        if rest.startswith(_VERSION_ONE_SKIPPED):
            return _GRAPH_MODE
        if "." in rest and not plain.startswith(_VERSION_ONE):
            return _because(plain) or _GRAPH_MODE
        return None
    if plain.startswith("keras.") and plain.endswith((".get", ".serialize", ".deserialize")):
        return _FROM_CONFIGURATION
    if plain.startswith("keras.backend.") and _is_setter(plain):
        return "a setting of the process or of the build"
    return _because(plain)


# Classes whose instances are called in models: these are made and called; of other classes, the methods are.
_CALLED = (
    "keras.constraints.", "keras.initializers.", "keras.layers.", "keras.losses.", "keras.metrics.", "keras.optimizers.",
    "keras.regularizers.",
)  # fmt: skip


def is_called(name: str) -> bool:
    """Whether a class is measured by making an instance and calling it."""
    return name.removeprefix("tf_").startswith(_CALLED)


# Bases of what is called, and wrappers of models from other frameworks.
ABSTRACT = frozenset(
    {"Layer", "InputLayer", "InputSpec", "Wrapper", "AbstractRNNCell", "TFSMLayer", "TorchModuleWrapper"}
    | {"JaxLayer", "FlaxLayer", "Pipeline", "DenseFeatures", "PreprocessingLayer", "StackedRNNCells"}
    | {"Loss", "Metric", "Constraint", "Initializer", "LearningRateSchedule", "LossScaleOptimizer", "Optimizer", "Regularizer"}
)  # fmt: skip
_A_CLASS = "a class: what its methods do is measured method by method, where it computes at all"
_IS_ABSTRACT = "an abstract class or a wrapper, which cannot be called by itself"


def why_not_measured(name: str, is_class: bool) -> str | None:
    """The reason for which a name has no verdict; None for one that should have had one."""
    why = reason(name) or UNTRACED.get(name.removeprefix("tf_"))
    if why is None and is_class and not is_called(name):
        return _A_CLASS
    if why is None and is_class and name.rsplit(".", 1)[1] in ABSTRACT:
        return _IS_ABSTRACT
    return why


def is_skipped(name: str) -> bool:
    """Whether calling this would be unsafe or senseless here."""
    return reason(name) is not None


def _because(name: str) -> str | None:
    # Methods of values are measured, whatever is said of the modules that their classes live in.
    if name.startswith(("tf.GradientTape.", "tf.queue.QueueBase.", "tf.TensorShape.")):
        return None
    # `tf.compat.` stands for names outside compat.v1, which is asked for before.
    fitting = [
        (len(prefix), why)
        for why, prefixes in _REASONS.items()
        for prefix in prefixes
        if name.startswith(prefix) and not (prefix == "tf.compat." and "tf.compat.v1." in name)
    ]
    return max(fitting)[1] if fitting else None


def _is_setter(name: str) -> bool:
    rest = name.removeprefix("keras.backend.")
    return rest.startswith(
        ("set_", "clear_", "get_session", "reset_", "manual_", "update", "batch_set", "batch_get", "placeholder",
         "moving_average_update", "random_normal_variable", "random_uniform_variable")
    )  # fmt: skip
