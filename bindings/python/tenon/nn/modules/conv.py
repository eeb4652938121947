"""Convolutions and transposed ones."""

import math

from tenon.nn import functional as F, init
from tenon.nn.modules.module import Module
from tenon.nn.parameter import options_of, parameter

_MODES = ("zeros", "reflect", "replicate", "circular")


class _Conv(Module):
    dims: int
    transposed = False
    output_padding: tuple

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode={padding_mode!r}")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        options, spread = (
            options_of(device, dtype),
            lambda v: tuple(v) if isinstance(v, (tuple, list)) else (v,) * self.dims,
        )
        self.in_channels, self.out_channels, self.groups, self.padding_mode = (
            in_channels,
            out_channels,
            groups,
            padding_mode,
        )
        self.kernel_size, self.stride, self.dilation = spread(kernel_size), spread(stride), spread(dilation)
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        self.padding = padding if isinstance(padding, str) else spread(padding)
        self.output_padding = (0,) * self.dims
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = parameter((first, second // groups, *self.kernel_size), options)
        self.register_parameter("bias", parameter((out_channels,), options) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _pads(self):
        """What pad() takes for the padding: before and after, the last dimension first."""
        if isinstance(self.padding, tuple):
            return [p for p in reversed(self.padding) for _ in range(2)]
        totals = [d * (k - 1) if self.padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size)]
        return [p for total in reversed(totals) for p in (total // 2, total - total // 2)]

    def forward(self, input):
        convolve, padding = (F.conv1d, F.conv2d, F.conv3d)[self.dims - 1], self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._pads(), self.padding_mode), 0
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        text += ", bias=False" if self.bias is None else ""
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class Conv1d(_Conv):
    dims = 1


class Conv2d(_Conv):
    dims = 2


class Conv3d(_Conv):
    dims = 3


class _ConvTranspose(_Conv):
    """The gradient of a convolution by its input: weight [in_channels, out_channels / groups, ...]."""

    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype
        )
        self.output_padding = (
            tuple(output_padding) if isinstance(output_padding, (tuple, list)) else (output_padding,) * self.dims
        )

    def _output_padding(self, input, output_size):
        """What makes the result as large as asked for: of the sizes that this convolution leads to one input from."""
        if output_size is None:
            return self.output_padding
        output_size = tuple(output_size)
        if len(output_size) == input.dim():
            output_size = output_size[-self.dims :]
        if len(output_size) != self.dims:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {self.dims} or {input.dim()} elements "
                f"(got {len(output_size)})"
            )
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(
                input.shape[-self.dims :], self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        if any(not low <= size < low + s for size, low, s in zip(output_size, least, self.stride)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to "
                f"{[low + s - 1 for low, s in zip(least, self.stride)]} (for an input of {tuple(input.shape[2:])})"
            )
        return tuple(size - low for size, low in zip(output_size, least))

    def forward(self, input, output_size=None):
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.dims - 1]
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self._output_padding(input, output_size),
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTranspose):
    dims = 1


class ConvTranspose2d(_ConvTranspose):
    dims = 2


class ConvTranspose3d(_ConvTranspose):
    dims = 3
