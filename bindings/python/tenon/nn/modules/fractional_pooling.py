"""Pooling of windows at random places."""

from tenon.nn import functional as F
from tenon.nn.modules.module import Module


class _FractionalMaxPool(Module):
    """The largest element of windows at random places (Graham 2014)."""

    dims: int
    function: staticmethod

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        spread = lambda v: v if v is None or isinstance(v, (tuple, list)) else (v,) * self.dims  # noqa: E731
        if self.dims == 3 and any(k <= 0 for k in spread(kernel_size)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = spread(kernel_size) if self.dims == 3 else kernel_size
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = spread(output_size) if self.dims == 3 else output_size
        self.output_ratio = spread(output_ratio)
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return type(self).function(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    dims, function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    dims, function = 3, staticmethod(F.fractional_max_pool3d)
