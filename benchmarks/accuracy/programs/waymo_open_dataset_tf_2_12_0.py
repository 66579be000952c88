"""Calls of waymo-open-dataset 1.6.7: lidar images, boxes, geometry, occupancy grids, features of simulated agents, and metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs
from waymo_open_dataset.metrics.python import keypoint_metrics
from waymo_open_dataset.protos import (
    map_pb2,
    occupancy_flow_metrics_pb2,
    sim_agents_metrics_pb2,
)
from waymo_open_dataset.utils import (
    box_utils,
    geometry_utils,
    keypoint_data,
    occupancy_flow_data,
    occupancy_flow_grids,
    occupancy_flow_metrics,
    occupancy_flow_renderer,
    range_image_utils,
    transform_utils,
)
from waymo_open_dataset.utils.compression import tiling
from waymo_open_dataset.wdl_limited.sim_agents_metrics import (
    estimators,
    interaction_features,
    map_metric_features,
    trajectory_features,
)

from programs.made import floats, integers, plain

programs = Programs("waymo_open_dataset")
POSE = np.tile(np.eye(4, dtype="float32"), (2, 1, 1))
POSE[:, :3, 3] = floats(2, 3)
RANGES = floats(2, 4, 6) * 20 + 1
INCLINATION = np.sort(floats(2, 4) * 0.4 - 0.2, 1)[:, ::-1].copy()
POLAR = np.stack([floats(2, 4, 6) * 3, floats(2, 4, 6) * 0.3, RANGES], -1)
CARTESIAN = floats(2, 4, 6, 3) * 10
PROJECTION = np.concatenate(
    [integers(limit, 2, 4, 6, size) for limit, size in ((2, 1), (8, 2), (2, 1), (8, 2))],
    -1,
)
POINTS = floats(5, 3) * 4
BOXES = np.concatenate([floats(3, 3) * 4, floats(3, 3) * 3 + 1, floats(3, 1)], 1)
CORNERS = np.asarray([[[0, 0], [2, 0], [2, 1], [0, 1]]] * 3, "float32") + floats(3, 1, 2)


def _fixed(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return lambda *given: function(*given, **options)


_LIDAR = (
    ("compute_range_image_polar", (RANGES, POSE, INCLINATION), {}),
    ("compute_range_image_cartesian", (POLAR, POSE), {}),
    ("extract_point_cloud_from_range_image", (RANGES, POSE, INCLINATION), {}),
    (
        "build_camera_depth_image",
        (CARTESIAN, POSE, PROJECTION),
        {"camera_image_size": [8, 8], "camera_name": 1},
    ),
    (
        "build_range_image_from_point_cloud",
        (floats(2, 5, 3) * 5, np.asarray([5, 4], "int32"), POSE, INCLINATION),
        {"range_image_size": [4, 6]},
    ),
    ("crop_range_image", (RANGES,), {"new_width": 4}),
    ("compute_inclination", (np.asarray([[-0.3, 0.2]], "float32"),), {"height": 4}),
    ("encode_lidar_features", (floats(5, 3),), {}),
    ("decode_lidar_features", (integers(1000, 5, 3).astype("int64"),), {}),
    ("scatter_nd_with_pool", (integers(4, 6, 2), floats(6)), {"shape": [4, 4]}),
    ("scatter_nd_with_pool", (integers(4, 6, 2), floats(6, 3)), {"shape": [4, 4]}),
)
for _number, (_name, _inputs, _options) in enumerate(_LIDAR):
    _function = getattr(range_image_utils, _name)
    plain(programs, f"{_name} {_number}", _fixed(_function, **_options), *_inputs, gradient=True)
plain(
    programs,
    "build_range_image_from_point_cloud features",
    lambda points, counts, features, pose, inclination: (
        range_image_utils.build_range_image_from_point_cloud(
            points, counts, pose, inclination, [4, 6], point_features=features
        )
    ),
    floats(2, 5, 3) * 5,
    np.asarray([5, 4], "int32"),
    floats(2, 5, 2),
    POSE,
    INCLINATION,
)

plain(programs, "is_within_box_3d", box_utils.is_within_box_3d, POINTS, BOXES)
plain(
    programs,
    "is_within_box_2d",
    box_utils.is_within_box_2d,
    POINTS[:, :2].copy(),
    BOXES[:, [0, 1, 3, 4, 6]],
)
plain(
    programs, "compute_num_points_in_box_3d", box_utils.compute_num_points_in_box_3d, POINTS, BOXES
)
plain(programs, "box corners", box_utils.get_upright_3d_box_corners, BOXES, gradient=True)
plain(
    programs,
    "transform_point",
    box_utils.transform_point,
    POINTS,
    POSE[0],
    POSE[1],
    gradient=True,
)
plain(programs, "transform_box", box_utils.transform_box, BOXES[None], POSE[:1], POSE[1:])
plain(programs, "get_yaw_rotation", transform_utils.get_yaw_rotation, floats(3), gradient=True)
plain(programs, "get_yaw_rotation_2d", transform_utils.get_yaw_rotation_2d, floats(3))
plain(
    programs,
    "get_rotation_matrix",
    transform_utils.get_rotation_matrix,
    floats(3),
    floats(3),
    floats(3),
)
plain(programs, "get_transform", transform_utils.get_transform, floats(2, 3, 3), floats(2, 3))

plain(
    programs,
    "minkowski_sum",
    geometry_utils.minkowski_sum_of_box_and_box_points,
    CORNERS,
    CORNERS[::-1].copy(),
    gradient=True,
)
plain(
    programs,
    "signed_distance",
    geometry_utils.signed_distance_from_point_to_convex_polygon,
    floats(3, 2),
    CORNERS,
    gradient=True,
)
plain(programs, "rotate_2d_points", geometry_utils.rotate_2d_points, floats(3, 2), floats(3))

GRID = {
    "num_past_steps": 2,
    "num_future_steps": 4,
    "num_waypoints": 2,
    "grid_height_cells": 16,
    "grid_width_cells": 16,
    "sdc_x_in_grid": 8,
    "sdc_y_in_grid": 8,
    "pixels_per_meter": 1.0,
    "agent_points_per_side_length": 3,
    "agent_points_per_side_width": 2,
    "normalize_sdc_yaw": True,
}
CONFIG = occupancy_flow_metrics_pb2.OccupancyFlowTaskConfig(**GRID)
_STEPS = {"past": 2, "current": 1, "future": 4}


def _scene() -> dict[str, Any]:
    fields = ("x", "y", "z", "bbox_yaw", "length", "width", "velocity_x", "velocity_y")
    made: dict[str, Any] = {
        f"state/{when}/{field}": floats(1, 3, steps) * 6 + 1
        for when, steps in _STEPS.items()
        for field in fields
    }
    for when, steps in _STEPS.items():
        made[f"state/{when}/valid"] = np.ones((1, 3, steps), "int64")
    made["state/type"] = np.asarray([[1, 2, 3]], "float32")
    made["state/is_sdc"] = np.asarray([[1, 0, 0]], "int64")
    made |= {f"sdc/current/{field}": floats(1, 1) for field in ("x", "y", "z", "bbox_yaw")}
    made["roadgraph_samples/xyz"] = floats(1, 7, 3) * 6
    made["roadgraph_samples/valid"] = np.ones((1, 7, 1), "int64")
    return made


def _shown(grids: Any) -> list[Any]:
    return [grids.vehicles, grids.pedestrians, grids.cyclists]


for _kind in ("occupancy", "flow"):
    _function = getattr(occupancy_flow_renderer, f"render_{_kind}_from_inputs")
    for _observed in (True, False):
        plain(
            programs,
            f"render {_kind} {_observed}",
            lambda scene, function=_function, observed=_observed: _shown(
                function(scene, ["past", "current", "future"], CONFIG, observed, True)
            ),
            _scene(),
        )
plain(
    programs,
    "render roadgraph",
    lambda scene: occupancy_flow_renderer.render_roadgraph_from_inputs(scene, CONFIG),
    _scene(),
)
plain(programs, "add_sdc_fields", occupancy_flow_data.add_sdc_fields, _scene())


def _timestep(scene: Any) -> list[Any]:
    made = occupancy_flow_grids.create_ground_truth_timestep_grids(scene, CONFIG)
    kept = occupancy_flow_grids.create_ground_truth_waypoint_grids(made, CONFIG)
    return [kept.vehicles.observed_occupancy, kept.vehicles.flow, made.vehicles.all_flow]


plain(programs, "waypoint grids", _timestep, _scene())
plain(
    programs,
    "soft iou",
    occupancy_flow_metrics._compute_occupancy_soft_iou,
    floats(1, 4, 4, 1),
    floats(1, 4, 4, 1),
    gradient=True,
)
plain(
    programs,
    "flow epe",
    occupancy_flow_metrics._compute_flow_epe,
    floats(1, 4, 4, 2),
    floats(1, 4, 4, 2),
    gradient=True,
)

AGENTS = [floats(4, 5) * 8 for _ in range(3)] + [floats(4, 5) + 1 for _ in range(3)]
HEADING, VALID = floats(4, 5), floats(4, 5) > 0.2
EVALUATED = np.asarray([True, False, True, False])
_FIELDS = ("center_x", "center_y", "center_z", "length", "width", "height", "heading", "valid")


def _agents(function: Callable[..., Any], *left_out: str, **options: Any) -> Callable[..., Any]:
    fields = [field for field in (*_FIELDS, "evaluated_object_mask") if field not in left_out]

    def called(*given: Any) -> Any:
        named = dict(zip((*_FIELDS, "evaluated_object_mask"), given))
        return function(**{field: named[field] for field in fields}, **options)

    return called


ROAD = [
    [map_pb2.MapPoint(x=float(x), y=float(x * x), z=0.0) for x in range(4)],
    [map_pb2.MapPoint(x=float(x), y=-1.0, z=0.0) for x in range(5)],
]
for _name, _made in (
    (
        "distance to nearest object",
        _agents(interaction_features.compute_distance_to_nearest_object),
    ),
    (
        "time to collision",
        _agents(
            interaction_features.compute_time_to_collision_with_object_in_front,
            "center_z",
            "height",
            seconds_per_step=0.1,
        ),
    ),
    (
        "distance to road edge",
        _agents(map_metric_features.compute_distance_to_road_edge, road_edge_polylines=ROAD),
    ),
):
    plain(programs, _name, _made, *AGENTS, HEADING, VALID, EVALUATED)
plain(
    programs,
    "distance to polylines",
    lambda points: map_metric_features._compute_signed_distance_to_polylines(
        points, map_metric_features.tensorize_polylines(ROAD)[0]
    ),
    floats(5, 3) * 4,
    gradient=True,
)
plain(
    programs,
    "kinematic features",
    lambda x, y, z, h: trajectory_features.compute_kinematic_features(x, y, z, h, 0.1),
    *AGENTS[:3],
    HEADING,
)
plain(programs, "kinematic validity", trajectory_features.compute_kinematic_validity, VALID)
plain(
    programs,
    "displacement error",
    trajectory_features.compute_displacement_error,
    *AGENTS[:3],
    *[floats(4, 5) for _ in range(3)],
    gradient=True,
)

_METRICS = sim_agents_metrics_pb2.SimAgentMetricsConfig


def _estimate(kind: str, config: Any, log: Any, simulated: Any) -> None:
    plain(
        programs,
        f"{kind} estimate",
        lambda a, b: getattr(estimators, f"{kind}_estimate")(config, a, b),
        log,
        simulated,
    )


HISTOGRAM = _METRICS.HistogramEstimate(min_val=0.0, max_val=1.0, num_bins=5)
DENSITY = _METRICS.KernelDensityEstimate(bandwidth=0.5)
_estimate("histogram", HISTOGRAM, floats(3, 4), floats(3, 8))
_estimate("kernel_density", DENSITY, floats(3, 4), floats(3, 8))
_estimate("bernoulli", _METRICS.BernoulliEstimate(), floats(3, 4) > 0.5, floats(3, 8) > 0.5)
for _name, _feature in (
    ("histogram", _METRICS.FeatureConfig(histogram=HISTOGRAM)),
    ("density", _METRICS.FeatureConfig(kernel_density=DENSITY)),
):
    plain(
        programs,
        f"scenario level {_name}",
        lambda a, b, config=_feature: estimators.log_likelihood_estimate_scenario_level(
            config, a, b
        ),
        floats(4),
        floats(6, 4),
    )
    plain(
        programs,
        f"agent level {_name}",
        lambda a, b, config=_feature: estimators._log_likelihood_estimate_timeseries_agent_level(
            config, a, b
        ),
        floats(4, 5),
        floats(6, 4, 5),
    )

plain(programs, "extract tiles", lambda x: tiling.extract_tiles(x, 2), floats(5, 6, 3))


def _keypoints() -> tuple[Any, ...]:
    return floats(2, 4, 3), integers(3, 2, 4), floats(2, 3), floats(2, 3) + 1, floats(2)


def _keypoint_metric(name: str, make: Callable[[], Any]) -> None:
    @programs(name)
    def build() -> Call:
        metric = make()

        def function(true: Any, given: Any) -> Any:
            box = keypoint_data.BoundingBoxTensors(center=true[2], size=true[3], heading=true[4])
            points = [
                keypoint_data.KeypointsTensors(
                    location=part[0], visibility=tf.cast(part[1], tf.float32)
                )
                for part in (true, given)
            ]
            metric.update_state([*points, box])
            return metric.result()

        return Call(function, [_keypoints(), _keypoints()])


TYPES = [1, 5, 6, 7]
SCALES = dict.fromkeys(TYPES, 0.1)
_keypoint_metric(
    "AveragePrecisionAtOKS",
    lambda: keypoint_metrics.AveragePrecisionAtOKS(SCALES, [0.5, 0.9]),
)
_keypoint_metric("MeanPerJointPositionError", keypoint_metrics.MeanPerJointPositionError)
_keypoint_metric("PoseEstimationMetric", lambda: keypoint_metrics.PoseEstimationMetric(0.25))
_keypoint_metric("KeypointVisibilityPrecision", keypoint_metrics.KeypointVisibilityPrecision)
_keypoint_metric("KeypointVisibilityRecall", keypoint_metrics.KeypointVisibilityRecall)
