"""Losses."""

import math
import warnings

import tenon
from tenon._C import _nn
from tenon.nn.functional.activation import logsigmoid
from tenon.nn.functional.distance import pairwise_distance

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name):
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS[name]


def _warn_of_sizes(input, target):
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _legacy(size_average, reduce, reduction)
    _warn_of_sizes(input, target)
    if weight is not None:
        return _weighted((input - target).square(), weight, reduction)
    return _nn.mse_loss(input, target, _reduction(reduction))


def _reduced(loss, reduction):
    if _reduction(reduction) == 0:
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _weighted(loss, weight, reduction):
    """The mean divides by the sum of the weights."""
    if weight is None:
        return _reduced(loss, reduction)
    weighted = loss * weight
    return weighted.sum() / weight.expand_as(loss).sum() if reduction == "mean" else _reduced(weighted, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    reduction = _legacy(size_average, reduce, reduction)
    _warn_of_sizes(input, target)
    if weight is not None:
        return _weighted((input - target).abs(), weight, reduction)
    return _nn.l1_loss(input, target, _reduction(reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    _warn_of_sizes(input, target)
    return _nn.smooth_l1_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    _warn_of_sizes(input, target)
    if weight is not None:
        return _reduced(_nn.huber_loss(input, target, 0, delta) * weight, reduction)
    return _nn.huber_loss(input, target, _reduction(reduction), delta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(target log(input) + (1 - target) log(1 - input)), the logarithms at least -100."""
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )
    return _nn.binary_cross_entropy(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)))


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """`reduction` "batchmean": the sum divided by the batch's size, which is what the divergence is."""
    reduction = _legacy(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides only by "
            "the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    if reduction != "batchmean":
        return tenon.kl_div(input, target, _reduction(reduction), log_target=log_target)
    loss = tenon.kl_div(input, target, _reduction("sum"), log_target=log_target)
    return loss / input.shape[0] if input.dim() else loss


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if reduction not in _REDUCTIONS:
        raise ValueError(f"{reduction} is not valid")
    if not isinstance(var, tenon.Tensor):
        var = input.new_full(input.shape, var)
    elif var.shape != input.shape:
        if var.dim() == input.dim() - 1 and input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not (var.dim() == input.dim() and input.shape[:-1] == var.shape[:-1] and var.shape[-1] == 1):
            raise ValueError("var is of incorrect size")
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    var = var.detach().clamp_min(eps) + (var - var.detach())  # its gradient as if it were not clamped
    loss = 0.5 * (var.log() + (input - target).square() / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return tenon.hinge_embedding_loss(input, target, margin, _reduction(_legacy(size_average, reduce, reduction)))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape}"
        )
    return tenon.margin_ranking_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _nn.soft_margin_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _nn.multi_margin_loss(input, target, p, margin, weight, _reduction(_legacy(size_average, reduce, reduction)))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes of max(0, 1 - x_y + x_i), summed over the row's classes y, which end at a -1, and all others i."""
    return _nn.multilabel_margin_loss(input, target, _reduction(_legacy(size_average, reduce, reduction)))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """-log of the probability that log_probs, [T, N, C] or [T, C] log-softmaxed, spells targets: Graves et al. (2006).

    targets [N, S], or all one after the other. The mean is of the losses divided by the lengths of their targets.
    """
    return tenon.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity
    )


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the classes of the cross-entropies of yes and no."""
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = (loss if weight is None else loss * weight).mean(-1)
    return loss if reduction == 0 else loss.mean() if reduction == 1 else loss.sum()


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return tenon.cosine_embedding_loss(input1, input2, target, margin, reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            f"[triplet_margin_loss] The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    return tenon.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d the distance function: pairwise_distance() by default.

    swap: the lesser of the distances of the negative example from the anchor and from the positive one.
    """
    number = _reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = tenon.minimum(far, distance(positive, negative))
    loss = tenon.clamp_min(margin + near - far, 0)
    return loss if number == 0 else loss.mean() if number == 1 else loss.sum()


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _nn.nll_loss_nd(input, target, weight, _reduction(_legacy(size_average, reduce, reduction)), ignore_index)


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    reduction = _reduction(_legacy(size_average, reduce, reduction))
    return _nn.cross_entropy_loss(input, target, weight, reduction, ignore_index, label_smoothing)


def _legacy(size_average, reduce, reduction):
    """The reduction that PyTorch's two older arguments mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is not None and not reduce:
        reduction = "none"
    else:
        reduction = "mean" if size_average is None or size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=3
    )
    return reduction
