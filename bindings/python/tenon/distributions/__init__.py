"""Probability distributions: random values, densities, entropies, KL divergences.

Names, arguments and random numbers are PyTorch's. Parameters are tensors or numbers and broadcast to a batch. Results have
gradients in them.

    scale = tenon.ones(3, requires_grad=True)
    x = Normal(0.0, scale).rsample((100,))  # 100 x 3 numbers with gradients

sample() gives random values without gradients. rsample() gives them with gradients, if has_rsample is true. log_prob(value)
is the logarithm of the density or probability.
"""

import sys as _sys

from tenon.distributions import (
    cauchy as _cauchy,
    dirichlet as _dirichlet,
    gamma as _gamma,
    normal as _normal,
    pareto as _pareto,
    transforms,
)
from tenon.distributions.bernoulli import Bernoulli
from tenon.distributions.binomial import Binomial
from tenon.distributions.categorical import Categorical
from tenon.distributions.cauchy import Cauchy, HalfCauchy
from tenon.distributions.constraint_registry import biject_to, transform_to
from tenon.distributions.continuous_bernoulli import ContinuousBernoulli
from tenon.distributions.dirichlet import Beta, Dirichlet
from tenon.distributions.distribution import Distribution
from tenon.distributions.exp_family import ExponentialFamily
from tenon.distributions.exponential import Exponential
from tenon.distributions.fishersnedecor import FisherSnedecor
from tenon.distributions.gamma import Chi2, Gamma, InverseGamma
from tenon.distributions.geometric import Geometric
from tenon.distributions.gumbel import Gumbel
from tenon.distributions.independent import Independent
from tenon.distributions.kl import kl_divergence, register_kl
from tenon.distributions.kumaraswamy import Kumaraswamy
from tenon.distributions.laplace import Laplace
from tenon.distributions.lkj_cholesky import LKJCholesky
from tenon.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from tenon.distributions.mixture_same_family import MixtureSameFamily
from tenon.distributions.multinomial import Multinomial
from tenon.distributions.multivariate_normal import MultivariateNormal
from tenon.distributions.negative_binomial import NegativeBinomial
from tenon.distributions.normal import HalfNormal, LogisticNormal, LogNormal, Normal
from tenon.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from tenon.distributions.pareto import GeneralizedPareto, Pareto
from tenon.distributions.poisson import Poisson
from tenon.distributions.relaxed_bernoulli import RelaxedBernoulli
from tenon.distributions.relaxed_categorical import RelaxedOneHotCategorical
from tenon.distributions.studentT import StudentT
from tenon.distributions.transformed_distribution import TransformedDistribution
from tenon.distributions.transforms import *  # noqa: F403
from tenon.distributions.uniform import Uniform
from tenon.distributions.von_mises import VonMises
from tenon.distributions.weibull import Weibull
from tenon.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
]
__all__.extend(transforms.__all__)

# PyTorch's modules whose classes are in one file with those they are made of.
for _name, _module in {
    "beta": _dirichlet,
    "chi2": _gamma,
    "generalized_pareto": _pareto,
    "half_cauchy": _cauchy,
    "half_normal": _normal,
    "inverse_gamma": _gamma,
    "log_normal": _normal,
    "logistic_normal": _normal,
}.items():
    _sys.modules[f"{__name__}.{_name}"] = globals()[_name] = _module
