"""tenon.distributions beside PyTorch's: the same parameters, values and seeds."""

import re
import warnings

import pytest
import tenon
import tenon.distributions

try:
    import torch
    import torch.distributions
except ImportError:
    torch = None
pytestmark = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)

FACTOR = [[1.3, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.5, 1.1]]
COVARIANCE = [[1.5, 0.3, -0.2], [0.3, 0.9, 0.1], [-0.2, 0.1, 1.2]]
PROBS = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
LOGITS = [[0.3, -1.2, 0.7], [0.0, 2.0, -0.4]]

# Of each class arguments: lists become tensors, numbers stay.
CASES = {
    "Bernoulli": [{"probs": 0.3}, {"probs": [0.2, 0.7, 0.999]}, {"logits": [[-1.5], [0.4]]}],
    "Beta": [
        {"concentration1": 1.5, "concentration0": 2.5},
        {"concentration1": [0.6, 2.0, 7.0], "concentration0": [[1.4], [3.0]]},
    ],
    "Binomial": [{"total_count": 5, "probs": [0.2, 0.7]}, {"total_count": [4.0, 4.0], "logits": [0.5, -2.0]}],
    "Categorical": [{"probs": PROBS}, {"logits": LOGITS}, {"probs": [1.0, 3.0]}],
    "Cauchy": [{"loc": 0.5, "scale": 2.0}, {"loc": [0.0, -1.0], "scale": [[0.5], [3.0]]}],
    "Chi2": [{"df": 3.0}, {"df": [0.7, 2.5, 9.0]}],
    "ContinuousBernoulli": [{"probs": [0.1, 0.4995, 0.5, 0.9]}, {"logits": [-2.0, 0.001, 1.5]}, {"probs": 0.3}],
    "Dirichlet": [{"concentration": [0.6, 2.0, 3.5]}, {"concentration": [[1.0, 2.0], [4.0, 0.8]]}],
    "Exponential": [{"rate": 1.5}, {"rate": [0.3, 2.0]}],
    "FisherSnedecor": [{"df1": 3.0, "df2": 5.0}, {"df1": [1.0, 4.0, 9.0], "df2": [1.5, 3.0, 6.0]}],
    "Gamma": [
        {"concentration": 1.5, "rate": 0.7},
        {"concentration": [0.4, 2.0, 8.0], "rate": [1.0, 0.5, 3.0]},
        {"concentration": [0.9, 3.0], "rate": [[2.0], [0.2]]},
    ],
    "GeneralizedPareto": [
        {"loc": 0.0, "scale": 1.0, "concentration": 0.2},
        {"loc": [0.0, 1.0, -1.0, 2.0], "scale": [1.0, 2.0, 0.5, 1.5], "concentration": [0.3, 0.0, -0.4, 0.7]},
    ],
    "Geometric": [{"probs": 0.3}, {"probs": [0.2, 0.9, 1.0]}, {"logits": [-1.0, 0.5]}],
    "Gumbel": [{"loc": 0.5, "scale": 2.0}, {"loc": [0.0, -1.0], "scale": [[0.5], [3.0]]}],
    "HalfCauchy": [{"scale": 1.5}, {"scale": [0.5, 3.0]}],
    "HalfNormal": [{"scale": 1.5}, {"scale": [0.5, 3.0]}],
    "InverseGamma": [
        {"concentration": 1.5, "rate": 0.7},
        {"concentration": [0.8, 2.5, 8.0], "rate": [1.0, 0.5, 3.0]},
    ],
    "Kumaraswamy": [
        {"concentration1": 1.5, "concentration0": 2.5},
        {"concentration1": [0.6, 2.0], "concentration0": [1.4, 3.0]},
    ],
    "LKJCholesky": [{"dim": 3, "concentration": 1.5}, {"dim": 4, "concentration": [0.7, 1.0, 3.0]}],
    "Laplace": [{"loc": 0.5, "scale": 2.0}, {"loc": [0.0, -1.0], "scale": [[0.5], [3.0]]}],
    "LogNormal": [{"loc": 0.5, "scale": 0.7}, {"loc": [0.0, -1.0], "scale": [[0.5], [1.2]]}],
    "LogisticNormal": [{"loc": [0.3, -0.2], "scale": [1.0, 0.5]}, {"loc": [[0.0, 1.0, -1.0]], "scale": [[0.5], [1.2]]}],
    "LowRankMultivariateNormal": [
        {"loc": [0.3, -0.2, 1.0], "cov_factor": [[0.5], [1.0], [-0.7]], "cov_diag": [0.4, 1.0, 0.2]},
        {
            "loc": [[0.3, -0.2, 1.0], [0.0, 0.0, 2.0]],
            "cov_factor": [[0.5, 0.1], [1.0, -0.2], [-0.7, 0.3]],
            "cov_diag": [0.4, 1.0, 0.2],
        },
    ],
    "Multinomial": [{"total_count": 4, "probs": PROBS}, {"total_count": 7, "logits": LOGITS}],
    "MultivariateNormal": [
        {"loc": [0.3, -0.2, 1.0], "scale_tril": FACTOR},
        {"loc": [[0.3, -0.2, 1.0], [0.0, 0.0, 2.0]], "covariance_matrix": COVARIANCE},
        {"loc": [0.0, 1.0, -1.0], "precision_matrix": [COVARIANCE, FACTOR and [[2.0, 0, 0], [0, 1.0, 0], [0, 0, 3.0]]]},
    ],
    "NegativeBinomial": [{"total_count": 5, "probs": [0.2, 0.7]}, {"total_count": [3.0, 0.5], "logits": [0.5, -2.0]}],
    "Normal": [
        {"loc": 0.5, "scale": 2.0},
        {"loc": [0.0, -1.0], "scale": [[0.5], [3.0]]},
        {"loc": [0.0] * 40, "scale": 1.5},
    ],
    "OneHotCategorical": [{"probs": PROBS}, {"logits": LOGITS}, {"probs": [1.0, 3.0]}],
    "OneHotCategoricalStraightThrough": [{"probs": PROBS}, {"logits": LOGITS}],
    "Pareto": [{"scale": 1.5, "alpha": 2.5}, {"scale": [0.5, 1.0, 2.0], "alpha": [0.8, 1.5, 4.0]}],
    "Poisson": [{"rate": 1.5}, {"rate": [0.3, 4.0, 30.0]}],
    "RelaxedBernoulli": [
        {"temperature": [0.7], "probs": [0.2, 0.7]},
        {"temperature": [1.5], "logits": [[-1.0], [0.5]]},
    ],
    "RelaxedOneHotCategorical": [{"temperature": [0.7], "probs": PROBS}, {"temperature": [1.5], "logits": LOGITS}],
    "StudentT": [{"df": 3.0}, {"df": [0.8, 1.5, 5.0], "loc": [0.0, 1.0, -2.0], "scale": [[1.0], [0.4]]}],
    "Uniform": [{"low": -1.0, "high": 2.0}, {"low": [0.0, 1.0], "high": [[3.0], [5.0]]}],
    "VonMises": [{"loc": [0.5], "concentration": [2.0]}, {"loc": [0.0, 3.0, -2.0], "concentration": [0.01, 1.0, 40.0]}],
    "Weibull": [{"scale": 1.5, "concentration": 1.2}, {"scale": [0.5, 3.0], "concentration": [1.0, 4.0]}],
    "Wishart": [
        {"df": 4.0, "covariance_matrix": COVARIANCE},
        {"df": [5.0, 7.5], "scale_tril": FACTOR},
        {"df": [6.0], "precision_matrix": COVARIANCE},
    ],
}
ALL = [(name, i) for name, cases in CASES.items() for i in range(len(cases))]
every_case = pytest.mark.parametrize("name,i", ALL, ids=[f"{name}-{i}" for name, i in ALL])


