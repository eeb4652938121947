"""Bases of generated modules, by which programs ask what kind a module is: isinstance(m, _MaxPoolNd)."""

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


class _DropoutNd(Module):
    pass


class _MaxPoolNd(Module):
    pass


class _MaxUnpoolNd(Module):
    pass


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
