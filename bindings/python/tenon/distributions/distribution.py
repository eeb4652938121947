"""Distribution: what all distributions have."""

import warnings

import tenon
from tenon.distributions import constraints
from tenon.distributions.utils import is_broadcastable, lazy_property

__all__ = ["Distribution"]


_ONE = tenon.Size()  # the shape of one number


class Distribution:
    """A batch of distributions, of the shape batch_shape, over values of the shape event_shape.

    validate_args: whether parameters and values are held against their constraints; by default as
    set_default_validate_args() says, at first whether Python runs without -O.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions that are made from now on without validate_args check their arguments."""
        if value not in (True, False):
            raise ValueError(f"validate_args must be True or False, got {value}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=_ONE, event_shape=_ONE, validate_args=None):
        self._batch_shape, self._event_shape = batch_shape, event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. "
                "Please set `arg_constraints = {}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from another parameter, which is checked
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to satisfy the constraint {constraint!r}, "
                    f"but found invalid values:\n{value}"
                )

    # --- shapes ---

    @property
    def batch_shape(self):
        """The shape of the parameters, without the dimensions of one event."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one value."""
        return self._event_shape

    def expand(self, batch_shape, _instance=None):
        """The distribution with its parameters expanded to a larger batch. Their memory is shared.

        Subclasses pass a new object as `_instance`, which becomes the result.
        """
        raise NotImplementedError

    def _get_checked_instance(self, cls, _instance=None):
        """A new object without __init__, for the expand() of `cls`."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expand_parameters(self, cls, batch_shape, _instance, **event_dims):
        """expand() of a class whose state is tensors: event_dims says how many dimensions of each are the event's."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = tenon.Size(batch_shape)
        for name, dims in event_dims.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                setattr(new, name, value.expand(batch_shape + value.shape[value.dim() - dims :]))
        return self._finish_expand(cls, new, batch_shape, self._event_shape)

    def _finish_expand(self, cls, new, batch_shape, event_shape):
        super(cls, new).__init__(batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _extended_shape(self, sample_shape=()):
        """sample_shape + batch_shape + event_shape"""
        return tenon.Size(sample_shape) + self._batch_shape + self._event_shape

    # --- what is known of the distribution ---

    @property
    def arg_constraints(self):
        """The parameters' names, each with a constraint."""
        raise NotImplementedError

    @property
    def support(self):
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def entropy(self):
        """Of each distribution of the batch, in nats."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy)"""
        return tenon.exp(self.entropy())

    # --- values ---

    def sample(self, sample_shape=()):
        """Random values of the shape sample_shape + batch_shape + event_shape, without gradients."""
        with tenon.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Random values that have gradients in the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """sample((n,))"""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(tenon.Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, of the values."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of values that are at most `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of cdf()."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution, along a new first dimension; repeated for the batch if `expand`."""
        raise NotImplementedError

    def _validate_sample(self, value):
        """Raises ValueError unless the values have a fitting shape and are in the support."""
        if not isinstance(value, tenon.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.shape[max(start, 0) :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        if not is_broadcastable(value.shape, expected):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. "
                "Please initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if support is None:
            raise AssertionError("support is None")
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, "
                f"but found invalid values:\n{value}"
            )

    def __repr__(self):
        def shown(value):
            return f"{value}" if value.numel() == 1 else f"{value.size()}"

        names = [name for name in self.arg_constraints if name in self.__dict__]
        return f"{self.__class__.__name__}({', '.join(f'{n}: {shown(self.__dict__[n])}' for n in names)})"
