"""Attention, and the encoders and decoders that are made of it: Vaswani et al. (2017)."""

import copy
import math

import tenon
from tenon.nn import functional as F, init
from tenon.nn.modules.container import ModuleList
from tenon.nn.modules.dropout import Dropout
from tenon.nn.modules.linear import Linear
from tenon.nn.modules.module import Module
from tenon.nn.modules.normalization import LayerNorm
from tenon.nn.parameter import options_of, parameter


class MultiheadAttention(Module):
    """embed_dim features in num_heads parts, each of which looks for itself.

    query [L, N, E], key [S, N, kdim], value [S, N, vdim], with batch_first N before L and S, or without N. Returns the result, of the
    query's sizes, and the weights [N, L, S], averaged over the heads, or None without need_weights. Of boolean masks, what is true is
    left out; others are added. add_bias_kv adds a learnt key and value to every sequence, add_zero_attn ones of zeros: S grows by each.
    A query that may see no key gives NaN with need_weights, as its weights are, and otherwise 0 before the output projection."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = options_of(device, dtype)
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim, self.head_dim = kdim or embed_dim, vdim or embed_dim, embed_dim // num_heads
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        weights = {"in_proj_weight": (3 * embed_dim, embed_dim)}
        if not self._qkv_same_embed_dim:
            weights = {
                "q_proj_weight": (embed_dim, embed_dim),
                "k_proj_weight": (embed_dim, self.kdim),
                "v_proj_weight": (embed_dim, self.vdim),
            }
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            self.register_parameter(name, parameter(weights[name], options) if name in weights else None)
        self.register_parameter("in_proj_bias", parameter((3 * embed_dim,), options) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **options)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, parameter((1, 1, embed_dim), options) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        for name in weights:
            init.xavier_uniform_(getattr(self, name))
        if bias:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        if add_bias_kv:
            init.xavier_normal_(self.bias_k)
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            query, key, value = (x.transpose(0, 1) if x.dim() == 3 else x for x in (query, key, value))
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return result.transpose(0, 1) if swapped else result, weights


def _activation(activation):
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class TransformerEncoderLayer(Module):
    """x + attention(x), then x + linear2(activation(linear1(x))), each normalized after it, or before with norm_first."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = options_of(device, dtype)
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

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


class TransformerDecoderLayer(Module):
    """x + attention(x), then x + attention(x, memory), then x + linear2(activation(linear1(x))), each normalized after it, or before
    with norm_first."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = options_of(device, dtype)
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        for i in (1, 2, 3):
            setattr(self, f"norm{i}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        self.dropout1, self.dropout2, self.dropout3 = Dropout(dropout), Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        for name, mask, causal in (("tgt", tgt_mask, tgt_is_causal), ("memory", memory_mask, memory_is_causal)):
            if causal and mask is None:
                raise RuntimeError(
                    f"[TransformerDecoderLayer] Need {name}_mask if specifying the {name}_is_causal hint."
                )

        def attended(x):
            return self.dropout1(
                self.self_attn(x, x, x, tgt_key_padding_mask, need_weights=False, attn_mask=tgt_mask)[0]
            )

        def remembered(x):
            found, _ = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, need_weights=False, attn_mask=memory_mask
            )
            return self.dropout2(found)

        def fed_forward(x):
            return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))

        x = tgt
        for norm, part in ((self.norm1, attended), (self.norm2, remembered), (self.norm3, fed_forward)):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class TransformerDecoder(Module):
    """num_layers copies of a layer, one after another, and a norm in the end."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of the source, and a decoder of the target that looks at what the encoder gives."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = options_of(device, dtype)
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)

        def norm():
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)

        # In the order in which PyTorch draws their first values.
        self.encoder = (
            custom_encoder
            if custom_encoder is not None
            else TransformerEncoder(TransformerEncoderLayer(*layer, **options), num_encoder_layers, norm())
        )
        self.decoder = (
            custom_decoder
            if custom_decoder is not None
            else TransformerDecoder(TransformerDecoderLayer(*layer, **options), num_decoder_layers, norm())
        )
        for weight in self.parameters():
            if weight.dim() > 1:
                init.xavier_uniform_(weight)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        batched, dim = src.dim() == 3, 0 if self.batch_first else 1
        if batched and src.shape[dim] != tgt.shape[dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """[sz, sz] to be added: -inf above the diagonal, else 0."""
        return tenon.full((sz, sz), -math.inf, **options_of(device, dtype)).triu(1)
