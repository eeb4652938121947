"""Modes and classes with __torch_dispatch__ and __torch_function__: programs print with Tenon what they print with PyTorch."""

import beside_pytorch
import pytest

pytest.importorskip("torch")
WORDS = ["mode_", "function_mode_", "subclass_"]


@pytest.fixture(scope="module")
def outputs():
    return beside_pytorch.outputs(WORDS)


@pytest.mark.parametrize("name", beside_pytorch.names(WORDS))
def test_prints_what_pytorch_prints(outputs, name):
    with_pytorch, with_tenon = outputs[name]
    assert with_pytorch and "Traceback" not in with_pytorch
    assert with_tenon == with_pytorch
