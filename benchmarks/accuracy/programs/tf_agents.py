"""Calls of TF-Agents 0.19.0 (TensorFlow 2.15): networks, losses of agents, policies and what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from program import Call, Programs
from tf_agents.agents.categorical_dqn import categorical_dqn_agent
from tf_agents.agents.cql import cql_sac_agent
from tf_agents.agents.ddpg import actor_network, critic_network, ddpg_agent
from tf_agents.agents.dqn import dqn_agent
from tf_agents.agents.reinforce import reinforce_agent
from tf_agents.agents.sac import sac_agent
from tf_agents.bandits.agents import (
    lin_ucb_agent,
    linear_thompson_sampling_agent,
    neural_epsilon_greedy_agent,
)
from tf_agents.networks import (
    actor_distribution_network,
    actor_distribution_rnn_network,
    categorical_q_network,
    encoding_network,
    lstm_encoding_network,
    q_network,
    q_rnn_network,
    value_network,
    value_rnn_network,
)
from tf_agents.policies import (
    boltzmann_policy,
    epsilon_greedy_policy,
    gaussian_policy,
    greedy_policy,
    ou_noise_policy,
    q_policy,
    random_tf_policy,
)
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common, nest_utils, tensor_normalizer, value_ops

from programs.made import floats, integers, plain

programs = Programs("tf_agents")

SEEN = tensor_spec.TensorSpec([4], tf.float32)
CHOICE = tensor_spec.BoundedTensorSpec([], tf.int32, 0, 2)
MOVE = tensor_spec.BoundedTensorSpec([2], tf.float32, -1.0, 1.0)
STEP = ts.time_step_spec(SEEN)
OBSERVED = floats(3, 4)
SEQUENCE = floats(3, 5, 4)


def network(name: str, make: Callable[[], Any], value: Any) -> None:
    """A program that calls a network, and takes what it gives as tensors."""

    def build() -> Call:
        made = make()
        made.create_variables()
        kinds = tf.fill([value.shape[0]] if value.ndim == 2 else value.shape[:2], 1)

        def call(x: Any) -> Any:
            result, _ = made(x, step_type=tf.cast(kinds, tf.int32))
            return [_tensor(part) for part in tf.nest.flatten(result)]

        return Call(call, [value], True)

    programs(f"networks.{name}")(build)


def _tensor(value: Any) -> Any:
    return (
        value
        if isinstance(value, tf.Tensor)
        else value.mean()
        if hasattr(value, "mean")
        else tf.convert_to_tensor(value)
    )


network("QNetwork", lambda: q_network.QNetwork(SEEN, CHOICE), OBSERVED)
network("QRnnNetwork", lambda: q_rnn_network.QRnnNetwork(SEEN, CHOICE), SEQUENCE)
network(
    "CategoricalQNetwork", lambda: categorical_q_network.CategoricalQNetwork(SEEN, CHOICE), OBSERVED
)
network("ValueNetwork", lambda: value_network.ValueNetwork(SEEN), OBSERVED)
network("ValueRnnNetwork", lambda: value_rnn_network.ValueRnnNetwork(SEEN), SEQUENCE)
network(
    "EncodingNetwork",
    lambda: encoding_network.EncodingNetwork(SEEN, fc_layer_params=(8,)),
    OBSERVED,
)
network("LSTMEncodingNetwork", lambda: lstm_encoding_network.LSTMEncodingNetwork(SEEN), SEQUENCE)
network(
    "ActorNetwork", lambda: actor_network.ActorNetwork(SEEN, MOVE, fc_layer_params=(8,)), OBSERVED
)
network(
    "ActorDistributionNetwork",
    lambda: actor_distribution_network.ActorDistributionNetwork(SEEN, MOVE, fc_layer_params=(8,)),
    OBSERVED,
)
network(
    "ActorDistributionNetwork discrete",
    lambda: actor_distribution_network.ActorDistributionNetwork(SEEN, CHOICE, fc_layer_params=(8,)),
    OBSERVED,
)
network(
    "ActorDistributionRnnNetwork",
    lambda: actor_distribution_rnn_network.ActorDistributionRnnNetwork(SEEN, MOVE),
    SEQUENCE,
)


def _q() -> Any:
    return q_network.QNetwork(SEEN, CHOICE, fc_layer_params=(8,))


def _stochastic(move: Any) -> Any:
    return actor_distribution_network.ActorDistributionNetwork(SEEN, move, fc_layer_params=(8,))


def _critic() -> Any:
    return critic_network.CriticNetwork((SEEN, MOVE), joint_fc_layer_params=(8,))


def policy(name: str, make: Callable[[], Any], distribution: bool = False) -> None:
    """A program that asks a policy for an action."""

    def build() -> Call:
        made = make()

        def call(x: Any) -> Any:
            step = ts.restart(x, batch_size=3)
            return made.action(step, made.get_initial_state(3), seed=3).action

        return Call(call, [OBSERVED])

    programs(f"policies.{name}")(build)


policy("QPolicy", lambda: q_policy.QPolicy(STEP, CHOICE, _q()))
policy("GreedyPolicy", lambda: greedy_policy.GreedyPolicy(q_policy.QPolicy(STEP, CHOICE, _q())))
policy(
    "EpsilonGreedyPolicy",
    lambda: epsilon_greedy_policy.EpsilonGreedyPolicy(q_policy.QPolicy(STEP, CHOICE, _q()), 0.2),
)
policy(
    "BoltzmannPolicy",
    lambda: boltzmann_policy.BoltzmannPolicy(q_policy.QPolicy(STEP, CHOICE, _q()), 0.7),
)
policy("RandomTFPolicy", lambda: random_tf_policy.RandomTFPolicy(STEP, CHOICE))
policy("RandomTFPolicy continuous", lambda: random_tf_policy.RandomTFPolicy(STEP, MOVE))
policy("DdpgPolicy", lambda: _ddpg().policy)
policy("OUNoisePolicy", lambda: ou_noise_policy.OUNoisePolicy(_ddpg().policy))
policy("GaussianPolicy", lambda: gaussian_policy.GaussianPolicy(_ddpg().policy))


def _adam() -> Any:
    return tf.keras.optimizers.legacy.Adam(1e-3)


def _ddpg() -> Any:
    return ddpg_agent.DdpgAgent(
        STEP,
        MOVE,
        actor_network.ActorNetwork(SEEN, MOVE, fc_layer_params=(8,)),
        _critic(),
        _adam(),
        _adam(),
    )


def agent(name: str, make: Callable[[], Any], is_discrete: bool, length: int = 2) -> None:
    """Programs that take the loss of an agent, and a step of its training."""

    def experience(x: Any, reward: Any) -> Any:
        action = tf.ones([3, length], tf.int32) if is_discrete else tf.fill([3, length, 2], 0.3)
        kind = tf.ones([3, length], tf.int32)
        return trajectory.Trajectory(kind, x, action, (), kind, reward, tf.ones([3, length]))

    def loss() -> Call:
        made = make()
        made.initialize()
        return Call(
            lambda x, r: made.loss(experience(x, r)).loss,
            [floats(3, length, 4), floats(3, length)],
            True,
        )

    def train() -> Call:
        made = make()
        made.initialize()
        made._train(
            experience(tf.constant(floats(3, length, 4)), tf.constant(floats(3, length))),
            weights=None,
        )
        return Call(
            lambda x, r: made._train(experience(x, r), weights=None).loss,
            [floats(3, length, 4), floats(3, length)],
        )

    programs(f"agents.{name}.loss")(loss)
    programs(f"agents.{name}.train")(train)


agent("DqnAgent", lambda: dqn_agent.DqnAgent(STEP, CHOICE, _q(), _adam()), True)
agent("DdqnAgent", lambda: dqn_agent.DdqnAgent(STEP, CHOICE, _q(), _adam()), True)
agent(
    "CategoricalDqnAgent",
    lambda: categorical_dqn_agent.CategoricalDqnAgent(
        STEP,
        CHOICE,
        categorical_q_network.CategoricalQNetwork(SEEN, CHOICE, fc_layer_params=(8,)),
        _adam(),
    ),
    True,
)
agent("DdpgAgent", _ddpg, False)
agent(
    "ReinforceAgent",
    lambda: reinforce_agent.ReinforceAgent(STEP, CHOICE, _stochastic(CHOICE), _adam()),
    True,
    4,
)
agent(
    "SacAgent",
    lambda: sac_agent.SacAgent(
        STEP,
        MOVE,
        critic_network=_critic(),
        actor_network=_stochastic(MOVE),
        actor_optimizer=_adam(),
        critic_optimizer=_adam(),
        alpha_optimizer=_adam(),
    ),
    False,
)
agent(
    "CqlSacAgent",
    lambda: cql_sac_agent.CqlSacAgent(
        STEP,
        MOVE,
        critic_network=_critic(),
        actor_network=_stochastic(MOVE),
        actor_optimizer=_adam(),
        critic_optimizer=_adam(),
        alpha_optimizer=_adam(),
        cql_alpha=1.0,
        num_cql_samples=2,
        include_critic_entropy_term=False,
        use_lagrange_cql_alpha=False,
    ),
    False,
)

plain(
    programs,
    "value_ops.discounted_return",
    lambda r, d: value_ops.discounted_return(r, d),
    floats(5, 3),
    floats(5, 3),
    gradient=True,
)
plain(
    programs,
    "value_ops.generalized_advantage_estimation",
    lambda v, f, d, r: value_ops.generalized_advantage_estimation(v, f, d, r),
    floats(5, 3),
    floats(3),
    floats(5, 3),
    floats(5, 3),
)
plain(
    programs,
    "common.compute_returns",
    lambda r, d: common.compute_returns(r, d),
    floats(5),
    floats(5),
)
plain(
    programs,
    "common.index_with_actions",
    lambda q, a: common.index_with_actions(q, a),
    floats(4, 3),
    integers(3, 4),
)
plain(
    programs,
    "common.element_wise_squared_loss",
    lambda x, y: common.element_wise_squared_loss(x, y),
    floats(4),
    floats(4),
)
plain(programs, "common.scale_to_spec", lambda x: common.scale_to_spec(x, MOVE), floats(3, 2))
plain(programs, "common.clip_to_spec", lambda x: common.clip_to_spec(x, MOVE), floats(3, 2))
plain(
    programs,
    "common.spec_means_and_magnitudes",
    lambda x: common.spec_means_and_magnitudes(MOVE)[0] * x,
    floats(2),
)
plain(
    programs,
    "common.get_contiguous_sub_episodes",
    lambda x: common.get_contiguous_sub_episodes(x),
    floats(3, 5),
)
plain(
    programs,
    "common.ornstein_uhlenbeck_process",
    lambda x: common.ornstein_uhlenbeck_process(x)(),
    floats(2),
)
plain(
    programs,
    "common.discounted_future_sum",
    lambda x: common.discounted_future_sum(x, 0.9, 3),
    floats(3, 5),
)
plain(
    programs,
    "common.discounted_future_sum_masked",
    lambda x, m: common.discounted_future_sum_masked(x, 0.9, 3, m),
    floats(3, 5),
    integers(3, 3) + 1,
)
plain(programs, "common.shift_values", lambda x: common.shift_values(x, 0.9, 2), floats(3, 5))
plain(
    programs,
    "common.get_episode_mask",
    lambda x: common.get_episode_mask(ts.restart(x, batch_size=3)),
    OBSERVED,
)
plain(
    programs,
    "common.aggregate_losses",
    lambda x: common.aggregate_losses(x, global_batch_size=3).total_loss,
    floats(3),
)
plain(programs, "common.replicate", lambda x: common.replicate(x, [2]), floats(3))
plain(
    programs,
    "common.periodically",
    lambda x: common.Periodically(lambda: tf.constant(1.0), 2)() if False else x + 1,
    floats(3),
)
plain(
    programs,
    "nest_utils.where",
    lambda c, x, y: nest_utils.where(c, x, y),
    np.array([True, False, True]),
    OBSERVED,
    OBSERVED,
)
plain(
    programs,
    "nest_utils.batch_nested_tensors",
    lambda x: nest_utils.batch_nested_tensors(x),
    OBSERVED,
)
plain(
    programs,
    "nest_utils.flatten_multi_batched_nested_tensors",
    lambda x: nest_utils.flatten_multi_batched_nested_tensors(x, SEEN)[0],
    SEQUENCE,
)
plain(programs, "nest_utils.tile_batch", lambda x: nest_utils.tile_batch(x, 2), OBSERVED)
plain(
    programs,
    "nest_utils.stack_nested_tensors",
    lambda x: nest_utils.stack_nested_tensors([x, x]),
    OBSERVED,
)


def normalizer(name: str, make: Callable[[], Any]) -> None:
    """A program that normalizes by what was seen before, and one that looks at more."""

    def normalize() -> Call:
        made = make()
        return Call(lambda x: made.normalize(x), [OBSERVED])

    def update() -> Call:
        made = make()

        def call(x: Any) -> Any:
            made.update(x)
            return made.normalize(x)

        return Call(call, [OBSERVED])

    programs(f"tensor_normalizer.{name}.normalize")(normalize)
    programs(f"tensor_normalizer.{name}.update")(update)


normalizer("EMATensorNormalizer", lambda: tensor_normalizer.EMATensorNormalizer(SEEN))
normalizer("StreamingTensorNormalizer", lambda: tensor_normalizer.StreamingTensorNormalizer(SEEN))


@programs("replay_buffers.TFUniformReplayBuffer.add_batch")
def _added() -> Call:
    buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(SEEN, batch_size=3, max_length=8)

    def call(x: Any) -> Any:
        buffer.add_batch(x)
        return buffer.num_frames()

    return Call(call, [OBSERVED])


@programs("replay_buffers.TFUniformReplayBuffer.get_next")
def _sampled() -> Call:
    buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(SEEN, batch_size=3, max_length=8)
    buffer.add_batch(tf.constant(OBSERVED))
    return Call(lambda x: buffer.get_next(sample_batch_size=2)[0] + x, [floats(4)])


def bandit(name: str, make: Callable[[], Any]) -> None:
    """Programs that ask a bandit for an action and train it."""

    def act() -> Call:
        made = make()
        made.initialize()
        return Call(lambda x: made.policy.action(ts.restart(x, batch_size=3)).action, [OBSERVED])

    def train() -> Call:
        made = make()
        made.initialize()

        def call(x: Any, reward: Any) -> Any:
            one = tf.ones([3, 1], tf.int32)
            info = made.policy.info_spec
            zeros = tf.nest.map_structure(lambda s: tf.zeros([3, 1, *s.shape], s.dtype), info)
            seen = trajectory.Trajectory(
                one, x[:, None], one, zeros, one, reward[:, None], tf.ones([3, 1])
            )
            return made.train(seen).loss

        call(tf.constant(OBSERVED), tf.constant(floats(3)))
        return Call(call, [OBSERVED, floats(3)])

    programs(f"bandits.{name}.action")(act)
    programs(f"bandits.{name}.train")(train)


bandit("LinearUCBAgent", lambda: lin_ucb_agent.LinearUCBAgent(STEP, CHOICE))
bandit(
    "LinearThompsonSamplingAgent",
    lambda: linear_thompson_sampling_agent.LinearThompsonSamplingAgent(STEP, CHOICE),
)
bandit(
    "NeuralEpsilonGreedyAgent",
    lambda: neural_epsilon_greedy_agent.NeuralEpsilonGreedyAgent(STEP, CHOICE, _q(), _adam(), 0.2),
)