def made(lib, name, arguments, dtype="float64", grad=False, **options):
    """A distribution, and its tensors."""
    if name == "GeneralizedPareto":
        dtype = "float32"  # the only one that PyTorch's takes
    tensors = {
        key: lib.tensor(value, dtype=getattr(lib, dtype), requires_grad=grad)
        for key, value in arguments.items()
        if isinstance(value, list)
    }
    return getattr(lib.distributions, name)(**{**arguments, **tensors}, **options), tensors


def as_tenon(value):
    return tenon.from_numpy(value.detach().numpy().copy())


def same(found, expected, **tolerance):
    assert tuple(found.shape) == tuple(expected.shape)
    assert str(found.dtype).split(".")[-1] == str(expected.dtype).split(".")[-1]
    found = torch.from_numpy(found.detach().numpy().copy())
    precise = expected.dtype == torch.float64
    options = {"rtol": 1e-7, "atol": 1e-9} if precise else {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(found, expected.detach(), equal_nan=True, **{**options, **tolerance})


def pair(name, i, dtype="float64", **options):
    arguments = CASES[name][i]
    return made(tenon, name, arguments, dtype, **options)[0], made(torch, name, arguments, dtype, **options)[0]


def without_modules(error):
    """The text, but for modules' names and runs of blanks."""
    return " ".join(re.sub(r"(torch|tenon)\.(distributions\.(\w+\.)?)?", "", str(error)).split())


def both(function, found, expected):
    """function(distribution) of both: values, or the same kind of error."""
    try:
        value = function(expected)
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            function(found)
        assert without_modules(caught.value) == without_modules(error)
        return None
    return function(found), value


# PyTorch's values that are not the distribution's.
OTHER_VALUES = {("Kumaraswamy", "mode")}
# Bessel functions are approximated otherwise.
TOLERANCE = {"VonMises": {"rtol": 1e-5, "atol": 1e-6}}


@every_case
@pytest.mark.parametrize("attribute", ["mean", "mode", "variance", "stddev", "entropy", "perplexity"])
def test_moments(name, i, attribute):
    if (name, attribute) in OTHER_VALUES:
        pytest.skip("PyTorch's value is another")

    def value(distribution):
        value = getattr(distribution, attribute)
        return value() if callable(value) else value

    values = both(value, *pair(name, i))
    if values:
        same(*values, **TOLERANCE.get(name, {}))


def values_of(expected, seed=5):
    torch.manual_seed(seed)
    return expected.sample((4,))


@every_case
def test_log_prob_and_gradients(name, i):
    arguments = CASES[name][i]
    found, found_tensors = made(tenon, name, arguments, grad=True)
    expected, expected_tensors = made(torch, name, arguments, grad=True)
    value = values_of(expected).detach()
    log_prob = found.log_prob(as_tenon(value))
    same(log_prob, expected.log_prob(value), **TOLERANCE.get(name, {}))
    keys = [key for key in found_tensors if not (name == "Binomial" and key == "total_count")]
    if keys:
        found_grads = tenon.autograd.grad(log_prob.sum(), [found_tensors[k] for k in keys], allow_unused=True)
        expected_grads = torch.autograd.grad(
            expected.log_prob(value).sum(), [expected_tensors[k] for k in keys], allow_unused=True
        )
        for a, b in zip(found_grads, expected_grads):
            assert (a is None) == (b is None)
            if a is not None:
                same(a, b, **TOLERANCE.get(name, {"rtol": 1e-6}))


@every_case
def test_cdf_and_icdf(name, i):
    found, expected = pair(name, i)
    value = values_of(expected)
    values = both(lambda d: d.cdf(value if d is expected else as_tenon(value)), found, expected)
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if name == "GeneralizedPareto" else {}
    if values:
        same(*values, **tolerance)
    probability = torch.tensor([0.01, 0.3, 0.5, 0.77, 0.99], dtype=torch.float64)
    probability = probability.reshape((5,) + (1,) * len(expected.batch_shape))
    values = both(lambda d: d.icdf(probability if d is expected else as_tenon(probability)), found, expected)
    if values:
        same(*values, **tolerance)


@every_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sample_shape", [(), (2,), (17, 3)])
def test_same_samples(name, i, dtype, sample_shape):
    found, expected = pair(name, i, dtype)
    for method in ["sample", "rsample"]:

        def draw(distribution, method=method):
            (torch if distribution is expected else tenon).manual_seed(11)
            return getattr(distribution, method)(sample_shape)

        values = both(draw, found, expected)
        if values:
            single = {"rtol": 2e-4, "atol": 2e-5} if dtype == "float32" else {"rtol": 1e-6}
            same(*values, **single)


GAMMA_DRAWS = ("Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT", "Wishart")


@every_case
def test_gradients_of_samples(name, i):
    arguments = CASES[name][i]
    found, found_tensors = made(tenon, name, arguments, grad=True)
    expected, expected_tensors = made(torch, name, arguments, grad=True)
    assert found.has_rsample == expected.has_rsample
    if not expected.has_rsample or not expected_tensors:
        return
    # PyTorch's corrected samples cannot be differentiated.
    options = {"max_try_correction": 0} if name == "Wishart" else {}
    tenon.manual_seed(3)
    sample = found.rsample((3,), **options)
    torch.manual_seed(3)
    expected_sample = expected.rsample((3,), **options)
    found_grads = tenon.autograd.grad(sample.sin().sum(), list(found_tensors.values()))
    expected_grads = torch.autograd.grad(expected_sample.sin().sum(), list(expected_tensors.values()))
    for a, b in zip(found_grads, expected_grads):
        # PyTorch's derivatives of gamma draws are approximations.
        same(a, b, **({"rtol": 5e-3, "atol": 1e-3} if name in GAMMA_DRAWS else {"rtol": 1e-6}))


@every_case
def test_what_is_said_of_a_distribution(name, i):
    found, expected = pair(name, i)

    def text(value):
        return re.sub(r"torch\.|tenon\.", "", repr(value))

    assert text(found) == text(expected)
    assert tuple(found.batch_shape) == tuple(expected.batch_shape)
    assert tuple(found.event_shape) == tuple(expected.event_shape)
    assert found.has_enumerate_support == expected.has_enumerate_support
    assert found.has_rsample == expected.has_rsample
    assert text(found.support) == text(expected.support)
    assert (found.support.event_dim, found.support.is_discrete) == (
        expected.support.event_dim,
        expected.support.is_discrete,
    )
    assert text(found.arg_constraints) == text(expected.arg_constraints)


@every_case
def test_expand(name, i):
    found, expected = pair(name, i)
    shape = (5, 2) + tuple(expected.batch_shape)
    larger = found.expand(shape)
    expected_larger = expected.expand(shape)
    assert repr(larger).replace("tenon", "torch") == repr(expected_larger)
    assert larger.batch_shape == shape and larger.event_shape == found.event_shape
    value = values_of(expected_larger)
    same(larger.log_prob(as_tenon(value)), expected_larger.log_prob(value), **TOLERANCE.get(name, {}))
    tenon.manual_seed(1)
    sample = larger.sample()
    torch.manual_seed(1)
    same(sample, expected_larger.sample(), rtol=1e-6)


@every_case
@pytest.mark.parametrize("expand", [True, False])
def test_enumerate_support(name, i, expand):
    values = both(lambda d: d.enumerate_support(expand), *pair(name, i))
    if values:
        same(*values)


# --- transforms and constraints ---


def transforms_of(lib):
    t = lib.distributions.transforms

    def tensor(value):
        return lib.tensor(value, dtype=lib.float64)

    normal = lib.distributions.Normal(tensor([0.5, -1.0, 0.0]), tensor(2.0))
    return [
        t.ExpTransform(),
        t.SigmoidTransform(),
        t.TanhTransform(),
        t.SoftplusTransform(),
        t.AbsTransform(),
        t.AffineTransform(1.5, -2.0),
        t.AffineTransform(tensor([0.0, 1.0, 2.0]), tensor([0.5, 2.0, -3.0]), event_dim=1),
        t.AffineTransform(tensor(1.0), 3.0, event_dim=2),
        t.ComposeTransform([t.ExpTransform(), t.PowerTransform(tensor([2.0, -0.5, 1.0]))]),
        t.ComposeTransform([t.AffineTransform(0.0, 0.1), t.StickBreakingTransform(), t.ExpTransform()]),
        t.ComposeTransform([]),
        t.StickBreakingTransform(),
        t.SoftmaxTransform(),
        t.CorrCholeskyTransform(),
        t.IndependentTransform(t.ExpTransform(), 1),
        t.ReshapeTransform((2, 3), (3, 2)),
        t.ReshapeTransform((3,), (1, 3)),
        t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], dim=-1, lengths=[2, 1]),
        t.CatTransform([t.StickBreakingTransform(), t.StickBreakingTransform()], dim=0),
        t.StackTransform([t.ExpTransform(), t.TanhTransform()], dim=0),
        t.StackTransform([t.ExpTransform(), t.TanhTransform(), t.SigmoidTransform()], dim=1),
        t.CumulativeDistributionTransform(normal),
        t.ExpTransform().inv.inv,
        t.ComposeTransform([t.ExpTransform(), t.AffineTransform(0, 2)]).inv.inv,
    ]


