"""deepcopy, pickle, and storages, which they keep the sharing of."""

import copy
import io
import pickle

import pytest


def pickled(value):
    return pickle.loads(pickle.dumps(value))


def test_deepcopy_keeps_views_of_one_storage(lib):
    a = lib.arange(6.0)
    p, q = copy.deepcopy([a, a[2:4]])
    q[0] = 99
    assert p.tolist() == [0, 1, 99, 3, 4, 5] and a.tolist() == [0, 1, 2, 3, 4, 5]


def test_pickle_keeps_views_of_one_storage():
    import tenon

    a = tenon.arange(6.0)
    p, q = pickled([a, a[2:4]])
    q[0] = 99
    assert p.tolist() == [0, 1, 99, 3, 4, 5] and a.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_geometry_is_kept(lib, how):
    x = lib.arange(24.0).view(2, 3, 4)
    for y in (
        x.t() if x.dim() == 2 else x.transpose(0, 2),
        x[:, ::2],
        x[1],
        lib.ones(3, 1).expand(3, 4),
        lib.tensor(2.0),
        lib.empty(0, 3),
        lib.ones(2, 3, 4, 5).to(memory_format=lib.channels_last),
        lib.arange(3, dtype=lib.int16),
        lib.ones(2, dtype=lib.complex64),
    ):
        z = how(y)
        assert z.tolist() == y.tolist() and z.dtype == y.dtype
        assert (z.stride(), z.storage_offset(), z.untyped_storage().nbytes()) == (
            y.stride(),
            y.storage_offset(),
            y.untyped_storage().nbytes(),
        )


@pytest.mark.parametrize("how", [copy.deepcopy, pickled])
def test_meta_tensors(lib, how):
    x = how(lib.empty(2, 3, device="meta", dtype=lib.float64).t().requires_grad_())
    assert x.is_meta and x.shape == (3, 2) and x.stride() == (1, 3) and x.dtype == lib.float64 and x.requires_grad
    p = how(lib.nn.Parameter(lib.empty(2, device="meta")))
    assert p.is_meta and isinstance(p, lib.nn.Parameter)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickled])
def test_generators(lib, how):
    generator = lib.Generator().manual_seed(7)
    lib.rand(3, generator=generator)
    other = how(generator)
    assert other is not generator and other.get_state().tolist() == generator.get_state().tolist()
    assert lib.rand(3, generator=other).tolist() == lib.rand(3, generator=generator).tolist()
    other.set_state(lib.Generator().manual_seed(7).get_state())
    assert lib.rand(2, generator=other).tolist() == lib.rand(2, generator=lib.Generator().manual_seed(7)).tolist()


def test_what_becomes_of_gradients(lib):
    p = lib.nn.Parameter(lib.ones(2))
    x = lib.ones(2, requires_grad=True)
    p.grad, x.grad = lib.ones(2), lib.ones(2)
    assert copy.deepcopy(p).grad is None and type(copy.deepcopy(p)) is lib.nn.Parameter
    assert copy.deepcopy(x).grad.tolist() == [1, 1]
    assert pickled(p).grad is None and pickled(x).grad is None


def test_attributes_of_parameters():
    import tenon

    p = tenon.nn.Parameter(tenon.ones(2), requires_grad=False)
    p.tag = ["a"]
    for other in (copy.deepcopy(p), pickled(p)):
        assert (
            type(other) is tenon.nn.Parameter
            and other.tag == ["a"]
            and other.tag is not p.tag
            and not other.requires_grad
        )


def test_tied_parameters_stay_tied(lib):
    net = lib.nn.Linear(2, 2)
    net.other = net.weight
    net.register_buffer("all", lib.arange(4.0))
    net.register_buffer("part", net.all[1:3])
    for other in (copy.deepcopy(net),):
        assert other.other is other.weight and other.weight is not net.weight
        other.part[0] = 9
        assert other.all.tolist() == [0, 9, 2, 3] and net.all.tolist() == [0, 1, 2, 3]


def test_storages(lib):
    x = lib.arange(6, dtype=lib.uint8)
    s = x[2:4].untyped_storage()
    assert s.nbytes() == s.size() == len(s) == 6 and s.device == lib.device("cpu") and s.data_ptr() == x.data_ptr()
    assert s.tolist() == [0, 1, 2, 3, 4, 5] and s[1] == 1 and s is x.untyped_storage()
    s[1] = 9
    assert x.tolist() == [0, 9, 2, 3, 4, 5] and not s.is_cuda and s.cpu() is s
    t = s.clone()
    t.fill_(1)
    assert t.tolist() == [1] * 6 and x[0].item() == 0
    assert t.copy_(s).tolist() == s.tolist() and copy.deepcopy(s).tolist() == s.tolist()
    assert lib.UntypedStorage(3).nbytes() == 3
    with pytest.raises(IndexError):
        s[6]
    assert lib.empty(2, 3, device="meta").untyped_storage().nbytes() == 24
    assert s.device.type == "cpu" and lib.empty(0).untyped_storage().nbytes() == 0


def test_pickles_of_what_pytorch_has_none_of():
    import tenon

    for x in (tenon.tensor([1, 2**16 - 1]).to(tenon.uint16), tenon.ones(2).to(tenon.float8_e4m3fn)):
        y, storage = pickled((x[1:], x.untyped_storage()))
        assert y.tolist() == x[1:].tolist() and y.dtype is x.dtype and y.untyped_storage() is storage
        assert storage.tolist() == x.untyped_storage().tolist()


def test_storages_in_files(lib):
    x = lib.arange(4, dtype=lib.uint8)
    buffer = io.BytesIO()
    lib.save({"x": x[1:], "bytes": x.untyped_storage()}, buffer)
    buffer.seek(0)
    back = lib.load(buffer)
    assert (
        back["bytes"].nbytes() == 4
        and back["bytes"].tolist() == [0, 1, 2, 3]
        and back["bytes"].data_ptr() == back["x"].untyped_storage().data_ptr()
    )
