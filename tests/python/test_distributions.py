"""tenon.distributions by itself: densities against integrals, samples against moments, pickles, subclasses, caches."""

import copy
import pickle
import subprocess
import sys
import warnings

import pytest
import tenon
from tenon import distributions as d
from tenon.distributions import constraints, kl_divergence, register_kl


def t(value):
    return tenon.tensor(value, dtype=tenon.float64)


# One of each family whose density, distribution function and moments are formulas.
CONTINUOUS = {
    "Beta": lambda: d.Beta(t(2.0), t(3.0)),
    "Cauchy": lambda: d.Cauchy(t(0.3), t(0.8)),
    "ContinuousBernoulli": lambda: d.ContinuousBernoulli(t(0.2)),
    "Exponential": lambda: d.Exponential(t(1.3)),
    "FisherSnedecor": lambda: d.FisherSnedecor(t(5.0), t(9.0)),
    "Gamma": lambda: d.Gamma(t(2.5), t(1.5)),
    "GeneralizedPareto": lambda: d.GeneralizedPareto(t(0.5), t(1.0), t(-0.3)),
    "GeneralizedPareto of concentration 0": lambda: d.GeneralizedPareto(t(0.5), t(1.0), t(0.0)),
    "Gumbel": lambda: d.Gumbel(t(0.3), t(0.8)),
    "HalfCauchy": lambda: d.HalfCauchy(t(0.8)),
    "HalfNormal": lambda: d.HalfNormal(t(0.8)),
    "InverseGamma": lambda: d.InverseGamma(t(6.0), t(4.0)),
    "Kumaraswamy": lambda: d.Kumaraswamy(t(2.0), t(3.0)),
    "Laplace": lambda: d.Laplace(t(0.3), t(0.8)),
    "LogNormal": lambda: d.LogNormal(t(0.1), t(0.4)),
    "Normal": lambda: d.Normal(t(0.3), t(0.8)),
    "Pareto": lambda: d.Pareto(t(0.8), t(7.0)),
    "StudentT": lambda: d.StudentT(t(9.0), t(0.3), t(0.8)),
    "Uniform": lambda: d.Uniform(t(-0.5), t(2.0)),
    "VonMises": lambda: d.VonMises(t(0.3), t(2.0)),
    "Weibull": lambda: d.Weibull(t(1.2), t(2.5)),
}
HEAVY_TAILS = ("Cauchy", "HalfCauchy")


def grid(distribution, steps=400001, reach=400.0):
    """Places in the middle of short intervals of the support, and their length."""
    support = distribution.support
    low = getattr(support, "lower_bound", -3.14159265358979 if isinstance(distribution, d.VonMises) else -reach)
    high = getattr(support, "upper_bound", 3.14159265358979 if isinstance(distribution, d.VonMises) else reach)
    low, high = float(low), min(float(high), reach)
    step = (high - low) / steps
    return low + (tenon.arange(steps, dtype=tenon.float64) + 0.5) * step, step


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities(name):
    distribution = CONTINUOUS[name]()
    x, step = grid(distribution)
    density = distribution.log_prob(x).exp()
    tails = name in HEAVY_TAILS
    assert float(density.sum() * step) == pytest.approx(1, abs=2e-3 if tails else 1e-5)
    if tails or name == "VonMises":
        return
    mean = (density * x).sum() * step
    assert float(mean) == pytest.approx(float(distribution.mean), abs=1e-4)
    variance = (density * (x - mean).square()).sum() * step
    assert float(variance) == pytest.approx(float(distribution.variance), rel=1e-3)
    assert float(distribution.stddev.square()) == pytest.approx(float(distribution.variance))
    if name not in ("FisherSnedecor", "InverseGamma"):
        entropy = -tenon.xlogy(density, density).sum() * step
        assert float(distribution.entropy()) == pytest.approx(float(entropy), abs=1e-3)
    if name != "Uniform" and name != "ContinuousBernoulli":
        assert float(x[density.argmax()]) == pytest.approx(float(distribution.mode), abs=2 * step)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution_functions(name):
    distribution = CONTINUOUS[name]()
    p = t([0.05, 0.3, 0.5, 0.9])
    try:
        x = distribution.icdf(p)
    except NotImplementedError:
        return
    assert distribution.cdf(x).tolist() == pytest.approx(p.tolist())
    # The derivative of the distribution function is the density.
    eps = 1e-6
    slope = (distribution.cdf(x + eps) - distribution.cdf(x - eps)) / (2 * eps)
    assert slope.tolist() == pytest.approx(distribution.log_prob(x).exp().tolist(), rel=1e-5)