@pytest.mark.parametrize("i", range(24))
def test_transforms(i):
    found, expected = transforms_of(tenon)[i], transforms_of(torch)[i]
    x = torch.tensor([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]], dtype=torch.float64)
    y = found(as_tenon(x))
    expected_y = expected(x)
    same(y, expected_y)
    assert repr(found) == repr(expected)
    assert (found.bijective, found.domain.event_dim, found.codomain.event_dim) == (
        expected.bijective,
        expected.domain.event_dim,
        expected.codomain.event_dim,
    )
    assert repr(found.domain) == repr(expected.domain) and repr(found.codomain) == repr(expected.codomain)
    assert tuple(found.forward_shape(tenon.Size(x.shape))) == tuple(expected.forward_shape(x.shape))
    assert tuple(found.inverse_shape(tenon.Size(y.shape))) == tuple(expected.inverse_shape(expected_y.shape))
    same(found.inv(as_tenon(expected_y)), expected.inv(expected_y))
    values = both(
        lambda t: t.log_abs_det_jacobian(*((x, expected_y) if t is expected else (as_tenon(x), as_tenon(expected_y)))),
        found,
        expected,
    )
    if values:
        same(*values)

    def sign(transform):
        sign = transform.sign
        return sign.tolist() if hasattr(sign, "tolist") else sign

    values = both(sign, found, expected)
    assert values is None or values[0] == values[1]


