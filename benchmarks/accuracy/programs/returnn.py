"""Calls of returnn 1.20261022: functions of tensors of its TensorFlow backend (returnn.tf.util.basic, rec losses)."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Programs
from returnn.tf.util import basic as b

from programs.made import floats, integers, short

# Which the package disables when it is imported.
tf.compat.v1.enable_v2_behavior()
programs = Programs("returnn")
p = short(programs)
X3, X2 = floats(3, 5, 4), floats(3, 4)
LEN = np.array([5, 3, 4], "int32")
p("flip_gradient", lambda x: b.flip_gradient(x, 0.5), X2)
p("identity_with_check_numerics", lambda x: b.identity_with_check_numerics(x), X2)
p("check_input_ndim", lambda x: b.check_input_ndim(x, 2), X2)
p("check_input_ndim_equal_offset", lambda x, y: b.check_input_ndim_equal_offset(x, y, 1), X3, X2)
p("check_input_dim", lambda x: b.check_input_dim(x, -1, 4), X2)
p("check_dim_equal", lambda x, y: b.check_dim_equal(x, 0, y, 0), X3, X2)
p("check_shape_equal", lambda x, y: b.check_shape_equal(x, y), X2, floats(3, 4))
p.no("get_shape_dim", lambda x: b.get_shape_dim(x, 0) + tf.cast(x[0, 0], tf.int32), X2)
p.no("get_shape", lambda x: [tf.convert_to_tensor(i) for i in b.get_shape(x)], X2)
p.no("get_ndim", lambda x: tf.convert_to_tensor(b.get_ndim(x)), X2)
p.no("get_range", lambda n: b.get_range(n), np.int32(4))
p("dot", lambda x, y: b.dot(x, y), X3, floats(4, 6))
p("dot 3d", lambda x, y: b.dot(x, y), X3, floats(4, 2, 3))
p("dot transpose", lambda x, y: b.dot(x, y, transpose_b=True), X2, floats(6, 4))
for _n in (
    "gelu",
    "gelu2",
    "gelu3",
    "identity",
    "enforce_copy",
    "copy_tensor",
    "safe_log",
    "safe_exp",
    "l1_normalized",
    "lin_exp",
    "lin_exp_normed",
    "to_float32",
):
    p(_n, getattr(b, _n), X2)
p("safe_log fake", lambda x: b.safe_log(x, use_fake_grad=False), X2)
p(
    "l1_normalized logsumexp",
    lambda x: b.l1_normalized(x, use_logsumexp=True, is_not_negative=True),
    X2,
)
for _n in ("relu", "tanh", "swish", "log_softmax", "safe_log", "lin_exp"):
    p(f"get_activation_function {_n}", lambda x, _n=_n: b.get_activation_function(_n)(x), X2)
p("wrap_distribution_non_zero", lambda x: b.wrap_distribution_non_zero(x, 0.1, 0.5), X2)
p("dropout", lambda x: b.dropout(x, keep_prob=0.7), X2)
p(
    "dropout noise shape",
    lambda x: b.dropout(x, keep_prob=0.7, noise_shape=[3, 1, 4], apply_correction_factor=False),
    X3,
)
p("dropout checkpointing", lambda x: b.dropout(x, keep_prob=0.7, grad_checkpointing=True), X2)
p("layer_norm", lambda x, g, c: b.layer_norm(x, g, c, -1), X3, floats(4), floats(4))
p("openai_layer_norm", lambda x, g, c: b.openai_layer_norm(x, g, c, 2), X3, floats(4), floats(4))
p("swapaxes", lambda x: b.swapaxes(x, 0, 2), X3)
p("move_axis", lambda x: b.move_axis(x, 0, 2), X3)
p.no("sequence_mask", lambda n: b.sequence_mask(n), LEN)
p.no("sequence_mask_time_major", lambda n: b.sequence_mask_time_major(n), LEN)
p("directed", lambda x: b.directed(x, -1), X3)
p("reversed", lambda x: b.reversed(x), X3)
p(
    "flatten_with_seq_len_mask",
    lambda x, n: b.flatten_with_seq_len_mask(x, n, batch_dim_axis=0, time_dim_axis=1),
    X3,
    LEN,
)
p(
    "flatten_with_seq_len_mask time major",
    lambda x, n: b.flatten_with_seq_len_mask(x, n, batch_dim_axis=1, time_dim_axis=0),
    floats(5, 3, 4),
    LEN,
)
p(
    "flatten_with_seq_len_mask_time_major",
    lambda x, n: b.flatten_with_seq_len_mask_time_major(x, n, batch_dim_axis=1, time_dim_axis=0),
    floats(5, 3, 4),
    LEN,
)
p(
    "unflatten_with_seq_len_mask",
    lambda x, n: b.unflatten_with_seq_len_mask(x, n, batch_major=True),
    floats(12, 4),
    LEN,
)
p(
    "unflatten_with_seq_len_mask time",
    lambda x, n: b.unflatten_with_seq_len_mask(x, n),
    floats(12, 4),
    LEN,
)
p("expand_dims_unbroadcast", lambda x: b.expand_dims_unbroadcast(x, 1, 3), X2)
p("expand_multiple_dims", lambda x: b.expand_multiple_dims(x, [0, 2]), X2)
p("tile_transposed", lambda x: b.tile_transposed(x, 0, 3), X2)
p("constant_with_shape", lambda x: x + b.constant_with_shape(2.0, [3, 4]), X2)
p("dimshuffle", lambda x: b.dimshuffle(x, (1, "x", 0)), X2)
LAB = integers(4, 3, 5)
p.no("sparse_labels", lambda x, n: b.sparse_labels(x, n).values, LAB, LEN)
p.no(
    "sparse_labels collapse",
    lambda x, n: b.sparse_labels(x, n, collapse_repeated=True).values,
    LAB,
    LEN,
)
p.no(
    "sparse_labels_with_seq_lens",
    lambda x, n: b.sparse_labels_with_seq_lens(x, n, collapse_repeated=True, post_filter_idx=0)[1],
    LAB,
    LEN,
)
p.no("uniq", b.uniq, integers(3, 8))
p.no("batched_uniq", lambda x, n: b.batched_uniq(x, n), LAB, LEN)
p.no(
    "ctc_greedy_decode",
    lambda x, n: b.ctc_greedy_decode(x, n, time_major=True).values,
    floats(5, 3, 4),
    LEN,
)
p.no(
    "get_common_shape",
    lambda x, y: [
        tf.convert_to_tensor(i)
        for i in b.get_common_shape([x, y], allow_broadcast_all_sources=True)
    ],
    X2,
    floats(1, 4),
)
p("unbroadcast_to_common_shape", lambda x: b.unbroadcast_to_common_shape(x, [3, 4]), floats(1, 4))
p(
    "concat_with_opt_broadcast",
    lambda x, y: b.concat_with_opt_broadcast([x, y], [False, True], axis=-1),
    X2,
    floats(1, 4),
)
p("matrix_triangular", lambda x: x * b.matrix_triangular((4, 4), lower=True), floats(4, 4))
p.no("filter_grad", lambda x: b.filter_grad(x, 0.5, 0), X2)
p("cond", lambda c, x: b.cond(c, lambda: x * 2, lambda: x), np.bool_(True), X2)
p("single_strided_slice", lambda x: b.single_strided_slice(x, 1, begin=1, end=4, step=2), X3)
p("pad_replicate", lambda x: b.pad_replicate(x, [1], [(1, 2)]), X3)
p("circular_pad", lambda x: b.circular_pad(x, 1), floats(3, 5, 4))
p("spatial_smoothing_energy", lambda x: b.spatial_smoothing_energy(x, 16), floats(3, 16))
p("nan_to_num", lambda x: b.nan_to_num(x), X2)
p("where_bc", lambda c, x, y: b.where_bc(c, x, y), X2 > 0.5, X2, np.float32(0))
p("where_bc broadcast", lambda c, x, y: b.where_bc(c, x, y), floats(3, 1) > 0.5, X2, floats(1, 4))
p.no("nd_indices", lambda i: b.nd_indices(i), integers(4, 3, 2))
p("windowed_nd", lambda x: b.windowed_nd(x, 3), floats(5, 3, 4))
p(
    "windowed_nd stride",
    lambda x: b.windowed_nd(x, 3, padding="valid", stride=2, time_axis=1, new_window_axis=2),
    X3,
)
p("slice_nd", lambda x, s: b.slice_nd(x, s, 2), X3, np.array([0, 2, 1], "int32"))
p(
    "slice_nd size",
    lambda x, s, n: b.slice_nd(x, s, n),
    X3,
    np.array([0, 2, 1], "int32"),
    np.array([2, 1, 3], "int32"),
)
p("pad_zeros_in_axis", lambda x: b.pad_zeros_in_axis(x, 1, 2, axis=1), X3)
p("slice_pad_zeros", lambda x: b.slice_pad_zeros(x, -1, 4), X2)
p.no("map_labels", lambda x: b.map_labels(x, (3, 1, 2, 0)), LAB)
p.no("map_labels dict", lambda x: b.map_labels(x, {0: 1, 1: 2, 2: 3, 3: 0}), LAB)
p.no("remove_labels", lambda x, n: b.remove_labels(b.sparse_labels(x, n), [1]).values, LAB, LEN)
p.no("view_as", lambda x: b.view_as(x, tf.int32), X2)
p.no(
    "broadcast_gradient_args",
    lambda x, y: b.broadcast_gradient_args(x, y),
    np.array([3, 4], "int32"),
    np.array([1, 4], "int32"),
)
p("maximum_with_identity_grad", b.maximum_with_identity_grad, X2, floats(3, 4))
p("minimum_with_identity_grad", b.minimum_with_identity_grad, X2, floats(3, 4))
p("clip_by_value_with_identity_grad", lambda x: b.clip_by_value_with_identity_grad(x, 0.2, 0.8), X2)
p("zeros_dyn_shape", lambda x: x + b.zeros_dyn_shape([3, 4]), X2)
p(
    "smoothing_cross_entropy",
    lambda x, y: b.smoothing_cross_entropy(x, y, 0.1, vocab_size=4),
    X3,
    LAB,
)
p(
    "smoothing_cross_entropy gaussian",
    lambda x, y: b.smoothing_cross_entropy(
        x, tf.cast(y, tf.float32), 0.1, gaussian=True, vocab_size=4
    ),
    X3,
    LAB,
)
p(
    "softmax_cross_entropy_over_size",
    lambda x, y: b.softmax_cross_entropy_over_size(x, y),
    X3,
    (lambda e: e / e.sum(-1, keepdims=True))(floats(3, 5, 4)),
)
p(
    "softmax_cross_entropy_over_size stable",
    lambda x, y: b.softmax_cross_entropy_over_size(x, y, stable_gradient=True),
    X3,
    (lambda e: e / e.sum(-1, keepdims=True))(floats(3, 5, 4)),
)
IM = floats(2, 8, 8, 3)
p("interpolate_bilinear", lambda g, q: b.interpolate_bilinear(g, q), IM, floats(2, 5, 2) * 7)
p(
    "interpolate_bilinear xy",
    lambda g, q: b.interpolate_bilinear(g, q, indexing="xy"),
    IM,
    floats(2, 5, 2) * 7,
)
p("dense_image_warp", lambda g, f: b.dense_image_warp(g, f), IM, floats(2, 8, 8, 2))
p.no(
    "create_random_warp_flow_2d",
    lambda x: (
        x[..., :2]
        + b.create_random_warp_flow_2d([2, 8, 8, 2], std=(1.0, 1.0), scale=2.0, blur_std=1.0)
    ),
    IM,
)
p("gaussian_kernel_2d", lambda x: x * b.gaussian_kernel_2d(5, 1.0), floats(5, 5))
p("gaussian_blur_2d", lambda x: b.gaussian_blur_2d(x, 3, 1.0), IM)
p.no(
    "bleu_score",
    lambda h, t, n, m: b.bleu_score(h, t, n, m),
    integers(4, 3, 6),
    integers(4, 3, 6),
    np.array([6, 5, 4], "int32"),
    np.array([5, 6, 6], "int32"),
)
p("prod", lambda x, y: b.prod([x, y]), X2, floats(3, 4))
p.no("beam_search", lambda s: b.beam_search(s, 3), floats(3, 2, 5))
p.no("beam_search keep", lambda s: b.beam_search(s, 3, keep_beams=True), floats(3, 3, 5))
p("select_src_beams", lambda x, i: b.select_src_beams(x, i), floats(6, 4), integers(2, 3, 2))
p("filter_ended_scores", lambda x, e: b.filter_ended_scores(x, e), X2, floats(3) > 0.5)
p.no("to_int32_64", b.to_int32_64, integers(5, 3).astype("int8"))
p("batch_gather", lambda x, i: b.batch_gather(x, i), X3, integers(5, 3))
p("batch_gather 2", lambda x, i: b.batch_gather(x, i), X3, integers(5, 3, 2))
p("batch_gather keepdims", lambda x, i: b.batch_gather(x, i, keepdims=True), X3, integers(5, 3, 1))
p(
    "unflatten_nd",
    lambda x, s: b.unflatten_nd(x, s, num_axes=2),
    floats(2, 12, 3),
    np.array([[3, 4], [2, 6]], "int32"),
)
p("get_positional_encoding", lambda x: x + b.get_positional_encoding(8, length=5), floats(5, 8))
p(
    "get_positional_encoding dynamic",
    lambda x: x + b.get_positional_encoding(8, length=tf.shape(x)[0]),
    floats(5, 8),
)
p.no(
    "get_linear_alignment_out_to_in_indices",
    lambda i, o: b.get_linear_alignment_out_to_in_indices(i, o),
    LEN,
    np.array([2, 1, 2], "int32"),
)
p.no(
    "get_rnnt_linear_aligned_output",
    lambda i, t, o: b.get_rnnt_linear_aligned_output(i, t, o, 0),
    LEN,
    integers(3, 3, 2) + 1,
    np.array([2, 1, 2], "int32"),
)
p(
    "compute_sampled_logits",
    lambda w, c, y, x: b.compute_sampled_logits(
        w,
        c,
        y,
        x,
        4,
        10,
        1,
        tf.random.uniform_candidate_sampler(tf.cast(y, tf.int64), 1, 4, True, 10),
    ),
    floats(10, 4),
    floats(10),
    integers(10, 3, 1),
    X2,
)
p.no(
    "vocab_idx_to_vocab_string",
    lambda x: b.vocab_idx_to_vocab_string(x, tf.constant(["a", "b", "c", "d"])),
    LAB,
)
p.no(
    "string_merge",
    lambda x: b.string_merge(tf.gather(tf.constant(["a", "b", "c", "d"]), x), LEN),
    LAB,
)
p.no(
    "string_replace",
    lambda x: b.string_replace(tf.strings.as_string(x), tf.constant("1"), tf.constant("x")),
    LAB[0],
)
p.no("words_split", lambda x: b.words_split(tf.strings.as_string(x)).values, LAB[0])
p("copy_compatible_reduce", lambda x, y: b.copy_compatible_reduce(x, y, "sum"), X3, floats(1, 5, 4))
p.no(
    "onnx_compat_floor_div",
    lambda x, y: b.onnx_compat_floor_div(x, y),
    integers(9, 4),
    integers(3, 4) + 1,
)
p(
    "add_scaled_noise_to_gradients",
    lambda g: [y for y, _ in b.add_scaled_noise_to_gradients([(g, None)], 0.1)],
    X2,
)
p.no(
    "tensor_array_stack",
    lambda x: b.tensor_array_stack(tf.TensorArray(tf.float32, 3).unstack(x)),
    X2,
)
p.no(
    "tensor_array_stack start",
    lambda x: b.tensor_array_stack(tf.TensorArray(tf.float32, 3).unstack(x), start=1),
    X2,
)
p.no(
    "get_sparse_tensor_length",
    lambda x, n: b.get_sparse_tensor_length(b.sparse_labels(x, n)),
    LAB,
    LEN,
)