SAMPLED = {
    "Bernoulli": lambda: d.Bernoulli(t(0.3)),
    "Geometric": lambda: d.Geometric(t(0.4)),
    "Multinomial": lambda: d.Multinomial(5, t([0.2, 0.3, 0.5])),
    "MixtureSameFamily": lambda: d.MixtureSameFamily(
        d.Categorical(t([0.3, 0.7])), d.Normal(t([-1.0, 2.0]), t([0.5, 1.0]))
    ),
    "OneHotCategorical": lambda: d.OneHotCategorical(t([0.2, 0.3, 0.5])),
    "ContinuousBernoulli": CONTINUOUS["ContinuousBernoulli"],
    "Exponential": CONTINUOUS["Exponential"],
    "Gumbel": CONTINUOUS["Gumbel"],
    "Beta": CONTINUOUS["Beta"],
    "Gamma": CONTINUOUS["Gamma"],
    "InverseGamma": CONTINUOUS["InverseGamma"],
    "StudentT": CONTINUOUS["StudentT"],
    "FisherSnedecor": CONTINUOUS["FisherSnedecor"],
    "Kumaraswamy": CONTINUOUS["Kumaraswamy"],
    "Laplace": CONTINUOUS["Laplace"],
    "LogNormal": CONTINUOUS["LogNormal"],
    "Normal": CONTINUOUS["Normal"],
    "Uniform": CONTINUOUS["Uniform"],
    "Weibull": CONTINUOUS["Weibull"],
}


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_have_the_moments(name):
    distribution = SAMPLED[name]()
    tenon.manual_seed(0)
    count = 100000
    sample = distribution.sample((count,))
    assert sample.shape == (count, *distribution.batch_shape, *distribution.event_shape)
    assert distribution.support.check(sample).all()
    assert not sample.requires_grad
    error = 5 * (distribution.variance / count).sqrt()
    assert bool(((sample.mean(0) - distribution.mean).abs() < error).all())
    # The variance of the variance of heavy tails is large.
    limit = 0.5 if name in ("FisherSnedecor", "InverseGamma") else 0.05
    assert (sample.var(0) / distribution.variance).log().abs().max() < limit


def test_a_mixture_whose_weights_are_shared():
    components = d.Normal(t([[0.0, 10.0], [20.0, 30.0]]), t(0.1))
    mixture = d.MixtureSameFamily(d.Categorical(t([0.5, 0.5])), components)
    assert mixture.batch_shape == (2,)
    sample = mixture.sample((50,))
    assert sample.shape == (50, 2)
    assert (sample[:, 0] < 12).all() and (sample[:, 1] > 18).all()
    assert mixture.log_prob(sample).shape == (50, 2)


# --- gradients ---


def test_samples_have_gradients():
    loc, scale = t([0.5, 1.0]).requires_grad_(), t(2.0).requires_grad_()
    tenon.manual_seed(0)
    sample = d.Normal(loc, scale).rsample((5,))
    sample.sum().backward()
    assert loc.grad.tolist() == [5.0, 5.0]
    standard = (sample.detach() - loc.detach()) / scale.detach()
    assert float(scale.grad) == pytest.approx(float(standard.sum()))
    assert not d.Normal(loc, scale).sample().requires_grad


def implicit_gradient(density, parameter, x, low=0.0, steps=200001, eps=1e-4):
    """-(dF/da) / p(x), of the integral F of density(a, x) up to x."""
    step = (x - low) / steps
    places = low + (tenon.arange(steps, dtype=tenon.float64) + 0.5) * step
    up, down = (density(parameter + e, places).sum() * step for e in (eps, -eps))
    return float(-(up - down) / (2 * eps) / density(parameter, t([x])))


