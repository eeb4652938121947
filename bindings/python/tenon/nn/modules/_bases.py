"""Bases of generated modules, by which programs ask what kind a module is: isinstance(m, _MaxPoolNd)."""

from tenon.nn import functional as F
from tenon.nn.modules._convolution import pads_of
from tenon.nn.modules._helpers import reduction_of
from tenon.nn.modules.module import Module


class _AnyArguments(Module):
    """Its constructor ignores any arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()


class _AdaptiveAvgPoolNd(Module):
    pass


class _AdaptiveMaxPoolNd(Module):
    pass


class _AvgPoolNd(Module):
    pass


class _CircularPadNd(Module):
    pass


class _ConstantPadNd(Module):
    pass


class _ConvNd(Module):
    transposed = False

    @property
    def output_padding(self):
        return (0,) * len(self.kernel_size)

    def _conv_forward(self, input, weight, bias):
        """The convolution with another weight and bias: programs call and override it."""
        convolve, padding = (F.conv1d, F.conv2d, F.conv3d)[len(self.kernel_size) - 1], self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, pads_of(self), self.padding_mode), 0
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class _ConvTransposeNd(_ConvNd):
    transposed = True
    output_padding = None  # set in __init__


class _DropoutNd(Module):
    pass


class _LPPoolNd(Module):
    pass


class _MaxPoolNd(Module):
    pass


class _MaxUnpoolNd(Module):
    pass


class _ReflectionPadNd(Module):
    pass


class _ReplicationPadNd(Module):
    pass


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