def test_matrix_transforms():
    x = torch.tensor([[[0.3, -0.7], [1.1, 0.2]], [[0.9, 0.2], [-0.4, 0.1]]], dtype=torch.float64)
    for name in ["LowerCholeskyTransform", "PositiveDefiniteTransform"]:
        found, expected = getattr(tenon.distributions, name)(), getattr(torch.distributions, name)()
        same(found(as_tenon(x)), expected(x))
        same(found.inv(as_tenon(expected(x))), expected.inv(expected(x)))
    vector = torch.arange(12, dtype=torch.float64).reshape(2, 6) / 10 - 0.5
    transform, other = tenon.distributions.CorrCholeskyTransform(), torch.distributions.CorrCholeskyTransform()
    same(transform(as_tenon(vector)), other(vector))
    same(
        transform.log_abs_det_jacobian(as_tenon(vector), transform(as_tenon(vector))),
        other.log_abs_det_jacobian(vector, other(vector)),
    )
    for matrix in [torch.arange(16.0).reshape(4, 4), torch.arange(32.0).reshape(2, 4, 4)]:
        for diag in [-2, -1, 0]:
            vector = torch.distributions.utils.tril_matrix_to_vec(matrix, diag)
            same(tenon.distributions.utils.tril_matrix_to_vec(as_tenon(matrix), diag), vector)
            back = torch.distributions.utils.vec_to_tril_matrix(vector, diag)
            same(tenon.distributions.utils.vec_to_tril_matrix(as_tenon(vector), diag), back)


CONSTRAINTS = {
    "boolean": lambda c: c.boolean,
    "one_hot": lambda c: c.one_hot,
    "nonnegative_integer": lambda c: c.nonnegative_integer,
    "positive_integer": lambda c: c.positive_integer,
    "integer_interval": lambda c: c.integer_interval(-1, 2),
    "integer_less_than": lambda c: c._IntegerLessThan(1),
    "real": lambda c: c.real,
    "real_vector": lambda c: c.real_vector,
    "positive": lambda c: c.positive,
    "nonnegative": lambda c: c.nonnegative,
    "greater_than": lambda c: c.greater_than(0.5),
    "greater_than_eq": lambda c: c.greater_than_eq(1),
    "less_than": lambda c: c.less_than(1),
    "interval": lambda c: c.interval(-1, 1),
    "half_open_interval": lambda c: c.half_open_interval(-1, 1),
    "unit_interval": lambda c: c.unit_interval,
    "simplex": lambda c: c.simplex,
    "multinomial": lambda c: c.multinomial(2),
    "lower_triangular": lambda c: c.lower_triangular,
    "lower_cholesky": lambda c: c.lower_cholesky,
    "corr_cholesky": lambda c: c.corr_cholesky,
    "square": lambda c: c.square,
    "symmetric": lambda c: c.symmetric,
    "positive_semidefinite": lambda c: c.positive_semidefinite,
    "positive_definite": lambda c: c.positive_definite,
    "independent": lambda c: c.independent(c.positive, 2),
    "cat": lambda c: c.cat([c.positive, c.real], -1, [1, 1]),
    "stack": lambda c: c.stack([c.positive, c.boolean], 0),
    "mixture": lambda c: c.MixtureSameFamilyConstraint(c.positive),
    "dependent": lambda c: c.dependent(is_discrete=True),
}
VALUES = [
    [[1.0, 0.0], [0.0, 1.0]],
    [[1.0, 0.5], [0.5, 2.0]],
    [[0.25, 0.75], [float("nan"), 0.5]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[1.0, 0.0], [0.6, 0.8]],
    [[-1.0, 0.0], [3.0, -0.5]],
    [0.3, 0.7],
    [2.0, 1.0],
    1.0,
]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name):
    found = CONSTRAINTS[name](tenon.distributions.constraints)
    expected = CONSTRAINTS[name](torch.distributions.constraints)
    assert repr(found) == repr(expected)
    for attribute in ["is_discrete", "event_dim"]:
        values = both(lambda c, a=attribute: getattr(c, a), found, expected)
        assert values is None or values[0] == values[1]
    for value in VALUES:
        value = torch.tensor(value, dtype=torch.float64)
        if value.dim() < 2 and name in ("square", "symmetric", "lower_cholesky", "corr_cholesky", "lower_triangular"):
            continue
        if value.dim() < 2 and name.startswith("positive_") and name.endswith("definite"):
            continue
        if name in ("cat", "stack") and value.dim() < 2:
            continue
        if name in ("one_hot", "simplex", "multinomial") and value.dim() < 1:
            continue
        values = both(lambda c: c.check(value if c is expected else as_tenon(value)), found, expected)
        if values:
            same(*values)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registries(registry, name):
    def transform(lib):
        return getattr(lib.distributions, registry)(CONSTRAINTS[name](lib.distributions.constraints))

    values = both(transform, tenon, torch)
    if not values:
        return
    found, expected = values
    assert repr(found) == repr(expected)
    x = torch.tensor([[0.3, -0.7], [1.1, 0.2]], dtype=torch.float64)
    x = x[..., :1] if name == "corr_cholesky" else x
    same(found(as_tenon(x)), expected(x))
    same(found.inv(found(as_tenon(x))), expected.inv(expected(x)))