@pytest.mark.parametrize("a", [1.7, 8.0, 300.0, 1500.0])
def test_gradients_of_gamma_draws(a):
    concentration = t([a] * 6).requires_grad_()
    tenon.manual_seed(1)
    sample = d.Gamma(concentration, 1.0).rsample()
    (gradient,) = tenon.autograd.grad(sample.sum(), concentration)
    for x, found in zip(sample.tolist(), gradient.tolist()):
        expected = implicit_gradient(
            lambda a, places: d.Gamma(t(a), t(1.0)).log_prob(places).exp(), a, x, max(0.0, a - 12 * a**0.5)
        )
        assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("a,b", [(1.7, 2.5), (9.0, 1.4), (3.0, 60.0)])
def test_gradients_of_beta_draws(a, b):
    first = t([a] * 6).requires_grad_()
    tenon.manual_seed(1)
    sample = d.Beta(first, t(b)).rsample()
    (gradient,) = tenon.autograd.grad(sample.sum(), first)
    for x, found in zip(sample.tolist(), gradient.tolist()):
        expected = implicit_gradient(lambda a, places: d.Beta(t(a), t(b)).log_prob(places).exp(), a, x)
        assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["Beta", "Gamma", "Laplace", "Normal", "StudentT", "Pareto", "Weibull", "Gumbel"])
def test_log_prob_can_be_differentiated_twice(name):
    def log_prob(*parameters):
        values = d.Normal(t([0.3, 0.6]), 0.1).mean if name != "Pareto" else t([3.0, 5.0])
        return getattr(d, name)(*parameters, validate_args=False).log_prob(values)

    parameters = [t([1.4, 2.2]).requires_grad_(), t([0.7, 1.5]).requires_grad_()]
    assert tenon.autograd.gradcheck(log_prob, parameters)


# --- the class itself ---


def test_shapes_of_parameters():
    normal = d.Normal(tenon.zeros(3, 1), tenon.ones(2))
    assert normal.batch_shape == (3, 2) and normal.event_shape == ()
    assert normal.loc.shape == (3, 2)
    assert normal.sample((4, 5)).shape == (4, 5, 3, 2)
    assert normal.sample([4]).shape == (4, 3, 2)
    scalar = d.Normal(0, 1)
    assert scalar.batch_shape == () and scalar.loc.dtype == tenon.get_default_dtype()
    assert d.Normal(0, t(1.0)).loc.dtype == tenon.float64
    assert d.Normal(t([0.0]), 1).sample().dtype == tenon.float64
    vectors = d.MultivariateNormal(tenon.zeros(2), scale_tril=tenon.eye(2), validate_args=False)
    assert vectors.batch_shape == () and vectors.event_shape == (2,)
    assert vectors.sample((3,)).shape == (3, 2)


def test_empty_batches():
    normal = d.Normal(tenon.zeros(0, 3), tenon.ones(3))
    assert normal.sample((2,)).shape == (2, 0, 3)
    assert normal.log_prob(tenon.zeros(0, 3)).shape == (0, 3)
    assert normal.entropy().shape == (0, 3)
    assert d.Categorical(tenon.ones(0, 3)).log_prob(tenon.zeros(0)).shape == (0,)


def test_arguments_are_checked_or_not():
    with pytest.raises(ValueError, match="Expected parameter scale .* GreaterThan"):
        d.Normal(0.0, -1.0)
    assert d.Normal(0.0, -1.0, validate_args=False).scale == -1
    assert d.Normal(0.0, 1.0, validate_args=False).log_prob(tenon.tensor(float("nan"))).isnan()
    assert d.Normal(0.0, 1.0, validate_args=False).expand((2,)).log_prob(tenon.tensor(float("nan"))).isnan().all()
    d.Distribution.set_default_validate_args(False)
    try:
        d.Normal(0.0, -1.0)
        with pytest.raises(ValueError):
            d.Normal(0.0, -1.0, validate_args=True)
    finally:
        d.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        d.Distribution.set_default_validate_args(3)


def test_printing():
    assert repr(d.Normal(0.0, 2.0)) == "Normal(loc: 0.0, scale: 2.0)"
    assert repr(d.Normal(tenon.zeros(3), 1.0)) == f"Normal(loc: {tenon.Size([3])}, scale: {tenon.Size([3])})"
    bernoulli = d.Bernoulli(logits=tenon.zeros(2))
    assert "probs" not in repr(bernoulli)
    assert bernoulli.probs.tolist() == [0.5, 0.5]
    assert "probs" in repr(bernoulli)  # it has been computed
    assert repr(d.LogNormal(0.0, 1.0)) == "LogNormal()"
    assert repr(d.Independent(d.Normal(tenon.zeros(1), tenon.ones(1)), 1)) == (
        "Independent(Normal(loc: tensor([0.]), scale: tensor([1.])), 1)"
    )


