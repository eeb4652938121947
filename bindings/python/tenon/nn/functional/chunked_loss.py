"""The cross-entropy of a linear map, whole or by parts of the batch."""

import dataclasses
import math
import warnings

import tenon
from tenon.autograd.function import Function, once_differentiable
from tenon.nn.functional.linear import linear
from tenon.nn.functional.loss import cross_entropy

__all__ = [
    "linear_cross_entropy",
]

_HALF = (tenon.float16, tenon.bfloat16)


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How linear_cross_entropy() takes a batch apart, so that the logits of all of it are never in memory.

    allow_retain_graph: the gradients of a mean or sum are kept after backward, which may be called again.
    batch_chunk_size: rows at a time; all without it, and without a chunking_method.
    chunking_method: "auto" and "aspect_ratio" take as many rows as make the logits as large as the input; "aspect_ratio:N" an N-th.
    acc_policy: "auto", "accurate" or "compact"; on the CPU all compute in acc_dtype.
    acc_dtype: of half types float32 by default.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: "tenon.dtype | None" = None

    def __post_init__(self):
        policies = ("auto", "accurate", "compact")
        if self.acc_policy not in policies:
            raise ValueError(
                f"invalid acc_policy: {self.acc_policy!r}; expected one of {', '.join(map(repr, policies))}"
            )
        if self.chunking_method not in (None, "auto"):
            name, colon, factor = self.chunking_method.partition(":")
            if name != "aspect_ratio" or colon and not (factor.isdigit() and int(factor)):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, *_HALF, tenon.float32, tenon.float64):
            raise ValueError(
                "acc_dtype must be one of {None, float16, bfloat16, float32, float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )

    def _rows(self, batch, features, classes):
        """Rows at a time."""
        method = self.chunking_method
        if method == "auto":
            method = "aspect_ratio" if self.batch_chunk_size is None else None
        rows = batch if self.batch_chunk_size is None else min(self.batch_chunk_size, batch)
        if method is not None:
            target = math.ceil(batch / math.ceil(classes / max(features, 1)))
            factor = int(method.partition(":")[2] or 1)
            found = min((1 << max(target - 1, 0).bit_length()) // factor, batch)
            if self.batch_chunk_size is not None and found != self.batch_chunk_size:
                raise ValueError(
                    f"batch_chunk_size={self.batch_chunk_size} and chunking_method={self.chunking_method!r}, which is "
                    f"{found}, do not agree"
                )
            rows = found
        return max(rows, 1)

    def _dtype(self, dtype):
        return self.acc_dtype or (tenon.float32 if dtype in _HALF else dtype)


class _Chunked(Function):
    """The loss of rows [N, F], and its gradients, by parts of `rows` rows.

    Those of a mean or sum are computed in forward, where the logits are there; those of each loss in backward, which has their
    gradients.
    """

    @staticmethod
    def forward(ctx, input, linear_weight, linear_bias, target, weight, reduction, ignore_index, rows, dtype, keep):
        ctx.call = (input.detach(), linear_weight.detach(), None if linear_bias is None else linear_bias.detach())
        ctx.options = (target, weight, ignore_index, rows, dtype)
        ctx.keep, ctx.each = keep, reduction == "none"
        scale = tenon.ones(input.shape[0], dtype=dtype, device=input.device)
        if reduction == "mean":
            count = scale.sum()
            if not target.is_floating_point():
                count = _class_weights(target, weight, ignore_index, linear_weight.shape[0], dtype).sum()
            scale = scale / tenon.where(count == 0, math.nan, count)
        ctx.needs = tuple(ctx.needs_input_grad[:3])
        losses, ctx.grads = _chunks(*ctx.call, *ctx.options, scale, (False,) * 3 if ctx.each else ctx.needs)
        if reduction == "mean" and not input.shape[0]:
            return input.new_full((), math.nan)
        return (losses if ctx.each else losses.sum()).to(input.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        if ctx.each:
            grads = _chunks(*ctx.call, *ctx.options, grad.to(ctx.options[-1]), ctx.needs)[1]
        elif ctx.grads is None:
            raise RuntimeError(
                "linear_cross_entropy: a second backward needs LinearCrossEntropyOptions(allow_retain_graph=True)"
            )
        else:
            grads = [None if g is None else g * grad.to(g.dtype) for g in ctx.grads]
            if not ctx.keep:
                ctx.grads = None
        return *(None if g is None else g.to(ctx.call[0].dtype) for g in grads), *(None,) * 7


def _class_weights(target, weight, ignore_index, classes, dtype):
    """The weight of each row's class, 0 where it is ignored."""
    ignored = target == ignore_index
    found = (~ignored).to(dtype)
    return found if weight is None else found * weight.to(dtype)[target.masked_fill(ignored, 0)]


def _chunks(input, linear_weight, linear_bias, target, weight, ignore_index, rows, dtype, scale, needs):
    """The losses of all rows, times `scale`, and the gradients of their sum that are needed."""
    batch, classes = input.shape[0], linear_weight.shape[0]
    matrix = linear_weight.to(dtype)
    losses = input.new_empty(batch, dtype=dtype)
    grads = [
        input.new_zeros(t.shape, dtype=dtype) if need else None
        for t, need in zip((input, linear_weight, linear_bias), needs)
    ]
    for start in range(0, batch, rows):
        part = slice(start, min(start + rows, batch))
        x, labels, factor = input[part].to(dtype), target[part], scale[part]
        logits = linear(x, matrix, None if linear_bias is None else linear_bias.to(dtype))
        log_probs = logits.log_softmax(1)
        if target.is_floating_point():
            wanted = labels.to(dtype) if weight is None else labels.to(dtype) * weight.to(dtype)
            mass = wanted.sum(1)
            losses[part] = -(wanted * log_probs).sum(1) * factor
            wanted = wanted * factor.unsqueeze(1) if any(needs) else wanted
        else:
            mass = _class_weights(labels, weight, ignore_index, classes, dtype)
            labels = labels.masked_fill(labels == ignore_index, 0).unsqueeze(1)
            losses[part] = -log_probs.gather(1, labels).squeeze(1) * mass * factor
        if not any(needs):
            continue
        # softmax times the row's weight, less what is wanted
        grad = log_probs.exp_().mul_((mass * factor).unsqueeze(1))
        if target.is_floating_point():
            grad.sub_(wanted)
        else:
            grad.scatter_add_(1, labels, -(mass * factor).unsqueeze(1))
        if needs[0]:
            grads[0][part] = grad @ matrix
        if needs[1]:
            grads[1].addmm_(grad.t(), x)
        if needs[2]:
            grads[2].add_(grad.sum(0))
    return losses, grads


def _takes_chunks(input, linear_weight, target, reduction, label_smoothing):
    """Whether it can be computed by parts; a warning says where it cannot."""
    found = target.dtype == tenon.int64
    if target.shape == (*input.shape[:-1], linear_weight.shape[0]) and target.dtype == input.dtype:
        found = not (target.requires_grad and tenon.is_grad_enabled())
    found = found and reduction in ("mean", "sum", "none") and label_smoothing == 0 and linear_weight.dim() == 2
    if not found:
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            "label_smoothing == 0, target.dtype == int64 (or a probability target with dtype matching input and "
            f"requires_grad == False), out_features == (). Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
            f"target.dtype={target.dtype}, out_features={tuple(linear_weight.shape[1:-1])}, "
            f"target.requires_grad={target.requires_grad}.",
            stacklevel=3,
        )
    return found


def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """cross_entropy() of linear(input, linear_weight, linear_bias), input [N, F] or [F], linear_weight [C, ..., F].

    Further dimensions of linear_weight are those of the loss, whose logits are [N, C, ...]. options: by parts of the batch, whose
    gradients have no gradients.
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    features = linear_weight.shape[-1]
    if input.shape[-1] != features:
        raise RuntimeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {input.shape[-1]} and {features}, "
            "respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input.shape)}"
        )
    logits_shape = (*input.shape[:-1], *outputs)
    if tuple(target.shape) == logits_shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignore_index = -100 if ignore_index is None else ignore_index
    # Under vmap the batch is computed at once: gradients that forward keeps would be those of a level that has ended.
    if (
        options is not None
        and not tenon._C._func.current_level()
        and _takes_chunks(input, linear_weight, target, reduction, label_smoothing)
    ):
        whole, labels = (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.unsqueeze(0))
        loss = _Chunked.apply(
            whole,
            linear_weight,
            linear_bias,
            labels,
            weight,
            reduction,
            ignore_index,
            options._rows(whole.shape[0], features, outputs[0]),
            options._dtype(input.dtype),
            options.allow_retain_graph,
        )
        return loss.squeeze(0) if input.dim() == 1 and reduction == "none" else loss
    rows = math.prod(outputs)
    logits = linear(
        input, linear_weight.reshape(rows, features), None if linear_bias is None else linear_bias.reshape(rows)
    )
    return cross_entropy(
        logits.reshape(logits_shape),
        target,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
