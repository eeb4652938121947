"""Attention, and the layers of encoders that are made of it: Vaswani et al. (2017)."""

import copy
import math

import tenon
from tenon.nn import functional as F
from tenon.nn import init
from tenon.nn.modules.container import ModuleList
from tenon.nn.modules.layers import Dropout, Linear
from tenon.nn.modules.module import Module
from tenon.nn.modules.normalization import LayerNorm
from tenon.nn.parameter import options_of, parameter


class MultiheadAttention(Module):
    """embed_dim features in num_heads parts, each of which looks for itself.

    query [L, N, E], key [S, N, kdim], value [S, N, vdim], with batch_first N before L and S, or without N. Returns the result, of the
    query's sizes, and the weights [N, L, S], averaged over the heads, or None without need_weights. Of boolean masks, what is true is
    left out; others are added."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
                 batch_first=False, device=None, dtype=None):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if add_bias_kv or add_zero_attn:
            raise NotImplementedError("MultiheadAttention: add_bias_kv and add_zero_attn")
        options = options_of(device, dtype)
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.head_dim = kdim or embed_dim, vdim or embed_dim, embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        weights = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        if not self._qkv_same_embed_dim:
            weights = {"q_proj_weight": (embed_dim, embed_dim), "k_proj_weight": (embed_dim, self.kdim),
                       "v_proj_weight": (embed_dim, self.vdim)}
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            self.register_parameter(name, parameter(weights[name], options) if name in weights else None)
        self.register_parameter("in_proj_bias", parameter((3 * embed_dim,), options) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **options)
        for name in weights:
            init.xavier_uniform_(getattr(self, name))
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)

    def _projected(self, query, key, value):
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        parts = (F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))
        return (x.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2) for x in parts)

    def _mask(self, query, key_padding_mask, attn_mask):
        """Both masks as one that is added: [N or 1, heads or 1, L, S]."""
        found = None
        for name, mask in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
            if mask is None:
                continue
            if mask.dtype == tenon.bool:
                mask = tenon.zeros(mask.shape, dtype=query.dtype, device=query.device).masked_fill(mask, -math.inf)
            elif not mask.is_floating_point():
                raise RuntimeError(f"[MultiheadAttention] only bool and floating types of {name} are supported, got {mask.dtype}")
            if name == "key_padding_mask":
                mask = mask.unsqueeze(-2).unsqueeze(-2)
            elif mask.dim() == 3:
                mask = mask.unflatten(0, (-1, self.num_heads))
            found = mask if found is None else found + mask
        return found

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False):
        if is_causal and attn_mask is None:
            raise RuntimeError("[MultiheadAttention] Need attn_mask if specifying the is_causal hint.")
        batched = query.dim() == 3
        if query.dim() not in (2, 3) or key.dim() != query.dim() or value.dim() != query.dim():
            raise AssertionError(f"query, key and value should all be 2D or all 3D, got {query.dim()}D, {key.dim()}D and {value.dim()}D")
        if not batched:
            query, key, value = (x.unsqueeze(0) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        mask = self._mask(query, key_padding_mask, attn_mask)
        q, k, v = self._projected(query, key, value)
        scores = (q * (1 / math.sqrt(self.head_dim))) @ k.transpose(-2, -1)
        weights = (scores if mask is None else scores + mask).softmax(-1)
        weights = F.dropout(weights, self.dropout, self.training)
        result = self.out_proj((weights @ v).transpose(1, 2).flatten(-2))
        weights = (weights.mean(1) if average_attn_weights else weights) if need_weights else None
        if not batched:
            return result.squeeze(0), None if weights is None else weights.squeeze(0)
        return result if self.batch_first else result.transpose(0, 1), weights


class TransformerEncoderLayer(Module):
    """x + attention(x), then x + linear2(activation(linear1(x))), each normalized after it, or before with norm_first."""

    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
                 norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        options = options_of(device, dtype)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = getattr(F, activation)
        self.activation = activation

    def _attended(self, x, attn_mask, key_padding_mask):
        return self.dropout1(self.self_attn(x, x, x, key_padding_mask, need_weights=False, attn_mask=attn_mask)[0])

    def _fed_forward(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        if is_causal and src_mask is None:
            raise RuntimeError("[TransformerEncoderLayer] Need src_mask if specifying the is_causal hint.")
        if self.norm_first:
            x = src + self._attended(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self._fed_forward(self.norm2(x))
        x = self.norm1(src + self._attended(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self._fed_forward(x))


class TransformerEncoder(Module):
    """num_layers copies of a layer, one after another, and a norm in the end."""

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)
