"""Transforms side by side, along a dimension."""

import tenon
from tenon.distributions import constraints
from tenon.distributions.transforms.base import Transform
from tenon.distributions.utils import lazy_property, sum_rightmost


def _check_transforms(tseq):
    if not all(isinstance(t, Transform) for t in tseq):
        raise AssertionError("All elements of tseq must be Transform instances")


def _check_dim(value, name, dim):
    if not -value.dim() <= dim < value.dim():
        raise AssertionError(f"dim {dim} out of range for {name} with {value.dim()} dimensions")


class CatTransform(Transform):
    """Parts of the dimension `dim`, of the sizes `lengths` (by default 1), each with a transform of `tseq`."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        _check_transforms(tseq)
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")
        self.dim = dim

    @lazy_property
    def event_dim(self):
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self):
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, name, value):
        _check_dim(value, name, self.dim)
        if value.size(self.dim) != self.length:
            raise AssertionError(f"{name}.size({self.dim}) = {value.size(self.dim)} must equal length {self.length}")
        return value.split(self.lengths, self.dim)

    def _call(self, x):
        return tenon.cat([t(part) for t, part in zip(self.transforms, self._parts("x", x))], self.dim)

    def _inverse(self, y):
        return tenon.cat([t.inv(part) for t, part in zip(self.transforms, self._parts("y", y))], self.dim)

    def log_abs_det_jacobian(self, x, y):
        terms = [
            sum_rightmost(t.log_abs_det_jacobian(part_x, part_y), self.event_dim - t.event_dim)
            for t, part_x, part_y in zip(self.transforms, self._parts("x", x), self._parts("y", y))
        ]
        # The dimension counted from the end, among what is left without the event.
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return tenon.cat(terms, dim) if dim < 0 else sum(terms)

    @property
    def bijective(self):
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Slices of the dimension `dim`, each with a transform of `tseq`."""

    def __init__(self, tseq, dim=0, cache_size=0):
        _check_transforms(tseq)
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, name, value):
        _check_dim(value, name, self.dim)
        if value.size(self.dim) != len(self.transforms):
            raise AssertionError(
                f"{name}.size({self.dim}) = {value.size(self.dim)} must equal len(transforms) {len(self.transforms)}"
            )
        return value.unbind(self.dim)

    def _call(self, x):
        return tenon.stack([t(part) for t, part in zip(self.transforms, self._slices("x", x))], self.dim)

    def _inverse(self, y):
        return tenon.stack([t.inv(part) for t, part in zip(self.transforms, self._slices("y", y))], self.dim)

    def log_abs_det_jacobian(self, x, y):
        slices = zip(self.transforms, self._slices("x", x), self._slices("y", y))
        return tenon.stack([t.log_abs_det_jacobian(part_x, part_y) for t, part_x, part_y in slices], self.dim)

    @property
    def bijective(self):
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
