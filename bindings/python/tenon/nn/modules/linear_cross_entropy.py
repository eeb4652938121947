"""A loss with a linear layer of its own."""

import math

from tenon.nn import functional as F
from tenon.nn.modules._bases import _WeightedLoss
from tenon.nn.modules.linear import Linear


class LinearCrossEntropyLoss(_WeightedLoss):
    """F.linear_cross_entropy() with a Linear of its own, to num_classes or, with out_features, as many for each of these."""

    def __init__(
        self,
        in_features,
        num_classes,
        *,
        out_features=(),
        bias=False,
        device=None,
        dtype=None,
        reduction="mean",
        weight=None,
        ignore_index=None,
        label_smoothing=0.0,
        options=None,
    ):
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.num_classes, self.out_features = num_classes, out_features
        self.linear = Linear(
            in_features, math.prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype
        )

    def forward(self, input, target):
        sizes = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*sizes, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(sizes),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self):
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
