"""Losses."""

import math

from tenon.nn import functional as F
from tenon.nn.functional.loss import _legacy
from tenon.nn.modules.layers import Linear
from tenon.nn.modules.module import Module


class _Loss(Module):
    """A function of tenon.nn.functional with keyword arguments that it keeps."""

    function: staticmethod

    def __init__(self, size_average=None, reduce=None, reduction="mean", **options):
        super().__init__()
        self.reduction = _legacy(size_average, reduce, reduction)
        self._options = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def forward(self, *args):
        options = {name: getattr(self, name) for name in self._options}
        return type(self).function(*args, **options, reduction=self.reduction)


class MSELoss(_Loss):
    function = staticmethod(F.mse_loss)

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)


class L1Loss(_Loss):
    function = staticmethod(F.l1_loss)

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)


class SmoothL1Loss(_Loss):
    function = staticmethod(F.smooth_l1_loss)

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction, beta=beta)


class HuberLoss(_Loss):
    function = staticmethod(F.huber_loss)

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction, delta=delta)


class KLDivLoss(_Loss):
    function = staticmethod(F.kl_div)

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction, log_target=log_target)


class PoissonNLLLoss(_Loss):
    function = staticmethod(F.poisson_nll_loss)

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction, log_input=log_input, full=full, eps=eps)


class GaussianNLLLoss(_Loss):
    function = staticmethod(F.gaussian_nll_loss)

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(reduction=reduction, full=full, eps=eps)


class HingeEmbeddingLoss(_Loss):
    function = staticmethod(F.hinge_embedding_loss)

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction, margin=margin)


class MarginRankingLoss(_Loss):
    function = staticmethod(F.margin_ranking_loss)

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction, margin=margin)


class SoftMarginLoss(_Loss):
    function = staticmethod(F.soft_margin_loss)

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)


class CosineEmbeddingLoss(_Loss):
    function = staticmethod(F.cosine_embedding_loss)

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction, margin=margin)


class TripletMarginLoss(_Loss):
    function = staticmethod(F.triplet_margin_loss)

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction, margin=margin, p=p, eps=eps, swap=swap)


class _Weighted(_Loss):
    """With a weight, which is a buffer."""

    def __init__(self, weight, size_average, reduce, reduction, **options):
        super().__init__(size_average, reduce, reduction, **options)
        self.register_buffer("weight", weight)
        self._options = ("weight", *self._options)


class BCELoss(_Weighted):
    function = staticmethod(F.binary_cross_entropy)

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)


class BCEWithLogitsLoss(_Weighted):
    function = staticmethod(F.binary_cross_entropy_with_logits)

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)
        self._options += ("pos_weight",)


class NLLLoss(_Weighted):
    function = staticmethod(F.nll_loss)

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction, ignore_index=ignore_index)


class CrossEntropyLoss(_Weighted):
    function = staticmethod(F.cross_entropy)

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
    ):
        super().__init__(
            weight, size_average, reduce, reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )


class MultiLabelMarginLoss(_Loss):
    function = staticmethod(F.multilabel_margin_loss)

    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)


class CTCLoss(_Loss):
    function = staticmethod(F.ctc_loss)

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction, blank=blank, zero_infinity=zero_infinity)


class LinearCrossEntropyLoss(_Weighted):
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
        super().__init__(
            weight, None, None, reduction, ignore_index=ignore_index, label_smoothing=label_smoothing, options=options
        )
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
