"""Bases of pooling layers."""

from tenon.as_torch.extra.nn.modules import bases


def _of_each_dim(name):
    return tuple(f"{name}{dim}d" for dim in (1, 2, 3))


bases(
    globals(),
    _MaxPoolNd=_of_each_dim("MaxPool"),
    _AdaptiveAvgPoolNd=_of_each_dim("AdaptiveAvgPool"),
    _AdaptiveMaxPoolNd=_of_each_dim("AdaptiveMaxPool"),
    _MaxUnpoolNd=_of_each_dim("MaxUnpool"),
)
