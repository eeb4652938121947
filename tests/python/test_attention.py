"""Attention in tiles, losses by chunks, of sequences and of labels, against PyTorch's."""

import warnings

import pytest
import tenon
from tenon.nn import functional as F

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)


def of_torch(t):
    return tenon.from_numpy(t.detach().numpy()).clone() if isinstance(t, torch.Tensor) else t


def check(ours, theirs, tolerance=1e-5):
    torch.testing.assert_close(
        torch.from_numpy(ours.detach().numpy()), theirs.detach(), rtol=tolerance, atol=tolerance, check_stride=False
    )


SHAPES = [
    (1, 1, 1, 1, 1),
    (2, 3, 5, 7, 3),
    (1, 2, 33, 65, 16),
    (1, 2, 130, 200, 40),
    (2, 1, 17, 1, 80),
    (2, 3, 3, 90, 64),
]
MASKS = {
    "none": lambda b, h, n, s: None,
    "rows": lambda b, h, n, s: torch.randn(n, s, dtype=torch.double),
    "turned": lambda b, h, n, s: torch.randn(s, n, dtype=torch.double).t(),
    "heads": lambda b, h, n, s: torch.randn(1, h, n, 1, dtype=torch.double),
    "keys": lambda b, h, n, s: torch.arange(s).expand(b, 1, 1, s) < max(s - 2, 1),
    "nowhere": lambda b, h, n, s: (torch.rand(n, s) > 0.4) & (torch.arange(n) > 0).unsqueeze(1),
}


@needs_torch
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_attention_in_tiles(shape, mask):
    torch.manual_seed(0)
    batch, heads, rows, keys, width = shape
    for shared, causal, turned, scale in [(1, False, False, None), (2, True, True, 0.3), (1, False, True, -0.5)]:
        sizes = [(batch, heads * shared, rows, width), (batch, heads, keys, width), (batch, heads, keys, width)]
        values = [torch.randn(size, dtype=torch.double) for size in sizes]
        if turned:
            values = [v.transpose(1, 2).contiguous().transpose(1, 2) for v in values]
        added = None if causal else MASKS[mask](batch, heads * shared, rows, keys)
        options = {"is_causal": causal, "scale": scale, "enable_gqa": shared > 1}
        theirs = [v.clone().requires_grad_() for v in values]
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            wanted = torch.nn.functional.scaled_dot_product_attention(*theirs, attn_mask=added, **options)
        grad = torch.randn_like(wanted)
        mine = [of_torch(v).requires_grad_() for v in values]
        found = F.scaled_dot_product_attention(*mine, attn_mask=of_torch(added), **options)
        check(found, wanted, 1e-10)
        for a, b in zip(
            tenon.autograd.grad(found, mine, of_torch(grad)), torch.autograd.grad(wanted, theirs, grad), strict=True
        ):
            check(a, b, 1e-10)