COPIED = [
    *SAMPLED.values(),
    *CONTINUOUS.values(),
    lambda: d.Chi2(t(2.0)),
    lambda: d.Independent(d.Normal(t([0.0]), 1.0), 1),
    lambda: d.LogisticNormal(t([0.0, 1.0]), 1.0),
    lambda: d.LKJCholesky(3),
    lambda: d.RelaxedBernoulli(t([0.5]), t([0.3])),
    lambda: d.RelaxedOneHotCategorical(t([0.5]), t([0.3, 0.7])),
    lambda: d.TransformedDistribution(d.Normal(t(0.0), t(1.0)), [d.TanhTransform(cache_size=1)]),
]


@pytest.mark.parametrize("i", range(len(COPIED)))
def test_pickles_and_copies(i):
    distribution = COPIED[i]()
    repr(distribution.support)
    for copied in [
        pickle.loads(pickle.dumps(distribution)),
        copy.deepcopy(distribution),
        copy.copy(distribution),
    ]:
        assert type(copied) is type(distribution)
        assert repr(copied) == repr(distribution)
        assert copied.batch_shape == distribution.batch_shape
        if i < len(SAMPLED):
            tenon.manual_seed(1)
            sample = distribution.sample((2,))
            tenon.manual_seed(1)
            assert (copied.sample((2,)) == sample).all()
            assert (copied.log_prob(sample) == COPIED[i]().log_prob(sample)).all()


def test_constraints_are_pickled():
    for constraint in [constraints.positive, constraints.interval(0, 1), constraints.independent(constraints.real, 2)]:
        copied = pickle.loads(pickle.dumps(constraint))
        assert repr(copied) == repr(constraint) and type(copied) is type(constraint)
    assert constraints.is_dependent(d.Uniform.support) and not constraints.is_dependent(constraints.real)
    assert d.Uniform.support.event_dim == 0


def test_lazy_attributes():
    probs = t([0.2, 0.8]).requires_grad_()
    categorical = d.Categorical(probs)
    with tenon.no_grad():
        logits = categorical.logits
    assert logits.requires_grad  # it is kept, and may be needed with gradients
    assert categorical.logits is logits
    assert isinstance(d.Categorical.logits, property)


class Shifted(d.Normal):
    """A subclass with arguments of its own."""

    def __init__(self, shift, validate_args=None):
        self.shift = shift
        super().__init__(shift, 1.0, validate_args=validate_args)


class Renamed(d.Normal):
    pass


def test_subclasses():
    with pytest.raises(NotImplementedError, match="Subclass Shifted of Normal that defines a custom __init__"):
        Shifted(t(1.0)).expand((2,))
    assert type(Renamed(0.0, 1.0).expand((2,))) is Renamed
    assert float(kl_divergence(Renamed(0.0, 1.0), Shifted(1.0))) == pytest.approx(0.5)


def test_registered_divergences():
    class A(d.Distribution):
        arg_constraints = {}

    class B(A):
        pass

    class C(B):
        pass

    @register_kl(A, A)
    def _aa(p, q):
        return "AA"

    @register_kl(B, A)
    def _ba(p, q):
        return "BA"

    assert kl_divergence(A(), B()) == "AA"
    assert kl_divergence(C(), C()) == "BA"

    @register_kl(A, B)
    def _ab(p, q):
        return "AB"

    assert kl_divergence(A(), C()) == "AB"
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(C, C\). Please register_kl\(B, B\)"):
        assert kl_divergence(C(), C()) == "BA"

    @register_kl(B, B)
    def _bb(p, q):
        return "BB"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kl_divergence(C(), C()) == "BB"
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass but got"):
        register_kl(A, 3)
    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type A and q type Normal"):
        kl_divergence(A(), d.Normal(0.0, 1.0))