# --- errors ---

WRONG = [
    lambda d, t: d.Normal(t([0.0, 1.0]), t([-1.0, 2.0])),
    lambda d, t: d.Normal(0.0, -1.0),
    lambda d, t: d.Normal("a", 1.0),
    lambda d, t: d.Normal(t([0.0, float("nan")]), 1.0),
    lambda d, t: d.Normal(t([0.0, 1.0]), t([1.0, 1.0, 1.0])),
    lambda d, t: d.Normal(t([[0.0, 0.0]] * 3), t([1.0, 1.0])).log_prob(1.0),
    lambda d, t: d.Normal(t([[0.0, 0.0]] * 3), t([1.0, 1.0])).log_prob(t([0.0] * 3)),
    lambda d, t: d.Normal(t([[0.0, 0.0]] * 3), t([1.0, 1.0])).log_prob(t([0.0, float("nan")])),
    lambda d, t: d.Exponential(1.0).log_prob(t(-1.0)),
    lambda d, t: d.Uniform(0.0, 1.0).log_prob(t([0.5, 1.5])),
    lambda d, t: d.Uniform(0.0, 1.0).cdf(t([0.5, 1.5])),
    lambda d, t: d.Bernoulli(0.5).log_prob(t(0.5)),
    lambda d, t: d.Categorical(t([0.1, 0.9])).log_prob(t(2.0)),
    lambda d, t: d.Dirichlet(t([1.0] * 3)).log_prob(t([0.25] * 4)),
    lambda d, t: d.Dirichlet(t([1.0] * 3)).log_prob(t([0.25] * 3)),
    lambda d, t: d.Dirichlet(t([1.0] * 3)).log_prob(t(1.0)),
    lambda d, t: d.Dirichlet(t(1.0)),
    lambda d, t: d.Categorical(t(1.0)),
    lambda d, t: d.Categorical(logits=t(1.0)),
    lambda d, t: d.Categorical(t([-0.5, 1.5])),
    lambda d, t: d.Bernoulli(),
    lambda d, t: d.Bernoulli(0.1, 0.2),
    lambda d, t: d.Bernoulli(1.5),
    lambda d, t: d.Categorical(t([0.1, 0.2]), t([0.1, 0.2])),
    lambda d, t: d.Binomial(2),
    lambda d, t: d.Binomial(-2, 0.5),
    lambda d, t: d.Binomial(t([2.0, 3.0]), t([0.1, 0.2])).enumerate_support(),
    lambda d, t: d.Binomial(t([2.0, 3.0]), t([0.1, 0.2])).entropy(),
    lambda d, t: d.Binomial(3, 0.5).log_prob(t(4.0)),
    lambda d, t: d.Multinomial(t([2.0, 3.0]), t([0.1, 0.2])),
    lambda d, t: d.Multinomial(2.5, t([0.1, 0.2])),
    lambda d, t: d.Multinomial(2),
    lambda d, t: d.NegativeBinomial(2),
    lambda d, t: d.NegativeBinomial(2, 1.0),
    lambda d, t: d.Geometric(),
    lambda d, t: d.Geometric(0.0),
    lambda d, t: d.Geometric(t([0.5, 0.0])),
    lambda d, t: d.ContinuousBernoulli(),
    lambda d, t: d.ContinuousBernoulli(2.0, validate_args=True),
    lambda d, t: d.Uniform(1.0, 0.0),
    lambda d, t: d.Uniform(t([0.0, 1.0]), t([1.0, 0.0])),
    lambda d, t: d.RelaxedBernoulli(t(1.0)),
    lambda d, t: d.RelaxedOneHotCategorical(t(1.0)),
    lambda d, t: d.MultivariateNormal(t([0.0, 0.0])),
    lambda d, t: d.MultivariateNormal(t(1.0), t([[1.0]])),
    lambda d, t: d.MultivariateNormal(t([0.0]), t([1.0])),
    lambda d, t: d.MultivariateNormal(t([0.0]), precision_matrix=t([1.0])),
    lambda d, t: d.MultivariateNormal(t([0.0]), scale_tril=t([1.0])),
    lambda d, t: d.MultivariateNormal(t([0.0]), t([[1.0]]), t([[1.0]])),
    lambda d, t: d.MultivariateNormal(t([0.0, 0.0]), scale_tril=t([[-1.0, 0.0], [0.0, -1.0]])),
    lambda d, t: d.MultivariateNormal(t([0.0, 0.0]), t([[-1.0, 0.0], [0.0, -1.0]])),
    lambda d, t: d.LowRankMultivariateNormal(t(0.0), t([[1.0]] * 2), t([1.0, 1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([0.0, 0.0]), t([1.0, 1.0]), t([1.0, 1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([0.0, 0.0]), t([[1.0]] * 3), t([1.0, 1.0])),
    lambda d, t: d.LowRankMultivariateNormal(t([0.0, 0.0]), t([[1.0]] * 2), t([1.0] * 3)),
    lambda d, t: d.LowRankMultivariateNormal(t([[0.0, 0.0]] * 3), t([[[1.0]] * 2] * 2), t([1.0, 1.0])),
    lambda d, t: d.Wishart(t(1.0)),
    lambda d, t: d.Wishart(t(3.0), t(1.0)),
    lambda d, t: d.Wishart(t(0.5), t([[1.0, 0.0], [0.0, 1.0]])),
    lambda d, t: d.Wishart(1.5, t([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])),
    lambda d, t: d.Wishart(3.0, t([[-1.0, 0.0], [0.0, -1.0]])),
    lambda d, t: d.LKJCholesky(1),
    lambda d, t: d.Independent(d.Normal(t([0.0]), 1.0), 2),
    lambda d, t: d.Independent(d.Bernoulli(t([0.5])), 1).enumerate_support(),
    lambda d, t: d.MixtureSameFamily(d.Normal(t([0.0]), 1.0), d.Normal(t([0.0]), 1.0)),
    lambda d, t: d.MixtureSameFamily(d.Categorical(t([1.0] * 3)), 1),
    lambda d, t: d.MixtureSameFamily(d.Categorical(t([1.0] * 4)), d.Normal(t([0.0] * 3), 1.0)),
    lambda d, t: d.MixtureSameFamily(d.Categorical(t([[1.0] * 2] * 5)), d.Normal(t([[0.0] * 2] * 3), 1.0)),
    lambda d, t: d.MixtureSameFamily(d.Categorical(t([1.0] * 3)), d.Normal(0.0, 1.0)),
    lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), 1),
    lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), [1]),
    lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), d.StickBreakingTransform()),
    lambda d, t: d.TransformedDistribution(d.Normal(t([0.0] * 2), 1.0), d.CorrCholeskyTransform()),
    lambda d, t: d.TransformedDistribution(d.Normal(t([0.0] * 2), 1.0), d.SoftmaxTransform()).log_prob(t([0.5] * 2)),
    lambda d, t: d.LogNormal(0.0, 1.0).log_prob(t(-1.0)),
    lambda d, t: d.kl_divergence(d.Normal(0.0, 1.0), d.HalfCauchy(1.0)),
    lambda d, t: d.kl_divergence(d.Normal(0.0, 1.0), 3),
    lambda d, t: d.kl_divergence(d.Chi2(1.0), d.Dirichlet(t([1.0]))),
    lambda d, t: d.kl_divergence(d.Multinomial(2, t([1.0] * 2)), d.Multinomial(2, t([1.0] * 2))),
    lambda d, t: d.kl_divergence(d.Binomial(2, 0.5), d.Binomial(3, 0.5)),
    lambda d, t: d.kl_divergence(d.LogNormal(0.0, 1.0), d.HalfNormal(1.0)),
    lambda d, t: d.kl_divergence(
        d.Independent(d.Normal(t([[0.0]]), 1.0), 1), d.Independent(d.Normal(t([[0.0]]), 1.0), 2)
    ),
    lambda d, t: d.kl_divergence(
        d.MultivariateNormal(t([0.0]), t([[1.0]])), d.MultivariateNormal(t([0.0] * 2), t([[1.0, 0.0], [0.0, 1.0]]))
    ),
    lambda d, t: d.biject_to(3),
    lambda d, t: d.biject_to(d.constraints.boolean),
    lambda d, t: d.transform_to.register(3, 4),
    lambda d, t: d.ExpTransform(cache_size=3),
    lambda d, t: d.ReshapeTransform((2,), (3,)),
    lambda d, t: d.ReshapeTransform((2, 3), (6,)).forward_shape((6,)),
    lambda d, t: d.ReshapeTransform((2, 3), (6,)).inverse_shape(()),
    lambda d, t: d.CorrCholeskyTransform().forward_shape((2,)),
    lambda d, t: d.CorrCholeskyTransform().forward_shape(()),
    lambda d, t: d.CorrCholeskyTransform().inverse_shape((2, 3)),
    lambda d, t: d.CorrCholeskyTransform().inverse_shape((3,)),
    lambda d, t: d.StickBreakingTransform().forward_shape(()),
    lambda d, t: d.SoftmaxTransform().forward_shape(()),
    lambda d, t: d.IndependentTransform(d.ExpTransform(), 1)(t(1.0)),
    lambda d, t: d.CatTransform([1]),
    lambda d, t: d.CatTransform([d.ExpTransform()], 0, [1, 2]),
    lambda d, t: d.CatTransform([d.ExpTransform()], 0, [1])(t([1.0, 2.0])),
    lambda d, t: d.StackTransform([d.ExpTransform()])(t([1.0, 2.0])),
    lambda d, t: d.CorrCholeskyTransform().event_dim,
    lambda d, t: d.constraints.dependent.check(1),
    lambda d, t: d.constraints.dependent.event_dim,
    lambda d, t: d.constraints.real_vector.check(t(1.0)),
    lambda d, t: d.constraints.independent(1, 1),
    lambda d, t: d.constraints.independent(d.constraints.real, -1),
    lambda d, t: d.constraints.cat([1]),
    lambda d, t: d.constraints.cat([d.constraints.real], 0, [1, 2]),
    lambda d, t: d.constraints.stack([d.constraints.real], 2).check(t([1.0])),
    lambda d, t: d.utils.vec_to_tril_matrix(t([1.0, 2.0])),
    lambda d, t: d.utils.tril_matrix_to_vec(t([[1.0]]), 1),
    lambda d, t: d.VonMises(t([0.0]), t([1.0])).rsample(),
    lambda d, t: d.Kumaraswamy(0.0, 1.0),
]


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_errors(i):
    with pytest.raises(Exception) as expected:
        WRONG[i](torch.distributions, torch.tensor)
    kind = Exception if expected.type is RuntimeError else expected.type
    with pytest.raises(kind) as found:
        WRONG[i](tenon.distributions, tenon.tensor)
    if expected.type not in (RuntimeError, IndexError):  # the operators' own texts
        assert without_modules(found.value) == without_modules(expected.value)


