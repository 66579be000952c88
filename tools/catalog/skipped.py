"""Public names that are never called while measuring: they change the process, wait, or need a cluster or a session."""

from __future__ import annotations

_PREFIXES = (
    "tf.autodiff.", "tf.autograph.", "tf.compat.", "tf.config.", "tf.data.", "tf.dtypes.experimental_",
    "tf.experimental.async_", "tf.experimental.dispatch", "tf.experimental.dlpack", "tf.experimental.dtensor",
    "tf.experimental.enable", "tf.experimental.numpy.experimental_", "tf.experimental.register", "tf.experimental.unregister", "tf.experimental.function_executor",
    "tf.experimental.tensorrt", "tf.feature_column.", "tf.graph_util.", "tf.io.gfile.", "tf.io.write_graph", "tf.load_",
    "tf.mlir", "tf.profiler.", "tf.queue.", "tf.register_", "tf.saved_model.", "tf.summary.create_", "tf.summary.experimental.",
    "tf.summary.flush", "tf.summary.graph", "tf.summary.trace_", "tf.summary.record_if", "tf.summary.should_record",
    "tf.sysconfig.", "tf.tpu.", "tf.train.", "tf.types.", "tf.version.", "tf.xla.", "tf.__internal__.",
    "tf.debugging.disable_", "tf.debugging.enable_", "tf.debugging.experimental.", "tf.debugging.set_", "tf.debugging.get_",
    "tf.distribute.experimental.", "tf.distribute.experimental_set", "tf.random.set_", "tf.random.experimental.set_",
    "tf.random.get_global", "tf.random.experimental.get_", "tf.random.create_rng", "tf.random.experimental.create_rng",
    "tf.function", "tf.init_scope", "tf.get_logger", "tf.gradients", "tf.hessians", "tf.variable_creator_scope", "tf.no_gradient", "tf.type_spec_from",
    "tf.device", "tf.make_", "tf.import_graph", "tf.name_scope", "tf.custom_gradient", "tf.grad_pass_through",
    "tf.recompute_grad", "tf.test.",
)  # fmt: skip
# What differs in compat.v1 and computes; the rest builds sessions, variable scopes, queues and estimators.
_VERSION_ONE = (
    "tf.compat.v1.debugging.", "tf.compat.v1.image.", "tf.compat.v1.io.", "tf.compat.v1.linalg.", "tf.compat.v1.losses.",
    "tf.compat.v1.math.", "tf.compat.v1.nn.", "tf.compat.v1.random.", "tf.compat.v1.ragged.", "tf.compat.v1.signal.",
    "tf.compat.v1.sparse.", "tf.compat.v1.strings.", "tf.compat.v1.sets.",
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
)  # fmt: skip


def is_skipped(name: str) -> bool:
    """Whether calling this would be unsafe or senseless here."""
    if name.startswith("tf.compat.v1."):
        rest = name.removeprefix("tf.compat.v1.")
        if rest.startswith(_VERSION_ONE_SKIPPED):
            return True
        return "." in rest and not name.startswith(_VERSION_ONE)
    if name.startswith("keras.") and name.endswith((".get", ".serialize", ".deserialize")):
        return True  # from names and configurations to objects, and back
    return name.startswith(_PREFIXES) or (name.startswith("keras.backend.") and _is_setter(name))


def _is_setter(name: str) -> bool:
    rest = name.removeprefix("keras.backend.")
    return rest.startswith(
        ("set_", "clear_", "get_session", "reset_", "manual_", "update", "batch_set", "placeholder")
    )
