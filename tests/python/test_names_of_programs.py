"""Names that programs for PyTorch use, and that are Tenon's own: devices, the profiler's schedule, storages of files, groups of matrices."""

import typing

import pytest
import tenon
from tenon.profiler import ProfilerAction, ProfilerActivity, profile, schedule


def test_devices_by_whatever_name():
    if tenon.cuda.is_available():
        pytest.skip("a machine with a GPU")
    assert tenon.accelerator.device_count() == 0 and not tenon.accelerator.is_available()
    assert tenon.accelerator.current_accelerator(check_available=True) is None
    assert (tenon.accelerator.current_accelerator() is None) == (not tenon.backends.cuda.is_built())
    assert tenon.cuda.get_rng_state_all() == [] and tenon.cuda.set_rng_state_all([]) is None
    assert tenon.cpu.is_available() and tenon.cpu.device_count() == 1 and tenon.cpu.current_device() == "cpu"
    with tenon.cpu.stream(tenon.cpu.current_stream()):
        tenon.cpu.synchronize()


def test_old_variables(lib):
    data = lib.ones(2)
    x = lib.autograd.Variable(data, requires_grad=True)
    assert x.requires_grad and not data.requires_grad and x.data_ptr() == data.data_ptr()
    assert isinstance(data, lib.autograd.Variable) and not isinstance(3, lib.autograd.Variable)


def test_types_of_tensors_in_annotations(lib):
    assert typing.get_args(lib.FloatTensor | None) == (lib.FloatTensor, type(None))
    assert typing.get_args(None | lib.LongTensor) == (type(None), lib.LongTensor)


