"""Rows of tables."""

import warnings

import tenon
from tenon._C import _nn

__all__ = [
    "embedding",
    "embedding_bag",
    "one_hot",
]

one_hot = _nn.one_hot


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    if padding_idx is None:
        padding_idx = -1
    elif not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        padding_idx += weight.shape[0]
    return tenon.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The sum, mean or largest elements of the rows of each bag: a row of input [B, L], or input[offsets[i]:offsets[i + 1]] of [N]. Rows
    of padding_idx do not count; a bag without rows gives 0. per_sample_weights, of "sum": what each row is multiplied by."""
    if weight.dtype in (tenon.int64, tenon.int32) and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and "
            "should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape as "
            f"the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    for name, tensor in (("indices", input), ("offsets", offsets)):
        if tensor is not None and tensor.dtype not in (tenon.int32, tenon.int64):
            raise RuntimeError(
                f"[embedding_bag] Expected {name} to have one of the following scalar types: Long, Int; but got {tensor.dtype} "
                "instead"
            )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            f"[embedding_bag] Expected weight to have the same type as per_sample_weights; but got {weight.dtype} and "
            f"{per_sample_weights.dtype}"
        )
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-weight.shape[0]} through {weight.shape[0] - 1}, but got "
            f"{padding_idx}"
        )
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode='{mode}')"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                f"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        starts = [i * input.shape[1] for i in range(input.shape[0] + 1)]
    elif input.dim() == 1:
        if offsets is None or offsets.dim() != 1:
            raise ValueError(
                f"offsets has to be a 1D Tensor but got {None if offsets is None else f'{offsets.dim()}D'}"
            )
        starts = offsets.tolist() if include_last_offset else [*offsets.tolist(), input.numel()]
        if starts and starts[0] != 0:
            raise RuntimeError(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
                f"got {starts[0]}"
            )
        if any(a > b for a, b in zip(starts, starts[1:])) or starts and starts[-1] > input.numel():
            raise RuntimeError(f"offsets must not descend nor pass input's length {input.numel()}, got {starts}")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    indices, bags = input.reshape(-1)[: starts[-1] if starts else 0], max(len(starts) - 1, 0)
    outside = tenon.logical_or(indices < 0, indices >= weight.shape[0]).nonzero()
    if outside.shape[0] and max_norm is None:
        place = int(outside[0, 0])
        raise RuntimeError(
            f"[embedding_bag] Expected idx >= 0 && idx < num_embeddings but found idx to be {int(indices[place])}. Index {place} of "
            f"input takes value {int(indices[place])} which is not in the valid range [0, {weight.shape[0]})"
        )
    plain = padding_idx is None and per_sample_weights is None and not scale_grad_by_freq and not sparse and bags
    if plain and mode != "max":
        if max_norm is not None:
            _renormalize(weight, indices, max_norm, norm_type)
        return tenon._C._embedding_bags(
            weight, indices, tenon.tensor(starts, dtype=tenon.int64, device=input.device), mode == "mean"
        )
    rows = embedding(indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    sizes = [b - a for a, b in zip(starts, starts[1:])]
    bag = tenon.arange(bags, device=input.device).repeat_interleave(
        tenon.tensor(sizes, dtype=tenon.int64, device=input.device)
    )
    if padding_idx is not None:
        counts = indices != (padding_idx if padding_idx >= 0 else weight.shape[0] + padding_idx)
        places = counts.nonzero().reshape(-1)
        rows, bag = rows.index_select(0, places), bag.index_select(0, places)
    # Half types are sums of floats, rounded once.
    wide = rows.float() if rows.dtype in (tenon.float16, tenon.bfloat16) else rows
    if mode != "max":
        result = wide.new_zeros((bags, rows.shape[1])).index_add(0, bag, wide)
        if mode == "mean":
            members = wide.new_zeros(bags).index_add(0, bag, wide.new_ones(bag.shape))
            result = result / members.clamp(min=1).unsqueeze(1)
        return result.to(rows.dtype)
    parts = rows.split([bag.eq(i).sum().item() for i in range(bags)])
    # The sum of no rows is 0, and is differentiable as the others are.
    return tenon.stack([part.max(0)[0] if part.shape[0] else part.sum(0) for part in parts])


def _renormalize(weight, indices, max_norm, norm_type):
    """Shrinks, in place, the rows that are looked up and whose norm is larger than max_norm."""
    with tenon.no_grad():
        weight = weight.detach()  # without its tangent
        indices = indices.reshape(-1)
        rows = weight[indices]
        norms = rows.norm(norm_type, 1, True)
        # 1e-7 as PyTorch has it: a norm that is rounded up does not stay above.
        factors = (max_norm / (norms.double() + 1e-7)).to(rows.dtype)
        weight[indices] = rows * tenon.where(norms > max_norm, factors, 1)
