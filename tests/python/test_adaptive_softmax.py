"""AdaptiveLogSoftmaxWithLoss: the probabilities of all classes add up to 1, and those of targets are among them."""

import pytest


def test_probabilities(lib):
    lib.manual_seed(0)
    layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0, head_bias=True)
    assert list(layer.state_dict()) == [
        "head.weight",
        "head.bias",
        "tail.0.0.weight",
        "tail.0.1.weight",
        "tail.1.0.weight",
        "tail.1.1.weight",
    ]
    x, target = lib.randn(6, 8, requires_grad=True), lib.tensor([0, 3, 11, 2, 6, 7])
    output, loss = layer(x, target)
    every = layer.log_prob(x)
    lib.testing.assert_close(every.exp().sum(1), lib.ones(6))
    lib.testing.assert_close(output, every.gather(1, target.unsqueeze(1)).squeeze(1))
    lib.testing.assert_close(loss, -output.mean())
    assert layer.predict(x).tolist() == every.argmax(1).tolist()
    lib.testing.assert_close(layer(x[1], target[1]).output, output[1])
    loss.backward()
    assert x.grad.abs().sum() > 0 and layer.tail[1][0].weight.grad is not None


def test_the_numbers_are_pytorchs():
    torch, tenon = pytest.importorskip("torch"), pytest.importorskip("tenon")
    results = []
    for lib in (tenon, torch):
        lib.manual_seed(3)
        layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7])
        output, loss = layer(lib.randn(6, 8), lib.tensor([0, 3, 11, 2, 6, 7]))
        results.append([*output.tolist(), loss.item()])
    assert results[0] == pytest.approx(results[1], rel=1e-5)


def test_what_is_refused(lib):
    for cutoffs in ([], [0, 3], [3, 3], [12]):
        with pytest.raises(ValueError, match="cutoffs should be a sequence"):
            lib.nn.AdaptiveLogSoftmaxWithLoss(8, 12, cutoffs)
    layer = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3])
    with pytest.raises(RuntimeError, match=r"Target values should be in \[0, 11\]"):
        layer(lib.ones(1, 8), lib.tensor([12]))