def test_storages_of_files(lib, tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    storage = lib.UntypedStorage.from_file(str(path), shared=False, nbytes=8)
    assert storage.tolist() == list(range(8)) and storage[2:5].tolist() == [2, 3, 4] and storage[7] == 7
    part = lib.asarray(storage[4:8], dtype=lib.uint8)
    part[0] = 9
    assert storage[4] == 9 and path.read_bytes()[4] == 4  # the file stays
    shared = lib.UntypedStorage.from_file(str(path), shared=True, nbytes=8)
    lib.asarray(shared, dtype=lib.uint8).fill_(1)
    assert path.read_bytes() == bytes([1] * 8)
    with pytest.raises(RuntimeError, match="slice with a step of 2"):
        storage[::2]


def test_optimizers_around_others(lib):
    class Around(lib.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner

        def step(self, closure=None):
            return self.inner.step(closure)

    x = lib.ones(1, requires_grad=True)
    x.sum().backward()
    Around(lib.optim.SGD([x], lr=0.5)).step()
    assert x.item() == 0.5


def test_schedules_of_profiles(lib):
    action_of = lib.profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    assert [action_of(step).name for step in range(11)] == [
        "NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE",
    ]  # fmt: skip


def test_a_scheduled_profile_records_its_cycles(tmp_path):
    seen = []
    with profile(
        activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=0, active=1, repeat=2),
        on_trace_ready=lambda p: seen.append(sorted(e.key for e in p.key_averages())),
    ) as prof:  # fmt: skip
        for operator in (tenon.sin, tenon.cos, tenon.exp, tenon.log, tenon.sqrt):
            operator(tenon.ones(2))
            prof.step()
    assert ["aten::cos" in keys for keys in seen] == [True, False] and ["aten::log" in keys for keys in seen] == [
        False,
        True,
    ]
    assert not any("aten::sin" in keys or "aten::sqrt" in keys for keys in seen)
    assert prof.current_action == ProfilerAction.NONE and tenon.profiler.supported_activities() == {
        ProfilerActivity.CPU
    }
    with profile(on_trace_ready=tenon.profiler.tensorboard_trace_handler(str(tmp_path))):
        tenon.ones(2).sin()
    assert len(list(tmp_path.glob("*.pt.trace.json"))) == 1


def test_counts_of_operations(lib):
    counter_of = pytest.importorskip(f"{lib.__name__}.utils.flop_counter").FlopCounterMode
    with counter_of(display=False) as counter:
        lib.mm(lib.ones(4, 5), lib.ones(5, 6))
    assert counter.get_total_flops() == 2 * 4 * 5 * 6


def test_products_in_groups(lib):
    def ints(*sizes):
        return (lib.arange(float(lib.Size(sizes).numel())).view(sizes) % 7 - 3).to(lib.bfloat16)

    # PyTorch wants rows of 16 bytes.
    a, b, c, d = ints(6, 8), ints(3, 8, 16), ints(8, 16), ints(16, 8)
    grouped = lib.nn.functional.grouped_mm
    ends = lib.tensor([2, 2, 6], dtype=lib.int32)
    assert lib.equal(grouped(a, b, offs=ends), lib.cat([a[:2] @ b[0], a[2:] @ b[2]]))
    halves = lib.tensor([8, 16], dtype=lib.int32)
    assert lib.equal(grouped(c, d, offs=halves), lib.stack([c[:, :8] @ d[:8], c[:, 8:] @ d[8:]]))
    assert lib.equal(
        grouped(b[:2, :, :8], c, offs=halves), lib.cat([b[0, :, :8] @ c[:, :8], b[1, :, :8] @ c[:, 8:]], 1)
    )
    assert lib.equal(grouped(b[:, :, :8], b), b[:, :, :8] @ b)


def test_products_in_groups_have_gradients():
    a, b = (
        tenon.ones(3, 2, dtype=tenon.float64, requires_grad=True),
        tenon.ones(2, 2, 2, dtype=tenon.float64, requires_grad=True),
    )
    ends = tenon.tensor([1, 3], dtype=tenon.int32)
    assert tenon.autograd.gradcheck(lambda a, b: tenon.nn.functional.grouped_mm(a, b, offs=ends), (a, b))
    with pytest.raises(RuntimeError, match="offs is required"):
        tenon.nn.functional.grouped_mm(a, b)


def test_attention_back_ends(lib):
    attention = pytest.importorskip(f"{lib.__name__}.nn.attention")
    q = lib.ones(1, 1, 2, 4)
    with attention.sdpa_kernel([attention.SDPBackend.MATH]):
        assert lib.equal(lib.nn.functional.scaled_dot_product_attention(q, q, q), q)
    with pytest.raises(AssertionError), attention.sdpa_kernel(3):
        pass


def test_methods_as_functions(lib):
    x = lib.ones(2, requires_grad=True)
    assert not lib.detach(x).requires_grad and lib.get_device(x) == -1 and not lib.is_conj(x) and not lib.is_neg(x)
    assert lib.is_same_size(x, lib.zeros(2)) and not lib.is_same_size(x, lib.zeros(3))


def test_limits_of_pythons_types(lib):
    assert lib.finfo(float).eps == lib.finfo(lib.float64).eps and lib.finfo(complex).dtype == "float64"
    assert lib.iinfo(int).max == 2**63 - 1
    for call in (
        lambda: lib.finfo(int),
        lambda: lib.iinfo(float),
        lambda: lib.iinfo(bool),
        lambda: lib.finfo(lib.int32),
    ):
        with pytest.raises(TypeError):
            call()


def test_checks_of_tensors(lib):
    assert lib._assert_async(lib.tensor(True)) is None and lib._assert(lib.tensor(True), "no") is None
    for call, text in (
        (lambda: lib._assert_async(lib.tensor(0.0)), "Expected Tensor with single nonzero value, but got zero"),
        (lambda: lib._assert_async(lib.tensor(False), "said"), "said"),
        (lambda: lib._assert_async(lib.ones(2)), "Boolean value of Tensor with more than one value is ambiguous"),
    ):
        with pytest.raises(RuntimeError, match=text):
            call()


def test_the_processors_vectors_and_names_of_objects(lib):
    capability = lib.backends.cpu.get_cpu_capability()
    assert capability in {"AVX512", "AVX2", "NEON", "SVE256", "DEFAULT"}
    named = [3, "a", str, None, [1], test_checks_of_tensors, lib.nn.Linear(1, 1), lib.nn.Linear, typing.List]  # noqa: UP006
    assert [lib.typename(value).rpartition(".")[2] for value in named] == [
        "int", "str", "str", "NoneType", "list", "test_checks_of_tensors", "Linear", "Linear", "List"
    ]  # fmt: skip
    assert lib.typename(3) == "int" and lib.typename(test_checks_of_tensors).startswith(
        test_checks_of_tensors.__module__
    )


def test_the_capability_is_pytorchs():
    torch = pytest.importorskip("torch")
    assert tenon.backends.cpu.get_cpu_capability() == torch.backends.cpu.get_cpu_capability()


def test_tensors_of_sizes_by_the_class(lib):
    size = lib.Size([2, 3])
    for made in (
        lib.Tensor(size),
        lib.Tensor(2, 3),
        lib.Tensor(size=(2, 3)),
        lib.Tensor(size, device="cpu"),
        lib.FloatTensor(size),
    ):
        assert made.shape == size and made.dtype == lib.float32
    assert (
        lib.Tensor(lib.Size([])).shape == () and lib.Tensor(lib.Size([0])).shape == (0,) and lib.Tensor().shape == (0,)
    )
    assert lib.Tensor((2, 3)).tolist() == [2.0, 3.0] and lib.tensor(size).tolist() == [2, 3]
    assert lib.nn.Parameter(lib.Tensor(size)).shape == size
    for arguments, options in (((2,), {"dtype": lib.float32}), ((2,), {"device": "meta"}), (("ab",), {})):
        with pytest.raises((TypeError, RuntimeError)):
            lib.Tensor(*arguments, **options)
