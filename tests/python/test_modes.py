"""Autocast and the profiler."""

import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest
import tenon


def test_autocast_as_context_and_decorator():
    a = tenon.ones(2, 3)
    b = tenon.ones(3, 4)
    with tenon.autocast("cpu"):
        assert tenon.is_autocast_enabled("cpu")
        assert (a @ b).dtype is tenon.bfloat16
        assert (a + a).dtype is tenon.float32
        with tenon.autocast("cpu", enabled=False):
            assert (a @ b).dtype is tenon.float32
        with tenon.autocast("cpu", dtype=tenon.float16):
            assert (a @ b).dtype is tenon.float16

    @tenon.autocast("cpu")
    def product():
        return a @ b

    assert product().dtype is tenon.bfloat16
    assert (a @ b).dtype is tenon.float32
    assert not tenon.is_autocast_enabled("cpu")


def test_gradients_of_autocast_have_the_parameters_dtype():
    w = tenon.ones(3, 3, requires_grad=True)
    with tenon.autocast("cpu"):
        y = w @ w
    assert y.dtype is tenon.bfloat16
    y.float().sum().backward()
    assert w.grad.dtype is tenon.float32
    assert w.grad.tolist() == [[6.0] * 3] * 3


def test_autocast_leaves_its_state_when_the_block_raises():
    with pytest.raises(RuntimeError):
        with tenon.autocast("cpu"):
            tenon.ones(2, 3) @ tenon.ones(2, 3)
    assert not tenon.is_autocast_enabled("cpu")


def test_autocast_refuses_other_devices_and_dtypes():
    with pytest.raises(RuntimeError, match="cpu or cuda, got 'meta'"):
        tenon.autocast("meta")
    with pytest.raises(ValueError, match="device_type"):
        tenon.autocast(1)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_autocast_to_another_dtype_is_off(lib, dtype):
    with pytest.warns(UserWarning, match="[Dd]isabl"):
        off = lib.autocast("cpu", dtype=getattr(lib, dtype))
    with off:
        assert not lib.is_autocast_enabled("cpu") and (lib.ones(2, 2) @ lib.ones(2, 2)).dtype is lib.float32


def _losses(lib, x):
    F, classes = lib.nn.functional, lib.zeros(2, dtype=lib.int64)
    return [
        F.l1_loss(x, x),
        F.smooth_l1_loss(x, x),
        F.huber_loss(x, x),
        F.binary_cross_entropy(x, x),
        F.binary_cross_entropy_with_logits(x, x),
        F.kl_div(x, x, reduction="sum"),
        F.poisson_nll_loss(x, x),
        F.hinge_embedding_loss(x, x),
        F.soft_margin_loss(x, x),
        F.multi_margin_loss(x, classes),
        F.margin_ranking_loss(x, x, x),
        F.triplet_margin_loss(x, x, x),
        F.cosine_embedding_loss(x, x, lib.ones(2)),
        F.cross_entropy(x, classes),
        F.mse_loss(x, x),
    ]


def _products(lib, x):
    F = lib.nn.functional
    return [
        lib.addbmm(x, x[None], x[None]),
        F.scaled_dot_product_attention(x, x, x),
        F.prelu(x, x[0]),
        lib.nn.LSTM(2, 2)(x)[0],
        lib.nn.LSTM(2, 2)(x)[1][1],
        lib.linalg.vecdot(x, x),
        lib.tensordot(x, x, 1),
        lib.linalg.multi_dot([x, x]),
        F.linear(x, x),
    ]


def test_autocast_on_the_cpu_by_operator(lib):
    x = lib.tensor([[0.25, 0.5], [0.75, 0.125]])
    for given in (x, x.bfloat16()):
        with lib.autocast("cpu"):
            assert all(loss.dtype is lib.float32 for loss in _losses(lib, given))
            assert all(product.dtype is lib.bfloat16 for product in _products(lib, given))
            others = [
                lib.cdist(given, given),
                lib.trace(given),
                lib.quantile(given, 0.5),
                lib.nanquantile(given, 0.5),
                lib.nn.functional.avg_pool3d(given[None, None, None], 1),
                *lib.linalg.svd(given),
            ]
            assert all(other.dtype is lib.float32 for other in others)
            assert lib.mv(given, given[0]).dtype is given.dtype
    with lib.autocast("cpu"):
        assert all(
            loss.dtype is lib.float64
            for loss in [lib.nn.functional.l1_loss(x.double(), x.double()), lib.trace(x.double())]
        )


def test_profile(tmp_path):
    w = tenon.ones(4, 4, requires_grad=True)
    with tenon.profiler.profile(record_shapes=True, with_flops=True) as prof:
        with tenon.profiler.record_function("step"):
            (w @ w).sum().backward()
    events = prof.events()
    assert events[0].name == "step" and events[0].kind == "range"
    product = next(e for e in events if e.name in ("aten::matmul", "aten::mm"))
    assert product.input_shapes == [[4, 4], [4, 4]]
    assert product.flops == 2 * 4**3
    assert product.parent == 0
    backward = [e for e in events if e.kind == "backward"]
    assert backward and any(e.forward is not None for e in backward)
    averages = prof.key_averages()
    assert sum(a.count for a in averages) == len(events)
    table = averages.table(sort_by="cpu_time_total", row_limit=3)
    assert "# of Calls" in table and "step" in table
    with pytest.raises(ValueError, match="sort_by"):
        averages.table(sort_by="name")
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert any(e["name"] == "step" for e in trace["traceEvents"])
    prof.export_svg(tmp_path / "picture.svg")
    svg = xml.etree.ElementTree.parse(tmp_path / "picture.svg").getroot()
    assert sum(e.tag.endswith("title") for e in svg.iter()) == len(events)


def test_example_that_looks_inside(tmp_path):
    example = pathlib.Path(__file__).parents[2] / "examples" / "look_inside" / "look.py"
    subprocess.run([sys.executable, example, tmp_path], check=True, capture_output=True)
    graph = (tmp_path / "graph.dot").read_text()
    assert graph.startswith("digraph") and "LinearBackward0" in graph
    assert "backward" in (tmp_path / "step.svg").read_text()


def test_profile_is_of_what_is_within():
    a = tenon.ones(2)
    prof = tenon.profiler.profile()
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        prof.events()
    with prof:
        a + a
        with pytest.raises(RuntimeError, match="profiles already"):
            tenon.profiler.profile().start()
    a * a
    assert [e.name for e in prof.events()] == ["aten::add.Tensor"]
