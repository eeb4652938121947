"""LKJCholesky: Cholesky factors of random correlation matrices (Lewandowski, Kurowicka, Joe 2009)."""

import math

import tenon
from tenon.distributions import constraints
from tenon.distributions.dirichlet import Beta
from tenon.distributions.distribution import Distribution
from tenon.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Factors L of correlation matrices of `dim` rows, with a density in proportion to det(L L^T)^(concentration - 1).

    A concentration of 1 is uniform over correlation matrices; more prefers the identity.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # The squared distances from the diagonal of rows 0, 1, ..., of which the first is 0.
        options = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        offset = tenon.arange(self.dim - 1, **options)
        offset = tenon.cat([offset.new_zeros((1,)), offset])
        marginal = self.concentration + 0.5 * (self.dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), tenon.Size((dim, dim)), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expand_parameters(LKJCholesky, batch_shape, _instance, concentration=0)
        new.dim = self.dim
        new._beta = self._beta.expand(tenon.Size(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape=()):
        """Onion method: row by row a point of a sphere, at a random distance."""
        with tenon.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            shape = self._extended_shape(sample_shape)
            normal = tenon.randn(shape, dtype=y.dtype, device=y.device).tril(-1)
            direction = normal / normal.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0  # of no numbers
            w = y.sqrt() * direction
            rest = (1 - w.square().sum(-1)).clamp(min=tenon.finfo(w.dtype).tiny)
            return w + rest.sqrt().diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        # Row i of the diagonal has the power 2 (concentration - 1) + dim - i, i = 2, 3, ...
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rows = tenon.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        log_density = (powers * diagonal.log()).sum(-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        log_norm = 0.5 * n * math.log(math.pi) + tenon.mvlgamma(alpha - 0.5, n) - tenon.lgamma(alpha) * n
        return log_density - log_norm
