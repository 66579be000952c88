"""What generated programs take from a vector and a matrix, and what they do with it: lines of code people write."""

# Of a vector `x` of floats: what is kept of it, by the value of each element.
VECTORS = {
    "mask": "tf.boolean_mask(x, x > 0)",
    "index": "x[x > 0]",
    "where": "tf.gather(x, tf.where(x > 0)[:, 0])",
    "cut": "x[:tf.reduce_sum(tf.cast(x > 0, tf.int32))]",
    "unique": "tf.unique(tf.round(x) + 3.25)[0]",  # zero has two signs, which XLA tells apart
}
# Of a matrix `y`: some of its rows.
MATRICES = {
    "mask": "tf.boolean_mask(y, y[:, 0] > 0)",
    "where": "tf.gather(y, tf.where(y[:, 0] > 0)[:, 0])",
    "cut": "y[:tf.reduce_sum(tf.cast(y[:, 0] > 0, tf.int32))]",
}
# Uses of a vector `{v}`.
OF_VECTORS = """\
tf.reduce_sum({v})
tf.reduce_mean({v})
tf.reduce_max({v})
tf.reduce_min({v})
tf.reduce_prod({v})
tf.math.reduce_std({v})
tf.math.reduce_variance({v})
tf.reduce_logsumexp({v})
tf.norm({v})
tf.sort({v})
tf.sort({v}, direction="DESCENDING")
tf.argsort({v})
tf.argmax({v})
tf.argmin({v})
tf.math.top_k({v}, k=2)[0]
tf.math.top_k({v}, k=2, sorted=True)[1]
tf.nn.softmax({v})
tf.nn.log_softmax({v})
tf.cumsum({v})
tf.cumsum({v}, reverse=True)
tf.reverse({v}, [0])
{v}[::-1]
{v}[0]
{v}[-1]
{v}[1:]
{v}[:-1]
{v}[::2]
{v}[1:] - {v}[:-1]
tf.concat([{v}, x], 0)
tf.concat([x, {v}], 0)
tf.concat([{v}, {v}], 0)
tf.stack([{v}, {v}])
tf.expand_dims({v}, 0)
{v}[:, tf.newaxis] * {v}
{v}[:, None] - x[None, :]
tf.tensordot({v}, {v}, 1)
tf.linalg.norm({v}, ord=1)
tf.size({v})
tf.shape({v})[0]
tf.cast(tf.size({v}), tf.float32)
tf.zeros_like({v})
tf.reduce_sum(tf.ones_like({v}))
tf.pad({v}, [[0, 3]])
tf.pad({v}, [[2, 0]])
tf.tile({v}, [2])
tf.repeat({v}, 2)
tf.roll({v}, 1, 0)
tf.reshape({v}, [-1, 1])
tf.reshape({v}, [1, -1])
tf.broadcast_to({v}[:, None], [tf.shape({v})[0], 3])
tf.gather({v}, [0, 1])
tf.gather({v}, tf.range(tf.shape({v})[0]))
tf.range(tf.size({v}))
tf.linspace(0.0, 1.0, tf.size({v}))
tf.one_hot(tf.cast({v}, tf.int32), 4)
tf.where({v} > 1.0, {v}, 0.0)
tf.boolean_mask({v}, {v} > 1.0)
{v}[{v} > 1.0]
tf.unique(tf.round({v}))[0]
tf.searchsorted(tf.sort({v}), [0.5])
tf.math.bincount(tf.cast({v}, tf.int32), minlength=4, maxlength=4)
tf.math.unsorted_segment_sum({v}, tf.cast({v}, tf.int32), 4)
tf.scatter_nd(tf.cast({v}, tf.int32)[:, None], {v}, [9])
tf.tensor_scatter_nd_update(tf.zeros([9]), tf.cast({v}, tf.int32)[:, None], {v})
tf.map_fn(lambda e: e * 2.0, {v})
tf.vectorized_map(lambda e: e * 2.0, {v})
tf.scan(lambda a, e: a + e, {v})
tf.foldl(lambda a, e: a + e, {v})
tf.random.shuffle({v})
tf.linalg.diag({v})
tf.signal.fft(tf.cast({v}, tf.complex64))
tf.math.reduce_any({v} > 1.0)
tf.reduce_all({v} > 0.0)
tf.math.count_nonzero({v})
tf.nn.moments({v}, [0])[1]
tf.clip_by_norm({v}, 1.0)
tf.nn.l2_normalize({v}, 0)
tf.math.l2_normalize({v}, axis=0)
tf.nn.l2_loss({v})
tf.histogram_fixed_width({v}, [0.0, 4.0], 4)
tf.quantization.fake_quant_with_min_max_args({v})
{v} - tf.reduce_mean({v})
{v} / tf.reduce_sum({v})
{v} * 2.0
{v} + x
{v} * x[0]
tf.maximum({v}, x)
tf.transpose({v}[:, None])
tf.matmul({v}[None, :], {v}[:, None])
tf.matmul({v}[:, None], {v}[None, :])
tf.einsum("i,j->ij", {v}, {v})
tf.einsum("i,i->", {v}, {v})
tf.split({v}, 2)
tf.unstack({v}, num=4)
tf.squeeze({v})
tf.squeeze({v}[:, None], 1)
tf.ensure_shape({v}, [4])
tf.math.cumprod({v})
tf.math.squared_difference({v}, tf.reduce_mean({v}))
tf.sequence_mask(tf.cast({v}, tf.int32), 5)
tf.meshgrid({v}, x)[0]
tf.meshgrid({v}, {v})[1]
tf.slice({v}, [0], [2])
tf.slice({v}, [1], [-1])
tf.strided_slice({v}, [0], [2])
tf.math.argmax({v}, output_type=tf.int32)
{v}[tf.argmax({v})]
tf.gather({v}, tf.argsort({v}))
tf.gather(x, tf.argsort({v}))
tf.reduce_sum({v}) / tf.cast(tf.shape({v})[0], tf.float32)
tf.losses.mean_squared_error({v}, tf.zeros_like({v}))
tf.keras.losses.MeanSquaredError()({v}, tf.zeros_like({v}))
tf.keras.losses.MeanAbsoluteError(reduction="sum")({v}, {v} * 2.0)
tf.nn.sigmoid_cross_entropy_with_logits(labels={v}, logits={v})
tf.identity({v})
tf.stop_gradient({v})
tf.minimum({v}, 1.0)
tf.abs({v})[0]
tf.reduce_max(tf.abs({v}[:, None] - {v}[None, :]))
tf.reduce_min(tf.abs({v}[:, None] - {v}[None, :]), axis=1)
tf.reduce_sum(tf.cast({v}[:, None] < {v}[None, :], tf.float32), axis=0)
tf.linalg.band_part({v}[:, None] * {v}[None, :], 0, -1)
tf.linalg.trace({v}[:, None] * {v}[None, :])
tf.eye(tf.shape({v})[0])
tf.fill([tf.size({v})], 1.0)
tf.ones([tf.shape({v})[0], 2])
tf.reduce_mean(tf.nn.dropout({v}, 0.0))
tf.cond(tf.size({v}) > 0, lambda: tf.reduce_mean({v}), lambda: 0.0)
tf.math.divide_no_nan(tf.reduce_sum({v}), tf.cast(tf.size({v}), tf.float32))
tf.math.reduce_euclidean_norm({v})
tf.reduce_sum({v}[:2])
tf.reduce_sum({v}[-2:])
tf.dynamic_partition({v}, tf.cast({v} > 1.0, tf.int32), 2)[0]
tf.math.segment_sum({v}, tf.range(tf.size({v})))
tf.nn.top_k({v}, k=tf.size({v}))[0]
tf.sort({v})[tf.size({v}) // 2]
tf.sort({v})[0]
tf.sort({v})[-1]
tf.math.confusion_matrix(tf.cast({v}, tf.int32), tf.cast({v}, tf.int32), 5)
tf.concat([{v}, tf.zeros([8 - tf.size({v})])], 0)
tf.pad({v}, [[0, 8 - tf.size({v})]])
""".splitlines()
# Uses of a matrix `{v}`.
OF_MATRICES = """\
tf.reduce_sum({v}, axis=0)
tf.reduce_mean({v}, axis=1)
tf.reduce_max({v}, 0)
tf.matmul({v}, {v}, transpose_b=True)
tf.matmul({v}, {v}, transpose_a=True)
tf.matmul({v}, tf.ones([3, 2]))
tf.matmul(tf.ones([2, 3]), {v}, transpose_b=True)
tf.transpose({v})
tf.transpose({v})[0]
tf.transpose({v})[-1]
{v}[:, 0]
{v}[:, -1]
{v}[0]
{v}[-1]
{v}[:, ::-1]
{v}[::-1]
tf.reverse({v}, [1])
tf.reshape({v}, [-1])
tf.reshape({v}, [-1, 3])
tf.reshape({v}, [3, -1])
tf.reshape({v}, [-1, 1, 3])
tf.reshape({v}, [tf.shape({v})[0], 3, 1])
tf.unstack({v}, axis=1)[0]
tf.split({v}, 3, axis=1)[0]
tf.split({v}, 2, axis=0)[0]
tf.concat([{v}, y], 0)
tf.concat([{v}, {v}], 1)
tf.stack([{v}, {v}], 1)
tf.expand_dims({v}, 1)
tf.nn.softmax({v})
tf.nn.softmax({v}, axis=0)
tf.argmax({v}, 1)
tf.argmax({v}, 0)
tf.sort({v}, axis=0)
tf.sort({v}, axis=1)
tf.math.top_k({v}, 2)[0]
tf.cumsum({v}, 0)
tf.cumsum({v}, 1)
tf.norm({v}, axis=1)
tf.norm({v})
tf.linalg.l2_normalize({v}, 1)
tf.nn.moments({v}, [0])[0]
tf.gather({v}, [0, 1])
tf.gather({v}, [0, 1], axis=1)
tf.gather({v}, tf.argsort({v}[:, 0]))
tf.gather_nd({v}, [[0, 1]])
tf.boolean_mask({v}, {v}[:, 1] > 0)
tf.pad({v}, [[0, 2], [0, 0]])
tf.pad({v}, [[0, 0], [1, 1]])
tf.tile({v}, [1, 2])
tf.tile({v}, [2, 1])
tf.repeat({v}, 2, axis=0)
tf.repeat({v}, 2, axis=1)
tf.roll({v}, 1, 1)
tf.einsum("ij,kj->ik", {v}, {v})
tf.einsum("ij,jk->ik", {v}, tf.ones([3, 2]))
tf.einsum("ij->j", {v})
{v}[:, None, :] - {v}[None, :, :]
tf.reduce_sum(({v}[:, None, :] - {v}[None, :, :]) ** 2, -1)
tf.reduce_min(tf.reduce_sum(({v}[:, None, :] - y[None, :, :]) ** 2, -1), 1)
{v} - tf.reduce_mean({v}, 0)
{v} / tf.reduce_sum({v}, 1, keepdims=True)
{v} + tf.ones([3])
{v} * y
tf.map_fn(tf.reduce_sum, {v})
tf.vectorized_map(tf.reduce_sum, {v})
tf.math.unsorted_segment_sum({v}, tf.cast({v}[:, 0], tf.int32), 4)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([tf.shape({v})[0]], tf.int32), logits={v})
tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({v}), logits={v})
tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({v}), logits={v}))
tf.keras.losses.CategoricalCrossentropy(from_logits=True)(tf.nn.softmax({v}), {v})
tf.linalg.cholesky(tf.matmul({v}, {v}, transpose_a=True) + tf.eye(3))
tf.linalg.inv(tf.matmul({v}, {v}, transpose_a=True) + tf.eye(3))
tf.linalg.svd({v}, compute_uv=False)
tf.linalg.lstsq({v}, {v}[:, :1])
tf.linalg.det(tf.matmul({v}, {v}, transpose_a=True))
tf.linalg.trace(tf.matmul({v}, {v}, transpose_b=True))
tf.linalg.diag_part(tf.matmul({v}, {v}, transpose_b=True))
tf.linalg.set_diag(tf.matmul({v}, {v}, transpose_b=True), tf.zeros([tf.shape({v})[0]]))
tf.matmul({v}, {v}, transpose_b=True) - tf.eye(tf.shape({v})[0])
tf.image.resize({v}[None, :, :, None], [4, 4])
tf.reduce_sum(tf.nn.conv1d({v}[None], tf.ones([2, 3, 1]), 1, "SAME"))
tf.nn.conv1d({v}[None], tf.ones([2, 3, 1]), 1, "VALID")
tf.nn.max_pool1d({v}[None], 2, 2, "VALID")
tf.nn.avg_pool1d({v}[None], 2, 1, "SAME")
tf.slice({v}, [0, 0], [2, 2])
tf.slice({v}, [0, 1], [-1, 1])
tf.squeeze({v}[:, :1], -1)
tf.scatter_nd(tf.range(tf.shape({v})[0])[:, None], {v}, [9, 3])
tf.keras.losses.cosine_similarity({v}, {v})
tf.keras.layers.Dense(2, kernel_initializer="ones")({v})
tf.keras.layers.LayerNormalization()({v})
tf.nn.embedding_lookup({v}, [0, 1])
tf.nn.bias_add({v}, tf.ones([3]))
tf.math.in_top_k(tf.zeros([tf.shape({v})[0]], tf.int32), {v}, 1)
tf.random.categorical({v}, 1) * 0
""".splitlines()
