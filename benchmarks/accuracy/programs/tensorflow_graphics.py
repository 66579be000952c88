"""Calls of TensorFlow Graphics 2021.12.3: graphs as sparse matrices, rotations, losses and metrics of point clouds."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from program import Programs
from tensorflow_graphics.geometry.convolution import graph_convolution, graph_pooling, utils
from tensorflow_graphics.geometry.transformation import (
    axis_angle,
    dual_quaternion,
    euler,
    linear_blend_skinning,
    look_at,
    quaternion,
    rotation_matrix_2d,
    rotation_matrix_3d,
)
from tensorflow_graphics.math import spherical_harmonics
from tensorflow_graphics.math.optimizer import levenberg_marquardt
from tensorflow_graphics.nn.loss import chamfer_distance, hausdorff_distance
from tensorflow_graphics.nn.metric import fscore, intersection_over_union, precision, recall
from tensorflow_graphics.rendering.reflectance import blinn_phong, lambertian, phong

from programs.made import floats, plain

programs = Programs("tensorflow_graphics")
ROWS = tf.constant([[0, 0, 0], [0, 1, 1], [0, 2, 2], [0, 0, 1], [1, 0, 0], [1, 1, 2]], tf.int64)
NEIGHBOURS = tf.SparseTensor(ROWS, tf.constant([0.5, 1.0, 1.0, 0.5, 1.0, 1.0]), [2, 3, 3])
SIZES = np.array([[3, 3], [2, 3]], "int32")
DATA = floats(2, 3, 4)


def graph(name: str, function, *inputs, gradient: bool = False) -> None:
    """A program on the adjacency of two small graphs."""
    plain(programs, name, function, *inputs, NEIGHBOURS, gradient=gradient)


graph("convert_to_block_diag_2d", utils.convert_to_block_diag_2d)
graph(
    "convert_to_block_diag_2d sizes",
    lambda matrix: utils.convert_to_block_diag_2d(matrix, tf.constant(SIZES), True),
)
plain(programs, "flatten_batch_to_2d", utils.flatten_batch_to_2d, DATA)
plain(
    programs,
    "flatten_batch_to_2d sizes",
    lambda data: utils.flatten_batch_to_2d(data, tf.constant([3, 2]))[0],
    DATA,
)
plain(
    programs,
    "unflatten_2d_to_batch",
    lambda data: utils.unflatten_2d_to_batch(data, tf.constant([3, 2])),
    floats(5, 4),
)
graph(
    "edge_convolution_template",
    lambda data, matrix: graph_convolution.edge_convolution_template(
        data, matrix, None, lambda a, b: tf.concat([a, b - a], -1), "weighted", {}
    ),
    DATA,
)
graph(
    "feature_steered_convolution",
    lambda data, u, v, c, w, b, matrix: graph_convolution.feature_steered_convolution(
        data, matrix, None, u, v, c, w, b
    ),
    DATA,
    floats(4, 2),
    floats(4, 2),
    floats(2),
    floats(2, 4, 5),
    floats(5),
)
graph("pool", lambda data, matrix: graph_pooling.pool(data, matrix, None, "weighted"), DATA)
graph("pool max", lambda data, matrix: graph_pooling.pool(data, matrix, None, "max"), DATA)
graph("unpool", lambda data, matrix: graph_pooling.unpool(data, matrix, None), DATA)

ANGLES = floats(5, 3) - 0.5
UNIT = np.eye(4, dtype="float32")[[3, 3, 0]]
TURNED = np.stack([np.eye(3, dtype="float32")] * 2)
for name, function in {
    "axis_angle.from_euler": lambda x: axis_angle.from_euler(x),
    "axis_angle.from_euler small": axis_angle.from_euler_with_small_angles_approximation,
    "quaternion.from_euler": quaternion.from_euler,
    "rotation_matrix_3d.from_euler": rotation_matrix_3d.from_euler,
}.items():
    plain(programs, name, function, ANGLES, gradient=True)
for name, function in {
    "axis_angle.from_quaternion": axis_angle.from_quaternion,
    "quaternion.conjugate": quaternion.conjugate,
    "quaternion.inverse": quaternion.inverse,
    "quaternion.is_normalized": quaternion.is_normalized,
    "euler.from_quaternion": euler.from_quaternion,
    "rotation_matrix_3d.from_quaternion": rotation_matrix_3d.from_quaternion,
}.items():
    plain(programs, name, function, UNIT)
for name, function in {
    "axis_angle.from_rotation_matrix": axis_angle.from_rotation_matrix,
    "quaternion.from_rotation_matrix": quaternion.from_rotation_matrix,
    "euler.from_rotation_matrix": euler.from_rotation_matrix,
    "rotation_matrix_3d.is_valid": rotation_matrix_3d.is_valid,
}.items():
    plain(programs, name, function, TURNED)
plain(
    programs,
    "rotation_matrix_2d.rotate",
    lambda points, angles: rotation_matrix_2d.rotate(points, rotation_matrix_2d.from_euler(angles)),
    floats(4, 2),
    floats(4, 1),
    gradient=True,
)
plain(programs, "dual_quaternion.conjugate", dual_quaternion.conjugate, floats(3, 8))
plain(
    programs,
    "look_at.right_handed",
    look_at.right_handed,
    floats(2, 3),
    floats(2, 3) + 1.0,
    floats(2, 3),
)
plain(
    programs,
    "linear_blend_skinning.blend",
    linear_blend_skinning.blend,
    floats(5, 3),
    np.full((5, 2), 0.5, "float32"),
    TURNED,
    floats(2, 3),
)
plain(
    programs,
    "evaluate_legendre_polynomial",
    spherical_harmonics.evaluate_legendre_polynomial,
    np.array([1, 2, 3], "int32"),
    np.array([0, 1, 2], "int32"),
    floats(3),
)
plain(
    programs,
    "levenberg_marquardt.minimize",
    lambda x: levenberg_marquardt.minimize(lambda y: y * y - 1.0, x, max_iterations=3)[1],
    floats(4) + 0.5,
)
CLOUDS = floats(2, 6, 3), floats(2, 5, 3)
plain(programs, "chamfer_distance", chamfer_distance.evaluate, *CLOUDS, gradient=True)
plain(programs, "hausdorff_distance", hausdorff_distance.evaluate, *CLOUDS, gradient=True)
CLASSES = [np.round(floats(3, 6)), floats(3, 6)]
plain(programs, "precision", precision.evaluate, *CLASSES)
plain(programs, "recall", recall.evaluate, *CLASSES)
plain(programs, "fscore", fscore.evaluate, *CLASSES)
plain(
    programs,
    "intersection_over_union",
    intersection_over_union.evaluate,
    np.round(floats(3, 6)),
    np.round(floats(3, 6)),
)
LIGHT = [floats(4, 3) - 0.5 for _ in range(3)]
plain(
    programs,
    "phong.brdf",
    lambda incoming, outgoing, normal, albedo: phong.brdf(
        incoming, outgoing, normal, tf.constant([[2.0]]), albedo
    ),
    *LIGHT,
    floats(4, 3),
)
plain(
    programs,
    "blinn_phong.brdf",
    lambda incoming, outgoing, normal, albedo: blinn_phong.brdf(
        incoming, outgoing, normal, tf.constant([[2.0]]), albedo
    ),
    *LIGHT,
    floats(4, 3),
)
plain(programs, "lambertian.brdf", lambertian.brdf, *LIGHT, floats(4, 3))
