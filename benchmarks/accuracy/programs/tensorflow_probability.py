"""Calls of TensorFlow Probability 0.25.0: distributions, bijectors, inference and optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from program import Call, Programs

from programs.made import floats, integers, plain

programs = Programs("tensorflow_probability")
D, B = tfp.distributions, tfp.bijectors

RATE = floats(3) + 0.5
LOC = floats(3)
SPREAD = floats(3) * 0.5 + 0.5
COUNTS = np.array([4.0, 5.0, 6.0], "float32")
PROBS = np.array([0.2, 0.3, 0.5], "float32")
SCALE_TRIL = np.array([[1.0, 0.0, 0.0], [0.3, 1.2, 0.0], [0.1, 0.2, 0.9]], "float32")
SPD = (SCALE_TRIL @ SCALE_TRIL.T).astype("float32")
POINTS = floats(5, 2)


def distribution(name: str, make: Callable[..., Any], *parameters: Any) -> None:
    """Programs that sample from a distribution of given parameters, and take the usual measures of it."""

    def sampled(*given: Any) -> Any:
        return make(*given).sample(4, seed=tf.constant([1, 2]))

    def density() -> Call:
        value = make(*map(tf.constant, parameters)).sample(4, seed=[1, 2])
        return Call(lambda x, *given: make(*given).log_prob(x), [value.numpy(), *parameters], True)

    programs(f"distributions.{name}.sample")(lambda: Call(sampled, parameters, True))
    programs(f"distributions.{name}.log_prob")(density)
    for measure in ("mean", "variance", "entropy", "mode"):
        plain(
            programs,
            f"distributions.{name}.{measure}",
            lambda *given, measure=measure: getattr(make(*given), measure)(),
            *parameters,
        )
    programs(f"distributions.{name}.cdf")(
        lambda: Call(
            lambda x, *given: make(*given).cdf(x),
            [make(*map(tf.constant, parameters)).sample(4, seed=[1, 2]).numpy(), *parameters],
        )
    )


for _name in "Normal Laplace Cauchy Gumbel Logistic LogNormal LogLogistic".split():
    distribution(_name, getattr(D, _name), LOC, SPREAD)
for _name in "Gamma InverseGamma Beta Kumaraswamy Weibull Pareto".split():
    distribution(_name, getattr(D, _name), RATE + 2, SPREAD + 1)
for _name in "Exponential Poisson Chi2 HalfNormal".split():
    distribution(_name, getattr(D, _name), RATE + 2)
for _name in "Geometric Bernoulli ContinuousBernoulli".split():
    distribution(_name, lambda p, name=_name: getattr(D, name)(probs=p), PROBS)
distribution("Binomial", lambda n, p: D.Binomial(n, probs=p), COUNTS, PROBS)
distribution("NegativeBinomial", lambda n, p: D.NegativeBinomial(n, probs=p), COUNTS, PROBS)
distribution("BetaBinomial", D.BetaBinomial, COUNTS, RATE, SPREAD)
distribution("Categorical", lambda p: D.Categorical(probs=p), PROBS)
distribution("OneHotCategorical", lambda p: D.OneHotCategorical(probs=p), PROBS)
distribution("Multinomial", lambda p: D.Multinomial(5.0, probs=p), PROBS)
distribution("Dirichlet", D.Dirichlet, RATE + 1)
distribution("DirichletMultinomial", lambda c: D.DirichletMultinomial(5.0, c), RATE + 1)
distribution("RelaxedBernoulli", lambda p: D.RelaxedBernoulli(0.5, probs=p), PROBS)
distribution("RelaxedOneHotCategorical", lambda p: D.RelaxedOneHotCategorical(0.5, probs=p), PROBS)
distribution("StudentT", D.StudentT, COUNTS, LOC, SPREAD)
distribution("HalfStudentT", D.HalfStudentT, COUNTS, LOC, SPREAD)
distribution("HalfCauchy", D.HalfCauchy, LOC, SPREAD)
distribution("VonMises", D.VonMises, LOC, SPREAD)
distribution("VonMisesFisher", D.VonMisesFisher, PROBS / np.linalg.norm(PROBS), np.float32(2))
distribution("Uniform", D.Uniform, LOC, LOC + 1)
distribution("Triangular", D.Triangular, LOC, LOC + 2, LOC + 1)
distribution("PERT", D.PERT, LOC, LOC + 1, LOC + 2)
distribution("TruncatedNormal", D.TruncatedNormal, LOC, SPREAD, LOC - 1, LOC + 2)
distribution("TruncatedCauchy", D.TruncatedCauchy, LOC, SPREAD, LOC - 1, LOC + 2)
distribution("DoublesidedMaxwell", D.DoublesidedMaxwell, LOC, SPREAD)
distribution("ExpGamma", D.ExpGamma, RATE + 1, SPREAD)
distribution("ExponentiallyModifiedGaussian", D.ExponentiallyModifiedGaussian, LOC, SPREAD, RATE)
distribution("GeneralizedNormal", D.GeneralizedNormal, LOC, SPREAD, RATE + 1)
distribution("GeneralizedExtremeValue", D.GeneralizedExtremeValue, LOC, SPREAD, SPREAD * 0.1)
distribution("GeneralizedPareto", D.GeneralizedPareto, LOC, SPREAD, SPREAD * 0.1)
distribution("InverseGaussian", D.InverseGaussian, RATE, SPREAD)
distribution("JohnsonSU", D.JohnsonSU, LOC, SPREAD, LOC, SPREAD)
distribution("LogitNormal", D.LogitNormal, LOC, SPREAD)
distribution("Moyal", D.Moyal, LOC, SPREAD)
distribution("NormalInverseGaussian", D.NormalInverseGaussian, LOC, SPREAD, LOC * 0.1, SPREAD)
distribution("PlackettLuce", D.PlackettLuce, RATE)
distribution("PowerSpherical", D.PowerSpherical, PROBS / np.linalg.norm(PROBS), np.float32(2))
distribution("ProbitBernoulli", lambda p: D.ProbitBernoulli(probs=p), PROBS)
distribution(
    "QuantizedNormal", lambda m, s: D.QuantizedDistribution(D.Normal(m, s), -2, 3), LOC, SPREAD
)
distribution("Skellam", D.Skellam, RATE, SPREAD)
distribution("SphericalUniform", lambda x: D.SphericalUniform(3), LOC)
distribution("Zipf", D.Zipf, RATE + 2)
distribution("SinhArcsinh", D.SinhArcsinh, LOC, SPREAD)
distribution("SigmoidBeta", D.SigmoidBeta, RATE + 1, SPREAD + 1)
distribution("Sample", lambda m, s: D.Sample(D.Normal(m, s), 2), LOC, SPREAD)
distribution("Independent", lambda m, s: D.Independent(D.Normal(m, s), 1), LOC, SPREAD)
distribution("MultivariateNormalDiag", D.MultivariateNormalDiag, LOC, SPREAD)
distribution("MultivariateNormalTriL", D.MultivariateNormalTriL, LOC, SCALE_TRIL)
distribution("MultivariateNormalFullCovariance", D.MultivariateNormalFullCovariance, LOC, SPD)
distribution(
    "MultivariateNormalDiagPlusLowRank",
    lambda m, s, u: D.MultivariateNormalDiagPlusLowRank(m, s, u),
    LOC,
    SPREAD,
    floats(3, 1),
)
distribution(
    "MultivariateStudentTLinearOperator",
    lambda m, s: D.MultivariateStudentTLinearOperator(
        5.0, m, tf.linalg.LinearOperatorLowerTriangular(s)
    ),
    LOC,
    SCALE_TRIL,
)
distribution("WishartTriL", lambda s: D.WishartTriL(4.0, s), SCALE_TRIL)
distribution(
    "WishartLinearOperator",
    lambda s: D.WishartLinearOperator(4.0, tf.linalg.LinearOperatorLowerTriangular(s)),
    SCALE_TRIL,
)
distribution("LKJ", lambda c: D.LKJ(3, c), np.float32(1.5))
distribution("CholeskyLKJ", lambda c: D.CholeskyLKJ(3, c), np.float32(1.5))
distribution(
    "MatrixNormalLinearOperator",
    lambda m, s: D.MatrixNormalLinearOperator(
        m, tf.linalg.LinearOperatorLowerTriangular(s), tf.linalg.LinearOperatorLowerTriangular(s)
    ),
    floats(3, 3),
    SCALE_TRIL,
)
distribution(
    "Autoregressive",
    lambda m: D.Autoregressive(lambda x: D.Independent(D.Normal(m + 0 * x, 1.0), 1), num_steps=3),
    LOC,
)
distribution(
    "MixtureSameFamily",
    lambda p, m, s: D.MixtureSameFamily(D.Categorical(probs=p), D.Normal(m, s)),
    PROBS,
    LOC,
    SPREAD,
)
distribution(
    "Mixture",
    lambda p, m, s: D.Mixture(D.Categorical(probs=p), [D.Normal(m, s), D.Laplace(m, s)]),
    PROBS[1:] / PROBS[1:].sum(),
    np.float32(0.2),
    np.float32(1.2),
)
distribution(
    "HiddenMarkovModel",
    lambda p, t, m: D.HiddenMarkovModel(
        D.Categorical(probs=p), D.Categorical(probs=t), D.Normal(m, 1.0), 4
    ),
    PROBS,
    np.stack([PROBS] * 3),
    LOC,
)
distribution(
    "MarkovChain", lambda m: D.MarkovChain(D.Normal(m, 1.0), lambda _, x: D.Normal(x, 1.0), 4), LOC
)
distribution(
    "LinearGaussianStateSpaceModel",
    lambda t, s: D.LinearGaussianStateSpaceModel(
        3,
        t,
        D.MultivariateNormalDiag(scale_diag=s),
        tf.eye(2),
        D.MultivariateNormalDiag(scale_diag=s),
        D.MultivariateNormalDiag(scale_diag=s),
    ),
    np.eye(2, dtype="float32"),
    SPREAD[:2],
)
distribution(
    "GaussianProcess",
    lambda x: D.GaussianProcess(tfp.math.psd_kernels.ExponentiatedQuadratic(), x, jitter=1e-2),
    POINTS,
)
distribution(
    "GaussianProcessRegressionModel",
    lambda x, y: D.GaussianProcessRegressionModel(
        tfp.math.psd_kernels.MaternThreeHalves(), x, x + 0.3, y, 0.1, jitter=1e-2
    ),
    POINTS,
    floats(5),
)
distribution(
    "StudentTProcess",
    lambda x: D.StudentTProcess(4.0, tfp.math.psd_kernels.ExponentiatedQuadratic(), x),
    POINTS,
)
distribution(
    "TransformedDistribution",
    lambda m, s: D.TransformedDistribution(D.Normal(m, s), B.Sigmoid()),
    LOC,
    SPREAD,
)
distribution(
    "JointDistributionSequential",
    lambda m, s: D.JointDistributionSequential([D.Normal(m, s), lambda x: D.Normal(x, s)]),
    LOC,
    SPREAD,
)
distribution("Empirical", lambda x: D.Empirical(x), floats(6))
distribution("FiniteDiscrete", lambda x, p: D.FiniteDiscrete(x, probs=p), LOC, PROBS)
distribution(
    "StoppingRatioLogistic",
    lambda c, m: D.StoppingRatioLogistic(c, m),
    np.sort(LOC),
    np.float32(0.1),
)
distribution("OrderedLogistic", lambda c, m: D.OrderedLogistic(c, m), np.sort(LOC), np.float32(0.1))
distribution("Bates", lambda x: D.Bates(3, x, x + 1), LOC)
distribution("BetaQuotient", D.BetaQuotient, RATE + 1, SPREAD + 1, RATE + 1, SPREAD + 1)
distribution(
    "Blockwise",
    lambda m, s: D.Blockwise([D.Normal(m, s), D.Normal(s, s)]),
    np.float32(0.1),
    np.float32(1),
)
distribution(
    "Inflated", lambda p, r: D.ZeroInflatedPoisson(rate=r, inflated_loc_prob=p), PROBS, RATE
)


def bijector(name: str, make: Callable[[], Any], value: Any) -> None:
    """Programs that go through a bijector forward, back, and take its log determinants."""

    def inverse() -> Call:
        made = make()
        return Call(lambda y: made.inverse(y), [made.forward(value).numpy()], True)

    def forward() -> Call:
        made = make()
        return Call(lambda x: made.forward(x), [value], True)

    def determinant() -> Call:
        made = make()
        return Call(
            lambda x: made.forward_log_det_jacobian(x, event_ndims=made.forward_min_event_ndims),
            [value],
            True,
        )

    programs(f"bijectors.{name}.forward")(forward)
    programs(f"bijectors.{name}.inverse")(inverse)
    programs(f"bijectors.{name}.log_det_jacobian")(determinant)


for _name in (
    "Exp Sigmoid Softplus Softsign Tanh Square Identity Expm1 Log Log1p NormalCDF Reciprocal SinhArcsinh SoftClip "
    "GumbelCDF WeibullCDF KumaraswamyCDF MoyalCDF FrechetCDF GompertzCDF GeneralizedExtremeValueCDF LambertWTail "
    "Lambda Ascending Sinh"
).split():
    if hasattr(B, _name):
        bijector(_name, lambda name=_name: getattr(B, name)(), floats(4, 3))
bijector("Power", lambda: B.Power(2.0), floats(4, 3))
bijector("PowerTransform", lambda: B.PowerTransform(0.5), floats(4, 3))
bijector("Scale", lambda: B.Scale(2.0), floats(4, 3))
bijector("Shift", lambda: B.Shift(2.0), floats(4, 3))
bijector("ScaleMatvecTriL", lambda: B.ScaleMatvecTriL(SCALE_TRIL), floats(4, 3))
bijector("ScaleMatvecDiag", lambda: B.ScaleMatvecDiag(SPREAD), floats(4, 3))
bijector("ScaleMatvecLU", lambda: B.ScaleMatvecLU(SPD, [0, 1, 2]), floats(4, 3))
bijector(
    "ScaleMatvecLinearOperator",
    lambda: B.ScaleMatvecLinearOperator(tf.linalg.LinearOperatorLowerTriangular(SCALE_TRIL)),
    floats(4, 3),
)
bijector("FillTriangular", lambda: B.FillTriangular(), floats(4, 6))
bijector("FillScaleTriL", lambda: B.FillScaleTriL(), floats(4, 6))
bijector("TransformDiagonal", lambda: B.TransformDiagonal(B.Exp()), SPD)
bijector("CholeskyOuterProduct", lambda: B.CholeskyOuterProduct(), SCALE_TRIL)
bijector("CholeskyToInvCholesky", lambda: B.CholeskyToInvCholesky(), SCALE_TRIL)
bijector("MatrixInverseTriL", lambda: B.MatrixInverseTriL(), SCALE_TRIL)
bijector("CorrelationCholesky", lambda: B.CorrelationCholesky(), floats(4, 3))
bijector("SoftmaxCentered", lambda: B.SoftmaxCentered(), floats(4, 3))
bijector("IteratedSigmoidCentered", lambda: B.IteratedSigmoidCentered(), floats(4, 3))
bijector("Cumsum", lambda: B.Cumsum(), floats(4, 3))
bijector("DiscreteCosineTransform", lambda: B.DiscreteCosineTransform(), floats(4, 3))
bijector("Ordered", lambda: B.Invert(B.Ascending()), np.sort(floats(4, 3)))
bijector("Permute", lambda: B.Permute([2, 0, 1]), floats(4, 3))
bijector("Pad", lambda: B.Pad([[0, 1]]), floats(4, 3))
bijector("Reshape", lambda: B.Reshape([3, 2]), floats(4, 6))
bijector("Split", lambda: B.Split(3), floats(4, 3))
bijector("Transpose", lambda: B.Transpose([1, 0]), floats(4, 3))
bijector("Blockwise", lambda: B.Blockwise([B.Exp(), B.Sigmoid()], [1, 2]), floats(4, 3))
bijector("Chain", lambda: B.Chain([B.Exp(), B.Softplus()]), floats(4, 3))
bijector("BatchNormalization", lambda: B.BatchNormalization(), floats(4, 3))
bijector(
    "RationalQuadraticSpline",
    lambda: B.RationalQuadraticSpline([0.5, 0.5], [0.4, 0.6], [1.0]),
    floats(4, 3),
)
bijector(
    "RealNVP",
    lambda: B.RealNVP(1, shift_and_log_scale_fn=B.real_nvp_default_template([4])),
    floats(4, 3),
)
bijector(
    "MaskedAutoregressiveFlow",
    lambda: B.MaskedAutoregressiveFlow(B.AutoregressiveNetwork(2, event_shape=3, hidden_units=[4])),
    floats(4, 3),
)
bijector(
    "Glow", lambda: B.Glow((8, 8, 3), num_glow_blocks=1, num_steps_per_block=1), floats(2, 8, 8, 3)
)
bijector("FFJORD", lambda: B.FFJORD(lambda t, z: z * 0.1), floats(2, 3))


def kernel(name: str, make: Callable[[], Any]) -> None:
    """A program that takes a covariance matrix by a kernel."""
    plain(
        programs,
        f"psd_kernels.{name}",
        lambda x, y: make().matrix(x, y),
        POINTS,
        floats(4, 2),
        gradient=True,
    )


K = tfp.math.psd_kernels
for _name in (
    "ExponentiatedQuadratic MaternOneHalf MaternThreeHalves MaternFiveHalves RationalQuadratic Linear ExpSinSquared "
    "GammaExponential Parabolic"
).split():
    kernel(_name, getattr(K, _name))
kernel("Polynomial", lambda: K.Polynomial(exponent=2.0))
kernel("GeneralizedMatern", lambda: K.GeneralizedMatern(0.7))
kernel(
    "KumaraswamyTransformed", lambda: K.KumaraswamyTransformed(K.Linear(), [1.0, 2.0], [1.0, 1.0])
)
kernel("FeatureScaled", lambda: K.FeatureScaled(K.Linear(), [1.0, 2.0]))


def target(x: Any) -> Any:
    """The log density that the chains below sample from."""
    return tf.reduce_sum(-(x**2), -1)


def chain(name: str, make: Callable[[], Any], steps: int = 3) -> None:
    """A program that takes a few steps of a Markov chain."""
    plain(
        programs,
        f"mcmc.{name}",
        lambda x: tfp.mcmc.sample_chain(
            steps, current_state=x, kernel=make(), trace_fn=None, seed=[1, 2]
        ),
        floats(2, 3),
    )


M = tfp.mcmc
chain("HamiltonianMonteCarlo", lambda: M.HamiltonianMonteCarlo(target, 0.1, 2))
chain("NoUTurnSampler", lambda: M.NoUTurnSampler(target, 0.1, max_tree_depth=2))
chain("RandomWalkMetropolis", lambda: M.RandomWalkMetropolis(target))
chain(
    "MetropolisAdjustedLangevinAlgorithm",
    lambda: M.MetropolisAdjustedLangevinAlgorithm(target, 0.1),
)
chain("UncalibratedLangevin", lambda: M.UncalibratedLangevin(target, 0.1))
chain("SliceSampler", lambda: M.SliceSampler(target, 0.5, 2))
chain(
    "ReplicaExchangeMC",
    lambda: M.ReplicaExchangeMC(target, [1.0, 0.5], lambda t: M.HamiltonianMonteCarlo(t, 0.1, 2)),
)
chain(
    "DualAveraging",
    lambda: M.DualAveragingStepSizeAdaptation(M.HamiltonianMonteCarlo(target, 0.1, 2), 2),
)
chain(
    "TransformedTransitionKernel",
    lambda: M.TransformedTransitionKernel(M.HamiltonianMonteCarlo(target, 0.1, 2), B.Exp()),
)
plain(programs, "mcmc.effective_sample_size", lambda x: M.effective_sample_size(x), floats(20, 3))
plain(
    programs,
    "mcmc.potential_scale_reduction",
    lambda x: M.potential_scale_reduction(x),
    floats(20, 3),
)

OPT = tfp.optimizer


def quadratic(x: Any) -> Any:
    """The loss that the optimizers below minimise, with its gradient."""
    return tfp.math.value_and_gradient(lambda y: tf.reduce_sum((y - 0.3) ** 2, -1), x)


plain(
    programs,
    "optimizer.lbfgs_minimize",
    lambda x: OPT.lbfgs_minimize(quadratic, x, max_iterations=3).position,
    floats(3),
)
plain(
    programs,
    "optimizer.bfgs_minimize",
    lambda x: OPT.bfgs_minimize(quadratic, x, max_iterations=3).position,
    floats(3),
)
plain(
    programs,
    "optimizer.nelder_mead_minimize",
    lambda x: (
        OPT.nelder_mead_minimize(
            lambda y: tf.reduce_sum((y - 0.3) ** 2, -1), initial_vertex=x, max_iterations=3
        ).position
    ),
    floats(3),
)
plain(
    programs,
    "optimizer.differential_evolution_minimize",
    lambda x: (
        OPT.differential_evolution_minimize(
            lambda y: tf.reduce_sum((y - 0.3) ** 2, -1),
            initial_position=x,
            max_iterations=3,
            seed=3,
        ).position
    ),
    floats(3),
)
plain(
    programs,
    "optimizer.linesearch.hager_zhang",
    lambda x: (
        OPT.linesearch.hager_zhang(
            lambda t: (
                OPT.linesearch.internal.ValueAndGradient(t, (t - 0.3) ** 2, 2 * (t - 0.3), None)
                if False
                else tfp.math.value_and_gradient(lambda u: (u - 0.3) ** 2, t)
            ),
            initial_step_size=x,
        ).left.x
    ),
    np.float32(0.2),
)
plain(programs, "optimizer.converged_any", lambda x: OPT.converged_any(x > 0.5, x < 0.1), floats(3))

S = tfp.stats
plain(programs, "stats.percentile", lambda x: S.percentile(x, 30.0), floats(7, 3))
plain(programs, "stats.quantiles", lambda x: S.quantiles(x, 4), floats(7))
plain(programs, "stats.histogram", lambda x: S.histogram(x, edges=[0.0, 0.3, 0.6, 1.0]), floats(7))
plain(programs, "stats.find_bins", lambda x: S.find_bins(x, edges=[0.0, 0.3, 0.6, 1.0]), floats(7))
plain(
    programs,
    "stats.count_integers",
    lambda x: S.count_integers(x, minlength=5, maxlength=5),
    integers(5, 7),
)
plain(programs, "stats.auto_correlation", lambda x: S.auto_correlation(x), floats(8))
plain(programs, "stats.covariance", lambda x: S.covariance(x), floats(8, 3), gradient=True)
plain(programs, "stats.correlation", lambda x, y: S.correlation(x, y), floats(8, 3), floats(8, 3))
plain(programs, "stats.cholesky_covariance", lambda x: S.cholesky_covariance(x), floats(8, 3))
plain(programs, "stats.windowed_mean", lambda x: S.windowed_mean(x), floats(8))
plain(
    programs,
    "stats.expected_calibration_error",
    lambda x, y: S.expected_calibration_error(4, x, y),
    floats(8, 3),
    integers(3, 8),
)
plain(programs, "stats.brier_score", lambda y, x: S.brier_score(y, x), integers(3, 8), floats(8, 3))

T = tfp.math
plain(
    programs,
    "math.ode.BDF",
    lambda x: T.ode.BDF().solve(lambda t, y: -y, 0.0, x, solution_times=[0.1, 0.2]).states,
    floats(3),
)
plain(
    programs,
    "math.ode.DormandPrince",
    lambda x: (
        T.ode.DormandPrince().solve(lambda t, y: -y, 0.0, x, solution_times=[0.1, 0.2]).states
    ),
    floats(3),
)
plain(programs, "math.fill_triangular", lambda x: T.fill_triangular(x), floats(2, 6), gradient=True)
plain(programs, "math.pivoted_cholesky", lambda x: T.pivoted_cholesky(x, 2), SPD)
plain(programs, "math.lu_matrix_inverse", lambda x: T.lu_matrix_inverse(*tf.linalg.lu(x)), SPD)
plain(
    programs,
    "math.sparse_or_dense_matmul",
    lambda x: T.sparse_or_dense_matmul(tf.sparse.from_dense(x), x),
    SPD,
)
plain(programs, "math.dense_to_sparse", lambda x: T.dense_to_sparse(x).values, SPD)
plain(
    programs,
    "math.interp_regular_1d_grid",
    lambda x: T.interp_regular_1d_grid(x, 0.0, 1.0, [1.0, 2.0, 4.0]),
    floats(5),
    gradient=True,
)
plain(
    programs,
    "math.batch_interp_regular_1d_grid",
    lambda x: T.batch_interp_regular_1d_grid(x, 0.0, 1.0, [1.0, 2.0, 4.0]),
    floats(5),
    gradient=True,
)
plain(
    programs,
    "math.find_root_chandrupatla",
    lambda x: T.find_root_chandrupatla(lambda y: y**2 - x, 0.0, 2.0).estimated_root,
    floats(3),
)
plain(
    programs,
    "math.find_root_secant",
    lambda x: T.find_root_secant(lambda y: y**2 - x, x).estimated_root,
    floats(3),
)
plain(programs, "math.trapz", lambda y: T.trapz(y), floats(3, 5), gradient=True)
plain(programs, "math.minimize", lambda x: T.scan_associative(tf.add, x), floats(6), gradient=True)
plain(
    programs,
    "math.random_rademacher",
    lambda x: tfp.random.rademacher([3], seed=[1, 2]) * x,
    floats(3),
)
plain(
    programs, "math.bessel_iv_ratio", lambda x: T.bessel_iv_ratio(1.0, x), floats(3), gradient=True
)
plain(programs, "math.lambertw", lambda x: T.lambertw(x), floats(3), gradient=True)
plain(programs, "math.owens_t", lambda x: T.owens_t(x, x), floats(3), gradient=True)
plain(programs, "math.betainc", lambda x: T.betainc(x + 1, x + 1, x), floats(3))
plain(programs, "math.igammainv", lambda x: T.igammainv(x + 1, x), floats(3))
plain(programs, "math.bessel_kve", lambda x: T.bessel_kve(1.5, x), floats(3), gradient=True)
plain(programs, "math.reduce_kahan_sum", lambda x: T.reduce_kahan_sum(x).total, floats(6))
plain(
    programs,
    "math.sample_halton_sequence",
    lambda x: (
        T.sample_halton_sequence(2, num_results=4, randomized=False) * x[0]
        if hasattr(T, "sample_halton_sequence")
        else M.sample_halton_sequence(2, num_results=4, randomized=False) * x[0]
    ),
    floats(3),
)
plain(
    programs,
    "mcmc.sample_halton_sequence randomized",
    lambda x: M.sample_halton_sequence(2, num_results=4, randomized=True, seed=3) * x[0],
    floats(3),
)
plain(
    programs,
    "monte_carlo.expectation",
    lambda m: tfp.monte_carlo.expectation(
        lambda x: x**2,
        D.Normal(m, 1.0).sample(4, seed=[1, 2]),
        D.Normal(m, 1.0).log_prob,
        use_reparameterization=True,
    ),
    LOC,
    gradient=True,
)
plain(
    programs,
    "vi.monte_carlo_variational_loss",
    lambda m: tfp.vi.monte_carlo_variational_loss(
        target, D.MultivariateNormalDiag(m, SPREAD), sample_size=2, seed=3
    ),
    LOC,
    gradient=True,
)

STS = tfp.sts
SERIES = np.cumsum(floats(12)).astype("float32")


def series(name: str, make: Callable[[], Any]) -> None:
    """A program that takes the density of a structural model of a time series."""

    def build() -> Call:
        model = make()
        drawn = [p.prior.sample(seed=[1, 2]).numpy() for p in model.parameters]
        return Call(
            lambda y, *given: model.make_state_space_model(12, list(given)).log_prob(y),
            [SERIES[:, None], *drawn],
        )

    programs(f"sts.{name}")(build)


series("LocalLevel", lambda: STS.LocalLevel(observed_time_series=SERIES))
series("LocalLinearTrend", lambda: STS.LocalLinearTrend(observed_time_series=SERIES))
series("Seasonal", lambda: STS.Seasonal(4, observed_time_series=SERIES))
series("Autoregressive", lambda: STS.Autoregressive(2, observed_time_series=SERIES))
series("SemiLocalLinearTrend", lambda: STS.SemiLocalLinearTrend(observed_time_series=SERIES))
series(
    "Sum",
    lambda: STS.Sum([STS.LocalLevel(observed_time_series=SERIES)], observed_time_series=SERIES),
)

L = tfp.layers


def keras(name: str, make: Callable[[], Any], value: Any) -> None:
    """A program that calls a probabilistic layer."""

    def build() -> Call:
        layer = make()
        layer(tf.constant(value))
        return Call(lambda x: tf.convert_to_tensor(layer(x)), [value], True)

    programs(f"layers.{name}")(build)


keras("DenseFlipout", lambda: L.DenseFlipout(3), floats(4, 3))
keras("DenseReparameterization", lambda: L.DenseReparameterization(3), floats(4, 3))
keras("DenseLocalReparameterization", lambda: L.DenseLocalReparameterization(3), floats(4, 3))
keras("Convolution2DFlipout", lambda: L.Convolution2DFlipout(2, 3), floats(2, 8, 8, 3))
keras(
    "Convolution2DReparameterization",
    lambda: L.Convolution2DReparameterization(2, 3),
    floats(2, 8, 8, 3),
)
keras("Convolution1DFlipout", lambda: L.Convolution1DFlipout(2, 3), floats(2, 8, 3))
keras("IndependentNormal", lambda: L.IndependentNormal(2), floats(4, 4))
keras("IndependentBernoulli", lambda: L.IndependentBernoulli(2), floats(4, 2))
keras("MultivariateNormalTriL", lambda: L.MultivariateNormalTriL(2), floats(4, 5))
keras("OneHotCategorical", lambda: L.OneHotCategorical(3), floats(4, 3))
keras("MixtureNormal", lambda: L.MixtureNormal(2, [1]), floats(4, 6))
keras(
    "DenseVariational",
    lambda: L.DenseVariational(
        2,
        lambda k, b, dtype: lambda t: D.Normal(tf.zeros(k + b), 1.0),
        lambda k, b, dtype: lambda t: D.Normal(tf.zeros(k + b), 1.0),
    ),
    floats(4, 3),
)