def test_warnings():
    for lib in [tenon, torch]:
        with pytest.warns(FutureWarning, match="sample_n"):
            lib.distributions.Normal(0.0, 1.0).sample_n(2)
        with pytest.warns(UserWarning, match="does not define `arg_constraints`"):

            class Bare(lib.distributions.Distribution):
                pass

            Bare()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Bare(validate_args=False)


def test_names():
    assert set(tenon.distributions.__all__) == set(torch.distributions.__all__)
    assert set(tenon.distributions.constraints.__all__) == set(torch.distributions.constraints.__all__)
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(torch.distributions.__path__):
        found = importlib.import_module(f"tenon.distributions.{module.name}")
        expected = importlib.import_module(f"torch.distributions.{module.name}")
        for name in expected.__all__:
            assert hasattr(found, name), (module.name, name)
    pairs = {(p.__name__, q.__name__) for p, q in tenon.distributions.kl._table}
    assert {(p.__name__, q.__name__) for p, q in torch.distributions.kl._KL_REGISTRY} <= pairs


# --- compound distributions ---


def compounds(lib):
    d = lib.distributions

    def t(value):
        return lib.tensor(value, dtype=lib.float64)

    normal = d.Normal(t([[0.0, 1.0, -1.0], [2.0, 0.5, 0.0]]), t([0.5, 1.0, 2.0]))
    return [
        d.Independent(normal, 1),
        d.Independent(normal, 2),
        d.Independent(normal, 0),
        d.Independent(d.Bernoulli(t([0.2, 0.8])), 1),
        d.MixtureSameFamily(d.Categorical(t([[0.2, 0.3, 0.5]] * 2)), normal),
        d.MixtureSameFamily(
            d.Categorical(t([[0.2, 0.8], [0.5, 0.5]])),
            d.Independent(d.Normal(t([[[0.0, 1.0, 2.0]] * 2] * 2), t([[[1.0], [3.0]]])), 1),
        ),
        d.MixtureSameFamily(d.Categorical(logits=t([0.2, 0.8])), d.Categorical(t([[0.2, 0.8], [0.5, 0.5]]))),
        d.TransformedDistribution(normal, [d.ExpTransform(), d.AffineTransform(1.0, 2.0)]),
        d.TransformedDistribution(normal, [d.AffineTransform(0.0, -1.0), d.TanhTransform()]),
        d.TransformedDistribution(normal, d.StickBreakingTransform()),
        d.TransformedDistribution(normal, d.ReshapeTransform((2, 3), (6,))),
        d.TransformedDistribution(d.Normal(t([0.0, 1.0]), 1.0), d.AffineTransform(t([[1.0], [2.0]]), t(3.0))),
        d.TransformedDistribution(d.Independent(normal, 1), d.ExpTransform()),
        d.TransformedDistribution(
            d.Uniform(t([0.0]), t([1.0])), [d.SigmoidTransform().inv, d.AffineTransform(1.0, 2.0)]
        ),
        d.TransformedDistribution(normal, []),
    ]