def test_attention_is_differentiated_twice():
    q, k, v = (tenon.randn(1, h, n, 4, dtype=tenon.float64, requires_grad=True) for h, n in ((4, 3), (2, 5), (2, 5)))

    def attention(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    assert tenon.autograd.gradcheck(attention, (q, k, v))
    assert tenon.autograd.gradgradcheck(attention, (q, k, v))


def test_attention_keeps_no_scores():
    kept = []

    def keep(t):
        kept.append(t.numel())
        return t

    q, k, v = (tenon.randn(1, 1, 4096, 8, requires_grad=True) for _ in range(3))
    with tenon.autograd.graph.saved_tensors_hooks(keep, lambda t: t):
        F.scaled_dot_product_attention(q, k, v)
    assert kept and max(kept) <= q.numel()


@needs_torch
def test_multi_head_attention_forward():
    torch.manual_seed(0)
    for batched, need_weights, zero, biased in [
        (True, True, False, True),
        (False, True, True, False),
        (True, False, True, True),
    ]:
        parts = (2,) if batched else ()
        q, k, v = torch.randn(3, *parts, 8), torch.randn(5, *parts, 8), torch.randn(5, *parts, 8)
        hidden = torch.zeros(*parts, 5, dtype=torch.bool)
        hidden[..., -1] = True
        weights = [torch.randn(24, 8), torch.randn(24)]
        extra = [torch.randn(1, 1, 8), torch.randn(1, 1, 8)] if biased else [None, None]
        out = [torch.randn(8, 8), torch.randn(8)]
        options = {"key_padding_mask": hidden, "need_weights": need_weights, "attn_mask": torch.randn(3, 5)}

        def call(function, convert):
            arguments = [convert(t) for t in (q, k, v)] + [8, 2] + [convert(t) for t in (*weights, *extra)]
            return function(
                *arguments, zero, 0.0, *map(convert, out), **{name: convert(t) for name, t in options.items()}
            )

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, shown = call(torch.nn.functional.multi_head_attention_forward, lambda t: t)
        found, mine = call(F.multi_head_attention_forward, of_torch)
        check(found, wanted, 1e-4)
        assert found.stride() == wanted.stride()
        assert (shown is None) == (mine is None)
        if shown is not None:
            check(mine, shown, 1e-4)
    with pytest.raises(AssertionError, match="not divisible"):
        F.multi_head_attention_forward(
            *[tenon.randn(2, 3)] * 3, 3, 2, tenon.randn(9, 3), None, None, None, False, 0.0, tenon.randn(3, 3), None
        )


@needs_torch
def test_ctc_loss():
    torch.manual_seed(0)
    log_probs = torch.randn(12, 4, 6, dtype=torch.double).log_softmax(2)
    targets = torch.tensor([[1, 1, 2, 5], [3, 3, 3, 3], [2, 4, 1, 0], [5, 4, 3, 2]])
    for lengths, labels, blank in [((12, 12, 9, 3), (4, 3, 0, 4), 0), ((12, 7, 1, 0), (2, 4, 1, 0), 0)]:
        flat = torch.cat([row[:n] for row, n in zip(targets, labels)])
        for given in (targets, flat):
            for reduction, zero in [("none", False), ("mean", True), ("sum", True)]:
                theirs = log_probs.clone().requires_grad_()
                wanted = torch.nn.CTCLoss(blank, reduction, zero)(
                    theirs, given, torch.tensor(lengths), torch.tensor(labels)
                )
                mine = of_torch(log_probs).requires_grad_()
                found = tenon.nn.CTCLoss(blank, reduction, zero)(mine, of_torch(given), lengths, labels)
                check(found, wanted)
                if not zero:
                    continue
                check(
                    tenon.autograd.grad(found, mine)[0],
                    torch.autograd.grad(wanted, theirs)[0],
                )
    with pytest.raises(IndexError, match="6 labels, got 6"):
        F.ctc_loss(of_torch(log_probs), of_torch(targets + 1), (12,) * 4, (4,) * 4)


@needs_torch
def test_linear_cross_entropy_module_and_chunks():
    torch.manual_seed(0)
    x, labels = torch.randn(7, 5), torch.tensor([0, 3, -100, 2, 1, 1, 3])
    theirs = torch.nn.LinearCrossEntropyLoss(5, 4, bias=True)
    options = tenon.nn.LinearCrossEntropyOptions(batch_chunk_size=3)
    ours = tenon.nn.LinearCrossEntropyLoss(5, 4, bias=True, options=options)
    ours.load_state_dict({name: of_torch(t) for name, t in theirs.state_dict().items()})
    wanted = theirs(x, labels)
    wanted.backward()
    found = ours(of_torch(x), of_torch(labels))
    check(found, wanted)
    found.backward(retain_graph=True)
    check(ours.linear.weight.grad, theirs.linear.weight.grad)
    check(ours.linear.bias.grad, theirs.linear.bias.grad)
    with pytest.raises(RuntimeError, match="allow_retain_graph"):
        found.backward()
    with pytest.warns(UserWarning, match="options.* ignored"):
        F.linear_cross_entropy(of_torch(x), ours.linear.weight, of_torch(labels), label_smoothing=0.1, options=options)
    with pytest.raises(ValueError, match="invalid acc_policy"):
        tenon.nn.LinearCrossEntropyOptions(acc_policy="fast")


@needs_torch
def test_multilabel_margin_loss_module():
    x, labels = torch.randn(3, 4), torch.tensor([[3, 0, -1, 1], [-1, 0, 0, 0], [2, 2, 1, 0]])
    check(tenon.nn.MultiLabelMarginLoss()(of_torch(x), of_torch(labels)), torch.nn.MultiLabelMarginLoss()(x, labels))


@needs_torch
def test_attention_whose_scores_are_in_memory():
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 6, 4, 8), torch.randn(2, 3, 5, 8), torch.randn(2, 2, 5, 7)
    mask = torch.randn(6, 4, 5, requires_grad=True)
    for scale, added in [(None, mask), (-0.4, None)]:
        options = {"enable_gqa": True, "scale": scale}
        wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, added, **options)
        mine = None if added is None else of_torch(added).requires_grad_()
        found = F.scaled_dot_product_attention(*map(of_torch, (q, k, v)), mine, **options)
        check(found, wanted)
        if added is not None:
            check(tenon.autograd.grad(found.sum(), mine)[0], torch.autograd.grad(wanted.sum(), added)[0], 1e-4)
    with pytest.raises(RuntimeError):
        F.scaled_dot_product_attention(*map(of_torch, (q, k, k)))
    with pytest.raises(RuntimeError, match="divide the number of heads"):
        F.scaled_dot_product_attention(*map(of_torch, (q[:, :4], k, k)), enable_gqa=True)
