"""Calls of trfl 1.2.0: losses of reinforcement learning."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
import trfl
from program import Call, Programs
from trfl import distribution_ops as do

from programs.made import floats, integers, short

programs = Programs("trfl")
p = short(programs)
B, A, T = 4, 3, 5
q, q2, q3 = floats(B, A), floats(B, A), floats(B, A)
a, a2 = integers(A, B), integers(A, B)
r, pc, v, v2 = floats(B), floats(B), floats(B), floats(B)
p("qlearning", lambda *x: tuple(trfl.qlearning(*x)), q, a, r, pc, q2)
p("double_qlearning", lambda *x: trfl.double_qlearning(*x).loss, q, a, r, pc, q2, q3)
p("persistent_qlearning", lambda *x: trfl.persistent_qlearning(*x).loss, q, a, r, pc, q2)
p("sarsa", lambda *x: trfl.sarsa(*x).loss, q, a, r, pc, q2, a2)
p("sarse", lambda *x: trfl.sarse(*x).loss, q, a, r, pc, q2, tf.nn.softmax(q3).numpy())
p(
    "sarse debug",
    lambda *x: trfl.sarse(*x, debug=True).loss,
    q,
    a,
    r,
    pc,
    q2,
    tf.nn.softmax(q3).numpy(),
)
p("qv_learning", lambda *x: trfl.qv_learning(*x).loss, q, a, r, pc, v)
p("qv_max", lambda *x: trfl.qv_max(*x).loss, v, r, pc, q)
p("td_learning", lambda *x: trfl.td_learning(*x).loss, v, r, pc, v2)
sq, sq2, sa, sr, spc = (
    floats(T, B, A),
    floats(T, B, A),
    integers(A, T, B),
    floats(T, B),
    floats(T, B),
)
p("qlambda", lambda *x: trfl.qlambda(*x, 0.9).loss, sq, sa, sr, spc, sq2)
p("qlambda tensor", lambda *x: trfl.qlambda(*x).loss, sq, sa, sr, spc, sq2, floats(T, B))
p(
    "sarsa_lambda",
    lambda *x: trfl.sarsa_lambda(*x, 0.9).loss,
    sq,
    sa,
    sr,
    spc,
    sq2,
    integers(A, T, B),
)
sv, boot = floats(T, B), floats(B)
p("generalized_lambda_returns", lambda *x: trfl.generalized_lambda_returns(*x), sr, spc, sv, boot)
p(
    "generalized_lambda_returns 0.9",
    lambda *x: trfl.generalized_lambda_returns(*x, 0.9),
    sr,
    spc,
    sv,
    boot,
)
p("td_lambda", lambda *x: trfl.td_lambda(*x, 0.9).loss, sv, sr, spc, boot)
p("huber_loss", lambda x: trfl.huber_loss(x, 1.0), floats(B) * 4 - 2)
logits, logits2 = floats(T, B, A), floats(T, B, A)
p(
    "vtrace_from_logits",
    lambda *x: tuple(trfl.vtrace_from_logits(*x)),
    logits,
    logits2,
    sa,
    spc,
    sr,
    sv,
    boot,
)
p(
    "vtrace_from_logits no clip",
    lambda *x: tuple(
        trfl.vtrace_from_logits(*x, clip_rho_threshold=None, clip_pg_rho_threshold=None)
    ),
    logits,
    logits2,
    sa,
    spc,
    sr,
    sv,
    boot,
)
p(
    "vtrace_from_importance_weights",
    lambda *x: tuple(trfl.vtrace_from_importance_weights(*x)),
    floats(T, B),
    spc,
    sr,
    sv,
    boot,
)
p(
    "retrace_from_action_log_probs",
    lambda *x: tuple(trfl.retrace_from_action_log_probs(*x)),
    floats(T, B),
    floats(T, B),
    spc,
    sr,
    floats(T, B),
    sv,
    boot,
)
p(
    "retrace_from_importance_weights",
    lambda *x: tuple(trfl.retrace_from_importance_weights(*x)),
    floats(T, B),
    spc,
    sr,
    floats(T, B),
    sv,
    boot,
)
p(
    "discrete_policy_entropy_loss",
    lambda x: trfl.discrete_policy_entropy_loss(x, normalise=True).loss,
    logits,
)
p("discrete_policy_gradient", lambda *x: trfl.discrete_policy_gradient(*x), q, a, r)
p(
    "discrete_policy_gradient_loss",
    lambda *x: trfl.discrete_policy_gradient_loss(*x),
    logits,
    sa,
    sr,
)
p(
    "sequence_advantage_actor_critic_loss",
    lambda *x: (
        trfl.sequence_advantage_actor_critic_loss(
            *x, lambda_=0.9, entropy_cost=0.1, normalise_entropy=True
        ).loss
    ),
    logits,
    sv,
    sa,
    sr,
    spc,
    boot,
)
atoms = np.linspace(-1, 1, 6).astype("float32")
lq, lq2 = floats(B, A, 6), floats(B, A, 6)
p(
    "categorical_dist_qlearning",
    lambda *x: trfl.categorical_dist_qlearning(*x).loss,
    atoms,
    lq,
    a,
    r,
    pc,
    atoms,
    lq2,
)
p(
    "categorical_dist_double_qlearning",
    lambda *x: trfl.categorical_dist_double_qlearning(*x).loss,
    atoms,
    lq,
    a,
    r,
    pc,
    atoms,
    lq2,
    q,
)
p(
    "categorical_dist_td_learning",
    lambda *x: trfl.categorical_dist_td_learning(*x).loss,
    atoms,
    floats(B, 6),
    r,
    pc,
    atoms,
    floats(B, 6),
)

p(
    "l2_project",
    lambda z, x: do.l2_project(z, x, atoms),
    floats(B, 6),
    tf.nn.softmax(floats(B, 6)).numpy(),
)
p(
    "factorised_kl_gaussian diag",
    lambda *x: do.factorised_kl_gaussian(*x, both_diagonal=True),
    floats(B, 3),
    floats(B, 3),
    floats(B, 3),
    floats(B, 3),
)
p(
    "factorised_kl_gaussian full",
    lambda m, n: do.factorised_kl_gaussian(
        m, tf.eye(3, batch_shape=[B]) * 2.0, n, tf.eye(3, batch_shape=[B])
    ),
    floats(B, 3),
    floats(B, 3),
)


p("batched_index", lambda *x: trfl.batched_index(*x), q, a)
p("batched_index seq keepdims", lambda x, i: trfl.batched_index(x, i, keepdims=True), sq, sa)
obs = floats(T + 1, B, 8, 8, 3)
p("pixel_control_rewards", lambda o: trfl.pixel_control_rewards(o, 4), obs)
p(
    "pixel_control_loss",
    lambda o, s, v_: trfl.pixel_control_loss(o, s, v_, 4, 0.9, 1.0).loss,
    obs,
    sa,
    floats(T + 1, B, 2, 2, A),
)
p(
    "pixel_control_loss crop",
    lambda o, s, v_: trfl.pixel_control_loss(o, s, v_, 2, 0.9, 1.0, (1, 7), (1, 7)).loss,
    obs,
    sa,
    floats(T + 1, B, 3, 3, A),
)


def categorical(x):
    return tfp.distributions.Categorical(logits=x)


p("policy_gradient", lambda *x: trfl.policy_gradient(categorical(x[0]), *x[1:]), q, a, r)
p(
    "policy_gradient_loss",
    lambda *x: trfl.policy_gradient_loss(categorical(x[0]), *x[1:]),
    logits,
    sa,
    sr,
)
p("policy_entropy_loss", lambda x: trfl.policy_entropy_loss(categorical(x)).loss, logits)
p(
    "sequence_a2c_loss",
    lambda *x: trfl.sequence_a2c_loss(categorical(x[0]), *x[1:], entropy_cost=0.1).loss,
    logits,
    sv,
    sa,
    sr,
    spc,
    boot,
)
p(
    "sequence_a2c_loss normal",
    lambda m, *x: (
        trfl.sequence_a2c_loss(
            tfp.distributions.MultivariateNormalDiag(m, tf.ones_like(m)), *x, entropy_cost=0.1
        ).loss
    ),
    logits,
    sv,
    floats(T, B, A),
    sr,
    spc,
    boot,
)
p.no("epsilon_greedy", lambda x: trfl.epsilon_greedy(x, 0.1).sample(seed=1), q)
p.no("epsilon_greedy probs", lambda x: trfl.epsilon_greedy(x, 0.1).probs, q)
p.no(
    "epsilon_greedy mask",
    lambda x, m: trfl.epsilon_greedy(x, 0.1, m).probs,
    q,
    (floats(B, A) > 0.5).astype("float32") + np.eye(B, A, dtype="float32"),
)
p(
    "retrace",
    lambda *x: trfl.retrace(0.9, *x).loss,
    floats(T + 1, B, A),
    floats(T + 1, B, A),
    integers(A, T + 1, B),
    sr,
    spc,
    tf.nn.softmax(floats(T + 1, B, A)).numpy(),
    floats(T + 1, B) + 0.1,
)
p(
    "retrace_core",
    lambda *x: trfl.retrace_core(0.9, *x).loss,
    sq,
    sa,
    sr,
    spc,
    tf.nn.softmax(floats(T, B, A)).numpy(),
    floats(T, B) + 0.1,
    floats(T, B, A),
    integers(A, T, B),
)
p("scan_discounted_sum", lambda *x: trfl.scan_discounted_sum(*x), sr, spc, boot)
p(
    "scan_discounted_sum reverse lengths",
    lambda s, d, i, n: trfl.scan_discounted_sum(s, d, i, reverse=True, sequence_lengths=n),
    sr,
    spc,
    boot,
    np.array([5, 3, 4, 2], "int32"),
)
p("multistep_forward_view", lambda *x: trfl.multistep_forward_view(*x, 0.9), sr, spc, sv)
p(
    "multistep_forward_view lengths",
    lambda s, d, i, n: trfl.multistep_forward_view(s, d, i, 0.9, sequence_lengths=n),
    sr,
    spc,
    sv,
    np.array([5, 3, 4, 2], "int32"),
)


@programs("update_target_variables")
def _update():
    s, t = [tf.Variable(floats(2, 3))], [tf.Variable(floats(2, 3))]

    def run(x):
        s[0].assign(x)
        trfl.update_target_variables(t, s, 0.1)
        return t[0] + 0.0

    return Call(run, [floats(2, 3)], False, False)


@programs("periodic_target_update")
def _periodic():
    s, t = [tf.Variable(floats(2, 3))], [tf.Variable(floats(2, 3))]
    counter = tf.Variable(0, dtype=tf.int64)

    def run(x):
        s[0].assign(x)
        trfl.periodic_target_update(t, s, 2, 0.1, counter=counter)
        return t[0] + 0.0

    return Call(run, [floats(2, 3)], False, False)
