"""Names of devices, the default one, and the limits of dtypes."""

import pytest


def test_devices_that_are_not_there_have_names(lib):
    for name in (
        "mps",
        "xla",
        "xpu",
        "hpu",
        "vulkan",
        "hip",
        "ipu",
        "mtia",
        "lazy",
        "fpga",
        "maia",
        "ve",
        "opengl",
        "opencl",
        "ideep",
    ):
        assert lib.device(name).type == name and repr(lib.device(f"{name}:1")) == f"device(type='{name}', index=1)"
    assert lib.device("mps") == lib.device("mps") != lib.device("xpu")
    with pytest.raises((RuntimeError, NotImplementedError)):
        lib.ones(2, device="mps")
    with pytest.raises((RuntimeError, NotImplementedError)):
        lib.ones(2).to("mps")


def test_numbers_of_devices(lib):
    for bad in (lambda: lib.device(-1), lambda: lib.device("cuda", -1), lambda: lib.ones(2, device=-1)):
        with pytest.raises(RuntimeError, match="must not be negative"):
            bad()
    with pytest.raises(RuntimeError, match="must not include an index"):
        lib.device("cuda:1", 0)
    with pytest.raises(TypeError):
        lib.device(lib.device("cpu"), 0)
    assert lib.device(0) == lib.device("cuda:0") == lib.device("cuda", 0) == lib.device(type="cuda", index=0)


def test_tensors_are_made_on_the_default_device(lib):
    kinds = (
        lambda: lib.zeros(2),
        lambda: lib.rand(2),
        lambda: lib.tensor([1.0]),
        lambda: lib.tensor(1.0, requires_grad=True),
        lambda: lib.arange(3),
        lambda: lib.eye(2),
        lambda: lib.full((2,), 1),
        lambda: lib.empty(2, device=None),
        lambda: lib.as_tensor([1]),
        lambda: lib.scalar_tensor(1),
        lambda: lib.nn.Linear(2, 2).weight,
        lambda: lib.randperm(3),
        lambda: lib.linspace(0, 1, 3),
        lambda: lib.asarray([1]),
    )
    with lib.device("meta"):
        assert [make().device.type for make in kinds] == ["meta"] * len(kinds)
        assert lib.zeros(2, device="cpu").device.type == "cpu"
        with lib.device("cpu"):
            assert lib.zeros(2).device.type == "cpu"
            assert lib.zeros_like(lib.zeros(2)).device.type == "cpu"
        assert lib.get_default_device().type == "meta" and lib.zeros(2).is_meta
    assert [make().device.type for make in kinds] == ["cpu"] * len(kinds)
    with pytest.raises(ZeroDivisionError):
        with lib.device("meta"):
            1 / 0
    assert lib.zeros(2).device.type == "cpu"


def test_the_default_device_is_set(lib):
    lib.set_default_device("meta")
    try:
        assert lib.zeros(2).is_meta and lib.get_default_device() == lib.device("meta")
        with lib.device("cpu"):
            assert not lib.zeros(2).is_meta
    finally:
        lib.set_default_device(None)
    assert not lib.zeros(2).is_meta and lib.get_default_device().type == "cpu"


def test_autocast_of_the_gpu_is_asked_for_without_a_name(lib):
    assert lib.is_autocast_enabled() is False
    with lib.autocast("cpu"):
        assert lib.is_autocast_enabled() is False and lib.is_autocast_enabled("cpu") is True


@pytest.mark.parametrize(
    "name, largest, eps, tiny",
    [
        ("float8_e4m3fn", 448, 0.125, 2**-6),
        ("float8_e5m2", 57344, 0.25, 2**-14),
        ("float8_e4m3fnuz", 240, 0.125, 2**-7),
        ("float8_e5m2fnuz", 57344, 0.25, 2**-15),
    ],
)
def test_limits_of_float8(lib, name, largest, eps, tiny):
    info = lib.finfo(getattr(lib, name))
    assert (info.max, info.min, info.eps, info.tiny, info.bits, info.resolution, info.dtype) == (
        largest,
        -largest,
        eps,
        tiny,
        8,
        1,
        name,
    )
