"""Calls of tensordiffeq 0.2.0 (Keras 3): loss and optimizers of a network for Burgers' equation."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs
from tensordiffeq import fit, networks, optimizers, utils
from tensordiffeq.models import CollocationSolverND

from programs.made import floats, plain

programs = Programs("tensordiffeq")
np.product = np.prod  # which numpy had when the package was written
LAYERS = [2, 8, 1]
# As many as the network's weights.
WEIGHTS = floats(2 * 8 + 8 + 8 + 1)

plain(programs, "MSE", utils.MSE, floats(4, 1), floats(4, 1), gradient=True)
plain(programs, "MSE weighted", utils.MSE, *[floats(4, 1) for _ in range(3)], gradient=True)
plain(programs, "g_MSE", utils.g_MSE, *[floats(4, 1) for _ in range(3)], gradient=True)
plain(programs, "convertTensor", utils.convertTensor, floats(4, 1))
plain(programs, "dot", optimizers.dot, floats(4), floats(4), gradient=True)


def _burgers(network: Any, x: Any, t: Any) -> Any:
    """The residual; with tapes, because tf.gradients cannot be called eagerly."""
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = network(tf.concat([x, t], 1))
        u_x = first.gradient(u, x)
        u_t = first.gradient(u, t)
    return u_t + u * u_x - 0.01 * second.gradient(u_x, x)


def _condition(kind: str) -> Any:
    points = tf.constant(floats(4, 2))
    return SimpleNamespace(
        isPeriodic=kind == "periodic",
        isInit=kind == "initial",
        isNeumann=False,
        isDirichlect=kind == "dirichlet",
        input=points,
        val=tf.constant(floats(4, 1)),
        var=[[["x"]]],
        upper=[points],
        lower=[points],
        u_x_model=lambda network, given: [[network(given)]],
    )


def _solver(adaptive: bool = False, condition: str = "initial") -> Any:
    """A solver as `compile` leaves it, which gives Adam an argument that Keras 3 refuses."""
    made = CollocationSolverND(verbose=False)
    made.sizes_w, made.sizes_b = utils.get_sizes(LAYERS)
    made.u_model = networks.neural_net(LAYERS)
    made.f_model = utils.get_tf_model(_burgers)
    made.g = None
    made.X_f_len, made.batch_sz, made.n_batches = np.array([6]), 6, 1
    made.bcs = [_condition(condition)]
    made.isAdaptive = adaptive
    if adaptive:
        made.dict_adaptive = {"residual": [True], "BCs": [True]}
        made.lambdas, made.lambdas_map = utils.initialize_weights_loss(
            {"residual": [floats(6, 1)], "BCs": [floats(4, 1)]}
        )
    made.tf_optimizer = tf.keras.optimizers.Adam(0.005)
    made.tf_optimizer_weights = tf.keras.optimizers.Adam(0.005)
    made.variables = made.u_model.trainable_variables
    made.X_f_in = [tf.constant(floats(6, 1)), tf.constant(floats(6, 1))]
    return made


def _at_points(name: str, make: Callable[[], Any], call: Callable[[Any], Any]) -> None:
    """A program that calls something of a solver at given points."""

    @programs(name)
    def _made() -> Call:
        made = make()

        def function(x: Any, t: Any) -> Any:
            made.X_f_in = [x, t]
            return call(made)

        return Call(function, [floats(6, 1), floats(6, 1)], check_shape=False)


for _options in ({}, {"adaptive": True}, {"condition": "dirichlet"}, {"condition": "periodic"}):
    _at_points(
        " ".join(["CollocationSolverND.update_loss", *map(str, _options.values())]),
        lambda _options=_options: _solver(**_options),
        lambda made: made.update_loss(),
    )


def _with_weights_of_loss() -> Any:
    made = _solver(adaptive=True)
    made.variables = [*made.variables, *made.lambdas]
    return made


_at_points("CollocationSolverND.grad", _solver, lambda made: made.grad())
_at_points("CollocationSolverND.grad adaptive", _with_weights_of_loss, lambda made: made.grad())


def _training(adaptive: bool) -> Any:
    """A solver in a step of Adam, as `fit` makes it."""
    made = _solver(adaptive)
    made.grad = tf.function(made.grad)
    made.tf_optimizer.build(made.u_model.trainable_variables)
    if adaptive:
        made.tf_optimizer_weights.build(made.lambdas)
    made.step = fit.train_op_inner(made)
    return made


for _adaptive in (False, True):
    _at_points(
        f"train_op_inner adaptive {_adaptive}",
        lambda _adaptive=_adaptive: _training(_adaptive),
        lambda made: made.step(made),
    )


def _of_weights(name: str, make: Callable[[], Callable[..., Any]]) -> None:
    programs(name)(lambda: Call(make(), [WEIGHTS], check_shape=False))


def _lbfgs() -> Any:
    made = _solver()
    return optimizers.graph_lbfgs(made.u_model, made.update_loss)


def _assignment() -> Callable[..., Any]:
    made = _lbfgs()

    def function(weights: Any) -> Any:
        made.assign_new_model_parameters(weights)
        return tf.reduce_sum(weights)

    return function


def _setting() -> Callable[..., Any]:
    made = _solver()

    def function(weights: Any) -> Any:
        utils.set_weights(made.u_model, weights, made.sizes_w, made.sizes_b)
        return tf.reduce_sum(weights)

    return function


_of_weights("graph_lbfgs", _lbfgs)
_of_weights("graph_lbfgs.assign_new_model_parameters", _assignment)
_of_weights(
    "CollocationSolverND.get_loss_and_flat_grad", lambda: _solver().get_loss_and_flat_grad()
)
_of_weights("set_weights", _setting)


def _fourth_power(x: Any) -> Any:
    return tf.reduce_sum(x**4), 4 * x**3


_of_weights(
    "eager_lbfgs",
    lambda: (
        lambda x: optimizers.eager_lbfgs(
            _fourth_power, x, optimizers.Struct(), maxIter=1, do_verbose=False
        )[0]
    ),
)
