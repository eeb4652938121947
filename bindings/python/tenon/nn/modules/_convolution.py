"""What convolutions do beside the operator: checks, padding of other kinds than zeros, the size of a transposed one's result."""

from tenon.nn import functional as F

_MODES = ("zeros", "reflect", "replicate", "circular")


def _check_channels(self):
    if self.groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name in ("in_channels", "out_channels"):
        if getattr(self, name) % self.groups:
            raise ValueError(f"{name} must be divisible by groups")


def check_conv(self):
    _check_channels(self)
    if self.padding_mode not in _MODES:
        raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode={self.padding_mode!r}")
    if isinstance(self.padding, str) and self.padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {{'same', 'valid'}}")
    if self.padding == "same" and any(s != 1 for s in self.stride):
        raise ValueError("padding='same' is not supported for strided convolutions")


def check_conv_transpose(self):
    if self.padding_mode != "zeros":
        raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
    _check_channels(self)


def conv_weight_size(self):
    return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)


def conv_transpose_weight_size(self):
    return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)


def conv_forward(self, input):
    return self._conv_forward(input, self.weight, self.bias)


def pads_of(self):
    """What pad() takes for the padding: before and after, the last dimension first."""
    if isinstance(self.padding, tuple):
        return [p for p in reversed(self.padding) for _ in range(2)]
    totals = [d * (k - 1) if self.padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
    return [p for total in reversed(totals) for p in (total // 2, total - total // 2)]


def output_padding_of(self, input, output_size):
    """What makes the result as large as asked for: of the sizes that this convolution leads to one input from."""
    if output_size is None:
        return self.output_padding
    output_size, dims = tuple(output_size), len(self.kernel_size)
    if len(output_size) == input.dim():
        output_size = output_size[-dims:]
    if len(output_size) != dims:
        raise ValueError(
            f"{type(self).__name__}: for {input.dim()}D input, output_size must have {dims} or {input.dim()} elements "
            f"(got {len(output_size)})"
        )
    least = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1
        for n, s, p, d, k in zip(input.shape[-dims:], self.stride, self.padding, self.dilation, self.kernel_size)
    ]
    if any(not low <= size < low + s for size, low, s in zip(output_size, least, self.stride)):
        raise ValueError(
            f"requested an output size of {output_size}, but valid sizes range from {least} to "
            f"{[low + s - 1 for low, s in zip(least, self.stride)]} (for an input of {tuple(input.shape[2:])})"
        )
    return tuple(size - low for size, low in zip(output_size, least))


def conv_transpose_forward(self, input, output_size=None):
    convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[len(self.kernel_size) - 1]
    more = output_padding_of(self, input, output_size)
    return convolve(input, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)
