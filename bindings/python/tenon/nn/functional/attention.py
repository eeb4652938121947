"""Attention."""

import math

import tenon
from tenon._C import _nn
from tenon.nn.functional.dropout import dropout
from tenon.nn.functional.linear import linear
from tenon.nn.functional.sampling import pad

__all__ = [
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
]

scaled_dot_product_attention = _nn.scaled_dot_product_attention


def _check_masks(query, key, value, key_padding_mask, attn_mask, num_heads):
    """AssertionErrors and RuntimeErrors as PyTorch raises them, for query [L, N, E] or [L, E]."""
    if query.dim() not in (2, 3) or key.dim() != query.dim() or value.dim() != query.dim():
        raise AssertionError(
            f"query, key and value should all be 2D or all 3D, got {query.dim()}D, {key.dim()}D and {value.dim()}D"
        )
    batched = query.dim() == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    length, keys, batch = query.shape[0], key.shape[0], query.shape[1] if batched else 1
    for name, mask in (("key_padding_mask", key_padding_mask), ("attn_mask", attn_mask)):
        if mask is None:
            continue
        dims = (2, 3) if name == "attn_mask" else (query.dim() - 1,)
        if mask.dim() not in dims:
            expected = "`None`, 2-D or 3-D" if name == "attn_mask" else f"`None` or {dims[0]}-D"
            raise AssertionError(
                f"For {kind} `query`, expected `{name}` to be {expected} but found {mask.dim()}-D tensor instead"
            )
        if mask.dtype != tenon.bool and not mask.is_floating_point():
            raise AssertionError(f"only bool and floating types of {name} are supported")
    if attn_mask is not None:
        expected = (length, keys) if attn_mask.dim() == 2 else (batch * num_heads, length, keys)
        if tuple(attn_mask.shape) != expected:
            raise RuntimeError(
                f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {expected}."
            )
    if key_padding_mask is not None:
        for i, (have, want) in enumerate(
            zip(key_padding_mask.shape, (batch, keys) if batched else (keys,)), 0 if batched else 1
        ):
            if have != want:
                raise AssertionError(f"Expected key_padded_mask.shape[{i}] to be {want}, but got {have}")


def _one_mask(query, key_padding_mask, attn_mask, num_heads, added):
    """Both masks as one that is added, [N or 1, heads or 1, L or 1, S + added]: everybody sees the added keys."""
    found = None
    for name, mask in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
        if mask is None:
            continue
        if mask.dtype == tenon.bool:
            mask = tenon.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(mask, -math.inf)
        if name == "key_padding_mask":
            mask = mask.unsqueeze(-2).unsqueeze(-2)
        elif mask.dim() == 3:
            mask = mask.unflatten(0, (-1, num_heads))
        found = mask if found is None else found + mask
    return found if found is None or not added else pad(found, (0, added))


def _weights_and_biases(in_proj_weight, in_proj_bias, separate, q_proj_weight, k_proj_weight, v_proj_weight):
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if separate else in_proj_weight.chunk(3)
    return weights, (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """nn.MultiheadAttention with its parameters as arguments: query [L, N, E], key and value [S, N, ...], or without N.

    Returns the result, of the query's sizes, and the weights [N, L, S], averaged over the heads, or None without need_weights.
    Of boolean masks, what is true is left out; others are added. static_k and static_v [N * num_heads, S, E / num_heads] stand
    for projected keys and values. is_causal says that attn_mask is the causal one.
    """
    _check_masks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if is_causal and attn_mask is None:
        raise RuntimeError("[multi_head_attention_forward] Need attn_mask if specifying the is_causal hint.")
    embed_dim = query.shape[-1]
    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    if embed_dim % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight and key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:-1]} do not match value's {value.shape[:-1]}")
    if not use_separate_proj_weight and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must both be given or neither")
    for bias, static, name in ((bias_k, static_k, "key"), (bias_v, static_v, "value")):
        if bias is not None and static is not None:
            raise AssertionError(f"bias cannot be added to static {name}.")
    batched = query.dim() == 3
    if batched:
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    else:
        query, key, value = (x.unsqueeze(0) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)

    # [N, L, E] to [N, heads, L, E / heads]
    weights, biases = _weights_and_biases(
        in_proj_weight, in_proj_bias, use_separate_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight
    )
    heads = []
    statics = (None, static_k, static_v)
    for x, w, b, extra, static in zip((query, key, value), weights, biases, (None, bias_k, bias_v), statics):
        if static is not None:
            expected = (query.shape[0] * num_heads, embed_dim // num_heads)
            if (static.shape[0], static.shape[2]) != expected:
                raise AssertionError(
                    f"expecting static keys and values of {expected[0]} heads of size {expected[1]}, got {static.shape}"
                )
            x = static.unflatten(0, (-1, num_heads))
        else:
            x = linear(x, w, b)
            if extra is not None:
                x = tenon.cat([x, extra.expand(x.shape[0], 1, -1)], 1)
            x = x.unflatten(-1, (num_heads, embed_dim // num_heads)).transpose(1, 2)
        if add_zero_attn and heads:
            x = tenon.cat([x, x.new_zeros(x.shape[0], num_heads, 1, x.shape[3])], 2)
        heads.append(x)
    q, k, v = heads

    dropout_p = dropout_p if training else 0.0
    causal = is_causal and key_padding_mask is None and not need_weights
    added = (bias_k is not None) + add_zero_attn
    mask = None if causal else _one_mask(query, key_padding_mask, attn_mask, num_heads, added)
    shown = None
    if need_weights:
        left, right = (q * math.sqrt(1.0 / q.shape[-1])).flatten(0, 1), k.transpose(-2, -1).flatten(0, 1)
        if mask is None:
            scores = tenon.bmm(left, right)
        else:  # added before the product is rounded
            sizes = (*q.shape[:3], k.shape[2])
            scores = tenon.baddbmm(mask.expand(sizes).flatten(0, 1), left, right)
        shown = dropout(scores.softmax(-1), dropout_p).unflatten(0, (-1, num_heads))
        attended = shown @ v
        shown = shown.mean(1) if average_attn_weights else shown
    else:
        attended = scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    result = linear(attended.permute(2, 0, 1, 3).flatten(-2), out_proj_weight, out_proj_bias)
    if not batched:
        return result.squeeze(1), None if shown is None else shown.squeeze(0)
    return result, shown
