"""Windows and pooling."""

import tenon
from tenon import adaptive_avg_pool1d, avg_pool1d
from tenon._C import _nn

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "unfold",
]

avg_pool2d = _nn.avg_pool2d
avg_pool3d = _nn.avg_pool3d


def _pair(value):
    return [value, value] if isinstance(value, int) else list(value)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Each window of [N, C, H, W] as a column: [N, C * kernel, windows]."""
    return _nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The way back from unfold(), where windows overlap their sum."""
    return _nn.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def _row(value):
    """A window's number along one dimension, as one of two: the other does nothing."""
    return value if isinstance(value, int) else value[0]


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The norm of each window, without the absolute value of odd powers."""
    mean = tenon.avg_pool1d(input**norm_type, kernel_size, [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * _row(kernel_size)) ** (1 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    height, width = _pair(kernel_size)
    mean = _nn.avg_pool2d(input**norm_type, [height, width], [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (height * width)) ** (1 / norm_type)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    depth, height, width = [kernel_size] * 3 if isinstance(kernel_size, int) else kernel_size
    mean = _nn.avg_pool3d(input**norm_type, [depth, height, width], [] if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (depth * height * width)) ** (1 / norm_type)


def _sizes_of(input, output_size):
    if isinstance(output_size, int):
        return output_size
    if input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    return [input.shape[i - len(output_size)] if n is None else n for i, n in enumerate(output_size)]


def _adaptive(function):
    def pool(input, output_size):
        """None stands for the input's size."""
        return function(input, _sizes_of(input, output_size))

    pool.__name__ = pool.__qualname__ = function.__name__
    return pool


def _with_indices(pool):
    def pool_with_indices(*args, **kwargs):
        kwargs["return_indices"] = True
        return pool(*args, **kwargs)

    pool_with_indices.__name__ = pool_with_indices.__qualname__ = f"{pool.__name__}_with_indices"
    pool_with_indices.__doc__ = f"{pool.__name__}() with return_indices."
    return pool_with_indices


def _adaptive_max(function):
    def pool(input, output_size, return_indices=False):
        """The largest element of each window, with return_indices its place as well. None stands for the input's size."""
        both = function(input, _sizes_of(input, output_size))
        return both if return_indices else both[0]

    pool.__name__ = pool.__qualname__ = function.__name__
    return pool


adaptive_avg_pool2d = _adaptive(_nn.adaptive_avg_pool2d)
adaptive_avg_pool3d = _adaptive(_nn.adaptive_avg_pool3d)
adaptive_max_pool1d = _adaptive_max(tenon.adaptive_max_pool1d)
adaptive_max_pool2d = _adaptive_max(_nn.adaptive_max_pool2d)
adaptive_max_pool3d = _adaptive_max(_nn.adaptive_max_pool3d)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = _nn.max_pool2d_with_indices if return_indices else tenon.max_pool2d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = _nn.max_pool3d_with_indices if return_indices else tenon.max_pool3d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    stride = [] if stride is None else stride
    pool = tenon.max_pool1d_with_indices if return_indices else tenon.max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _fractional(dims):
    name = f"fractional_max_pool{dims}d"
    function = getattr(_nn, name)

    def pool(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        """The largest element of each window. The windows' places are random (Graham 2014), for each channel of its own.

        output_ratio: the result's size by the input's. _random_samples [N, C, dimensions]: from 0 to 1.
        """
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratios = [output_ratio] * dims if dims == 3 and isinstance(output_ratio, float) else output_ratio
            if len(ratios) > dims:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = [int(input.shape[i - dims] * ratios[i]) for i in range(dims)]
        if _random_samples is None:
            batch = 1 if input.dim() == dims + 1 else input.shape[0]
            _random_samples = tenon.rand(batch, input.shape[-dims - 1], dims, dtype=input.dtype, device=input.device)
        both = function(input, kernel_size, output_size, _random_samples)
        return both if return_indices else both[0]

    pool.__name__ = pool.__qualname__ = name
    return pool


fractional_max_pool2d = _fractional(2)
fractional_max_pool3d = _fractional(3)

adaptive_max_pool1d_with_indices = _with_indices(adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_indices(adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_indices(adaptive_max_pool3d)
fractional_max_pool2d_with_indices = _with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(fractional_max_pool3d)
max_pool1d_with_indices = _with_indices(max_pool1d)
max_pool2d_with_indices = _with_indices(max_pool2d)
max_pool3d_with_indices = _with_indices(max_pool3d)


def _numbers(value, dims):
    return [value] * dims if isinstance(value, int) else list(value)


def _unpooled_size(input, kernel_size, stride, padding, output_size):
    """The size asked for, which must be one that pooling leads to the input's from; by default the least."""
    dims = len(kernel_size)
    usual = [(n - 1) * s + k - 2 * p for n, s, k, p in zip(input.shape[-dims:], stride, kernel_size, padding)]
    if output_size is None:
        return usual
    size = list(output_size)
    if len(size) == dims + 2:
        size = size[2:]
    if len(size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(size)}'"
        )
    for i, (n, least, s) in enumerate(zip(size, usual, stride)):
        if not least - s < n < least + s:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {i} must be between {least - s} and {least + s})'
            )
    return size


def _window(kernel_size, stride, padding, dims):
    kernel = _numbers(kernel_size, dims)
    return kernel, kernel if stride is None else _numbers(stride, dims), _numbers(padding, dims)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The way back from max_pool1d() with return_indices: 0 but at the largest elements' places."""
    kernel, stride, padding = _window(kernel_size, stride, padding, 1)
    size = _unpooled_size(input, kernel, stride, padding, output_size)
    return _nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), [*size, 1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The way back from max_pool2d() with return_indices: 0 but at the largest elements' places."""
    kernel, stride, padding = _window(kernel_size, stride, padding, 2)
    return _nn.max_unpool2d(input, indices, _unpooled_size(input, kernel, stride, padding, output_size))


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """The way back from max_pool3d() with return_indices: 0 but at the largest elements' places."""
    kernel, stride, padding = _window(kernel_size, stride, padding, 3)
    size = _unpooled_size(input, kernel, stride, padding, output_size)
    return _nn.max_unpool3d(input, indices, size, stride, padding)
