"""ExponentialFamily: distributions with the density h(x) exp(<t(x), eta> - F(eta))."""

import tenon
from tenon.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution of natural parameters eta and log normalizer F, whose gradient is the mean of t(x).

    Entropy and KL divergence follow from F, by automatic differentiation.
    """

    @property
    def _natural_params(self):
        """eta, a tuple of tensors."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        """F(eta)"""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        """The mean of log h(x)."""
        raise NotImplementedError

    def _normalizer_and_gradients(self):
        """eta without its history, F(eta), and F's gradients, which can be differentiated again."""
        natural_params = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*natural_params)
        gradients = tenon.autograd.grad(log_normalizer.sum(), natural_params, create_graph=True)
        return natural_params, log_normalizer, gradients

    def entropy(self):
        """F(eta) - <eta, F'(eta)> - E log h(x)"""
        result = -self._mean_carrier_measure
        natural_params, log_normalizer, gradients = self._normalizer_and_gradients()
        result = result + log_normalizer
        for parameter, gradient in zip(natural_params, gradients):
            result = result - (parameter * gradient).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