@pytest.mark.parametrize("i", range(15))
def test_compounds(i):
    found, expected = compounds(tenon)[i], compounds(torch)[i]
    assert repr(found).replace("tenon", "torch") == repr(expected)
    assert (tuple(found.batch_shape), tuple(found.event_shape)) == (
        tuple(expected.batch_shape),
        tuple(expected.event_shape),
    )
    assert found.has_rsample == expected.has_rsample
    assert repr(found.support).replace("tenon", "torch") == repr(expected.support)
    tenon.manual_seed(2)
    sample = found.sample((4,))
    torch.manual_seed(2)
    value = expected.sample((4,))
    same(sample, value, rtol=1e-6)
    for attribute in ["mean", "variance", "mode", "stddev", "entropy"]:

        def get(distribution, attribute=attribute):
            value = getattr(distribution, attribute)
            return value() if callable(value) else value

        values = both(get, found, expected)
        if values:
            same(*values)
    for method in ["log_prob", "cdf"]:
        values = both(lambda d, m=method: getattr(d, m)(value if d is expected else as_tenon(value)), found, expected)
        if values:
            same(*values)
    larger, expected_larger = found.expand((2, *found.batch_shape)), expected.expand((2, *expected.batch_shape))
    same(larger.log_prob(as_tenon(value[:1])), expected_larger.log_prob(value[:1]))
    if expected.has_rsample:
        tenon.manual_seed(2)
        sample = found.rsample((2,))
        torch.manual_seed(2)
        same(sample, expected.rsample((2,)), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_draws_keep_step(dtype):
    concentration = torch.tensor([0.05, 0.9, 1.0, 2.5, 40.0, 1e4] * 20, dtype=getattr(torch, dtype))
    tenon.manual_seed(8)
    torch.manual_seed(8)
    found = tenon.distributions.Gamma(as_tenon(concentration), 1.0).sample((3,))
    expected = torch.distributions.Gamma(concentration, 1.0).sample((3,))
    same(found, expected, rtol=1e-5 if dtype == "float32" else 1e-15, atol=0)
    # Both have used as many random numbers.
    same(tenon.rand(2), torch.rand(2))


# --- KL divergences ---

PAIRS = [
    (p.__name__, q.__name__)
    for p, q in (torch.distributions.kl._KL_REGISTRY if torch else ())
    if p.__name__ in CASES and q.__name__ in CASES
]
# Second parameters of each class, of shapes that broadcast with the first's.
OTHERS = {
    "Bernoulli": {"probs": [[0.4], [0.8]]},
    "Beta": {"concentration1": [[3.0], [0.7]], "concentration0": [[1.0], [2.0]]},
    "Binomial": {"total_count": 3, "probs": [[0.4], [0.8]]},
    "Categorical": {"probs": [0.5, 0.2, 0.3]},
    "Cauchy": {"loc": [[1.0], [0.5]], "scale": [[1.5], [0.3]]},
    "ContinuousBernoulli": {"probs": [[0.3], [0.4]]},
    "Dirichlet": {"concentration": [2.0, 1.0, 0.5]},
    "Exponential": {"rate": [[0.7], [4.0]]},
    "Gamma": {"concentration": [[3.0], [0.8]], "rate": [[1.0], [2.0]]},
    "Geometric": {"probs": [[0.4], [0.8]]},
    "Gumbel": {"loc": [[1.0], [0.5]], "scale": [[1.5], [0.8]]},
    "HalfNormal": {"scale": [[1.0], [0.5]]},
    "Laplace": {"loc": [[1.0], [0.5]], "scale": [[1.5], [0.3]]},
    "LowRankMultivariateNormal": {
        "loc": [0.0, 0.5, 1.0],
        "cov_factor": [[0.1], [0.7], [-0.2]],
        "cov_diag": [0.8, 0.4, 1.3],
    },
    "MultivariateNormal": {
        "loc": [0.0, 0.5, 1.0],
        "covariance_matrix": [[1.0, 0.2, 0], [0.2, 1.0, 0.1], [0, 0.1, 2.0]],
    },
    "Normal": {"loc": [[1.0], [0.5]], "scale": [[1.5], [0.3]]},
    "OneHotCategorical": {"probs": [0.5, 0.2, 0.3]},
    "Pareto": {"scale": [[0.4], [1.2]], "alpha": [[3.0], [0.9]]},
    "Poisson": {"rate": [[2.0], [0.6]]},
    "Uniform": {"low": [[-2.0], [0.0]], "high": [[6.0], [4.0]]},
    "Wishart": {"df": [5.0], "covariance_matrix": COVARIANCE},
}
MORE_OF_UNIFORM = [{"low": [0.1, 0.3], "high": [0.5, 0.9]}, {"low": [-0.5, 0.0], "high": [0.5, 1.5]}]


# PyTorch counts an interval that is just [0, 1] as too narrow.
NARROW = {("ContinuousBernoulli", "Uniform")}


@pytest.mark.parametrize("p,q", PAIRS, ids=[f"{p}-{q}" for p, q in PAIRS])
def test_kl(p, q):
    firsts = CASES[p] + (MORE_OF_UNIFORM if p == "Uniform" else [])
    seconds = [OTHERS[q]] + (MORE_OF_UNIFORM[:1] if q == "Uniform" else []) + CASES[q][:1]
    if p == "Binomial":
        firsts = [{"total_count": 3, "probs": [0.2, 0.7]}, {"total_count": 5, "logits": [0.5, -2.0]}]
    if (p, q) in NARROW:
        seconds = [{"low": [[-2.0], [-0.1]], "high": [[6.0], [1.1]]}, {"low": -1.0, "high": 0.9}]
    compared = 0
    for first in firsts:
        for second in seconds:
            # Expanded: PyTorch sets what is infinite by masks that do not broadcast.
            expected_p, expected_q = made(torch, p, first)[0], made(torch, q, second)[0]
            try:
                shape = torch.broadcast_shapes(expected_p.batch_shape, expected_q.batch_shape)
                expected = torch.distributions.kl_divergence(expected_p.expand(shape), expected_q.expand(shape))
            except (RuntimeError, ValueError):  # shapes that do not broadcast, or too many trials
                continue
            found = tenon.distributions.kl_divergence(made(tenon, p, first)[0], made(tenon, q, second)[0])
            # Infinite pairs have p's shape alone.
            same(
                found.expand(shape) if found.isinf().all() else found, expected, rtol=1e-5, atol=1e-6
            )  # numbers are float32
            compared += 1
    assert compared >= 2