# Pairs against sums over their values; p, q and where q has all values of p.
DIVERGENCES = [
    (lambda: d.Beta(t(2.0), t(3.0)), ["Gamma", "Exponential", "Normal", "Uniform", "ContinuousBernoulli"]),
    (lambda: d.ContinuousBernoulli(t(0.2)), ["Exponential", "Normal", "Uniform"]),
    (lambda: d.Exponential(t(1.3)), ["Gamma", "Gumbel", "Normal"]),
    (lambda: d.Gamma(t(2.5), t(1.5)), ["Exponential", "Gumbel", "Normal"]),
    (lambda: d.Gumbel(t(0.3), t(0.8)), ["Normal", "Gumbel"]),
    (lambda: d.Laplace(t(0.3), t(0.8)), ["Normal", "Laplace"]),
    (lambda: d.Normal(t(0.3), t(0.8)), ["Gumbel", "Laplace"]),
    (lambda: d.Pareto(t(1.5), t(9.0)), ["Exponential", "Gamma", "Normal", "Pareto"]),
    (lambda: d.Uniform(t(0.1), t(0.9)), ["Beta", "ContinuousBernoulli", "Exponential", "Gamma", "Gumbel", "Normal"]),
]
SECONDS = {
    "Beta": lambda: d.Beta(t(1.5), t(2.5)),
    "ContinuousBernoulli": lambda: d.ContinuousBernoulli(t(0.4)),
    "Exponential": lambda: d.Exponential(t(0.7)),
    "Gamma": lambda: d.Gamma(t(1.5), t(0.5)),
    "Gumbel": lambda: d.Gumbel(t(0.8), t(1.5)),
    "Laplace": lambda: d.Laplace(t(1.0), t(1.5)),
    "Normal": lambda: d.Normal(t(1.0), t(1.5)),
    "Pareto": lambda: d.Pareto(t(1.2), t(4.0)),
    "Uniform": lambda: d.Uniform(t(0.0), t(1.0)),
}


@pytest.mark.parametrize("p,q", [(i, q) for i, (_, names) in enumerate(DIVERGENCES) for q in names])
def test_divergences_are_integrals(p, q):
    first, second = DIVERGENCES[p][0](), SECONDS[q]()
    second._validate_args = False
    x, step = grid(first, reach=100.0)
    log_p = first.log_prob(x)
    terms = log_p.exp() * (log_p - second.log_prob(x))
    expected = terms.masked_fill(log_p == -float("inf"), 0).sum() * step
    assert float(kl_divergence(first, second)) == pytest.approx(float(expected), abs=2e-3)


# --- transforms ---

TRANSFORMS = {
    "exp": (d.ExpTransform, 3),
    "sigmoid": (d.SigmoidTransform, 3),
    "tanh": (d.TanhTransform, 3),
    "softplus": (d.SoftplusTransform, 3),
    "affine": (lambda **k: d.AffineTransform(t([0.0, 1.0, 2.0]), t([[0.5], [-3.0]]), event_dim=1, **k), (2, 3)),
    "affine of one scale": (lambda **k: d.AffineTransform(t(1.0), t(3.0), event_dim=2, **k), (2, 3)),
    "power": (lambda **k: d.ComposeTransform([d.ExpTransform(), d.PowerTransform(t(-1.5))], **k), 3),
    "stick breaking": (d.StickBreakingTransform, 3),
    "correlation": (d.CorrCholeskyTransform, 6),
    "composed": (
        lambda **k: d.ComposeTransform(
            [d.StickBreakingTransform(), d.ExpTransform(), d.AffineTransform(1.0, 2.0)], **k
        ),
        3,
    ),
    "reshaped": (lambda **k: d.ReshapeTransform((6,), (2, 3), **k), 6),
    "independent": (lambda **k: d.IndependentTransform(d.ExpTransform(), 1, **k), 3),
    "joined": (lambda **k: d.CatTransform([d.ExpTransform(), d.TanhTransform()], -1, [2, 1], **k), 3),
    "stacked": (lambda **k: d.StackTransform([d.ExpTransform(), d.TanhTransform(), d.ExpTransform()], -1, **k), 3),
    "distribution function": (lambda **k: d.CumulativeDistributionTransform(d.Normal(t(0.5), t(2.0)), **k), 3),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    make, shape = TRANSFORMS[name]
    transform = make()
    tenon.manual_seed(4)
    x = tenon.randn(shape, dtype=tenon.float64)
    y = transform(x)
    assert transform.codomain.check(y).all()
    assert y.shape == transform.forward_shape(x.shape) and x.shape == transform.inverse_shape(y.shape)
    assert transform.inv(y).flatten().tolist() == pytest.approx(x.flatten().tolist())
    assert transform.inv.inv is transform
    assert pickle.loads(pickle.dumps(transform))(x).flatten().tolist() == y.flatten().tolist()

    # The determinant against that of the matrix of derivatives, of as many columns of y as are free.
    determinant = transform.log_abs_det_jacobian(x, y).sum()
    matrix = tenon.autograd.functional.jacobian(transform, x).reshape(y.numel(), x.numel())
    if name == "correlation":
        rows, columns = tenon.tril_indices(4, 4, -1).unbind()
        matrix = matrix.reshape(4, 4, 6)[rows, columns]
    elif name in ("stick breaking", "composed"):
        matrix = matrix[:-1]
    expected = elimination_log_det(matrix.tolist())
    if name == "composed":
        # Of the last element, which the others determine, the last two transforms count too.
        last = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(1.0, 2.0)])
        z = d.StickBreakingTransform()(x)[-1:]
        expected += float(last.log_abs_det_jacobian(z, last(z)))
    assert float(determinant) == pytest.approx(expected, rel=1e-6)
    inverse = transform.inv.log_abs_det_jacobian(y, x).sum()
    assert float(inverse) == pytest.approx(-float(determinant))

    cached = make(cache_size=1)
    y = cached(x)
    if not isinstance(cached, d.ComposeTransform):
        assert cached(x) is y and cached.inv(y) is x
    assert cached.inv(y).flatten().tolist() == pytest.approx(x.flatten().tolist())
    assert make().with_cache(1)._cache_size == 1 and cached.with_cache(1) is cached


