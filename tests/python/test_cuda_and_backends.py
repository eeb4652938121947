"""What programs ask before they use a GPU, and switches of what computes."""

from importlib import import_module

import pytest
import tenon

without_gpu = pytest.mark.skipif(tenon.cuda.is_available(), reason="there is a GPU")


def module(lib, name):
    return import_module(f"{lib.__name__}.{name}")


@without_gpu
def test_questions_are_answered_without_a_gpu(lib):
    cuda = module(lib, "cuda")
    assert cuda.is_available() is False and cuda.device_count() == 0 and cuda.is_initialized() is False
    assert cuda.is_bf16_supported() is False
    assert cuda.memory_allocated() == cuda.max_memory_allocated() == cuda.memory_reserved() == 0
    assert cuda.memory_stats() == {}
    assert cuda.empty_cache() is None and cuda.manual_seed(1) is None and cuda.manual_seed_all(1) is None
    with cuda.stream(None):
        assert lib.ones(1).item() == 1
    assert not isinstance(lib.ones(1), cuda.FloatTensor) and cuda.FloatTensor.is_cuda


def test_other_devices_are_refused():
    with tenon.cuda.device(-1), tenon.cuda.device(None), tenon.cuda.device_of(tenon.ones(1)):
        assert tenon.ones(1).item() == 1
    with pytest.raises(ValueError, match="Expected a cuda device"):
        tenon.cuda.set_device("cpu")


@without_gpu
@pytest.mark.parametrize(
    "call",
    [
        lambda cuda: cuda.current_device(),
        lambda cuda: cuda.set_device(0),
        lambda cuda: cuda.synchronize(),
        lambda cuda: cuda.Stream(),
        lambda cuda: cuda.current_stream(),
        lambda cuda: cuda.get_device_name(),
        lambda cuda: cuda.get_device_capability(0),
        lambda cuda: cuda.reset_peak_memory_stats(),
        lambda cuda: cuda.init(),
        lambda cuda: cuda.device(0).__enter__(),
    ],
)
def test_what_needs_a_gpu_says_so(lib, call):
    with pytest.raises(RuntimeError):
        call(module(lib, "cuda"))


def test_backends(lib):
    backends = module(lib, "backends")
    assert backends.mps.is_available() is False and backends.mps.is_built() is False
    for part in (backends.cudnn, backends.mkl, backends.mkldnn, backends.openmp, backends.opt_einsum):
        assert part.is_available() in (True, False)
    assert backends.cuda.is_built() in (True, False) and backends.cuda.matmul.allow_tf32 is False
    assert backends.cudnn.benchmark is False and backends.cudnn.enabled is True
    try:
        backends.cudnn.benchmark = True
        with backends.cudnn.flags(enabled=False):
            assert backends.cudnn.enabled is False and backends.cudnn.benchmark is False
        assert backends.cudnn.enabled is True and backends.cudnn.benchmark is True
    finally:
        backends.cudnn.benchmark = False
    with pytest.raises(RuntimeError, match="expects a bool, but got str"):
        backends.cudnn.benchmark = "yes"


def test_version(lib):
    version = module(lib, "version")
    assert lib.__version__ == version.__version__ and version.hip is None
    assert version.cuda is None or isinstance(version.cuda, str)


def test_types_are_for_annotations(lib):
    types = module(lib, "types")
    assert int in types.Number.__args__ and lib.device in types.Device.__args__