def elimination_log_det(matrix):
    import math

    total, n = 0.0, len(matrix)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(matrix[i][k]))
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        total += math.log(abs(matrix[k][k]))
        for i in range(k + 1, n):
            factor = matrix[i][k] / matrix[k][k]
            matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k])]
    return total


def test_equal_transforms():
    assert d.ExpTransform() == d.ExpTransform() and d.ExpTransform() != d.TanhTransform()
    assert d.AffineTransform(0.0, 1.0) == d.AffineTransform(0.0, 1.0) != d.AffineTransform(0.0, 2.0)
    assert d.AffineTransform(t([0.0]), 1.0) == d.AffineTransform(t([0.0]), 1.0)
    assert d.PowerTransform(t(2.0)) == d.PowerTransform(t(2.0)) != d.PowerTransform(t(3.0))
    assert d.ComposeTransform([d.ExpTransform()]) == d.ComposeTransform([d.ExpTransform()])
    assert d.ExpTransform().inv == d.ExpTransform().inv != d.ExpTransform()


def test_extreme_values():
    x = t([-1000.0, -40.0, 0.0, 40.0, 1000.0])
    for make in [d.SigmoidTransform, d.TanhTransform, d.SoftplusTransform]:
        transform = make()
        assert transform.log_abs_det_jacobian(x, transform(x)).isfinite().all()
    y = d.SigmoidTransform()(x)
    assert (y > 0).all() and (y < 1).all()
    assert d.Normal(t(0.0), t(1.0)).log_prob(t(1e10)).isfinite()
    assert d.Bernoulli(logits=x).log_prob(t(1.0)).isfinite().all()
    assert d.NegativeBinomial(t(0.0), logits=t(0.0)).log_prob(t(0.0)) == 0
    assert float(d.Multinomial(2, t([0.0, 1.0])).log_prob(t([0.0, 2.0]))) == pytest.approx(0, abs=1e-9)
    assert d.Geometric(t(1.0)).log_prob(t(0.0)) == 0
    assert float(d.Categorical(t([0.0, 1.0])).entropy()) == pytest.approx(0, abs=1e-6)


def test_start():
    """`import tenon` does not import it, and PyTorch's modules' names lead to it."""
    program = (
        "import sys, tenon\n"
        "assert not any('distributions' in name for name in sys.modules)\n"
        "tenon.distributions.Normal(0.0, 1.0)\n"
        "from tenon.distributions.half_normal import HalfNormal\n"
        "import tenon.distributions.chi2\n"
        "assert tenon.distributions.chi2.Chi2 is tenon.distributions.Chi2\n"
    )
    subprocess.run([sys.executable, "-B", "-c", program], check=True)
