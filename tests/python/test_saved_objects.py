"""Parameters, subclasses, modules and other objects in files."""

import argparse
import collections
import dataclasses
import datetime
import enum
import io
import pathlib

import numpy as np
import pytest
import tenon


class Tagged(tenon.Tensor):
    pass


class Net(tenon.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = tenon.nn.Sequential(tenon.nn.Linear(2, 3), tenon.nn.ReLU(), tenon.nn.BatchNorm1d(3))
        self.scale = 2

    def forward(self, x):
        return self.layers(x) * self.scale


@dataclasses.dataclass
class Point:
    x: int
    y: object


class Noisy:
    made = 0

    def __init__(self):
        Noisy.made += 1


@pytest.fixture(autouse=True)
def nothing_allowed():
    yield
    tenon.serialization.clear_safe_globals()


def saved(value, lib=tenon, **options):
    buffer = io.BytesIO()
    lib.save(value, buffer, **options)
    buffer.seek(0)
    return buffer


def again(value, lib=tenon, **options):
    return lib.load(saved(value, lib), **options)


# ---- tensors ----


def test_parameters_stay_parameters(lib):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0]), requires_grad=False)
    q = lib.nn.Parameter(lib.ones(2))
    q.tag = [1, "a"]
    one, two, three = again([p, q, q], lib)
    assert type(one) is lib.nn.Parameter and one.tolist() == [1, 2] and not one.requires_grad
    assert type(two) is lib.nn.Parameter and two.requires_grad and two.is_leaf and two.tag == [1, "a"] and two is three


def test_attributes_of_tensors_stay(lib):
    x = lib.ones(2, requires_grad=True)
    x.tag = {"a": [x.detach()]}
    y = again([x, x], lib)[1]
    assert type(y) is lib.Tensor and y.requires_grad and y.tag["a"][0].tolist() == [1, 1]
    y.tag["a"][0][0] = 5
    assert y.tolist() == [5, 1]


def test_buffers(lib):
    b = lib.nn.Buffer(lib.ones(2), persistent=False)
    assert type(b) is lib.Tensor and isinstance(b, lib.nn.Buffer) and not isinstance(lib.ones(2), lib.nn.Buffer)
    c = again(b, lib)
    assert isinstance(c, lib.nn.Buffer) and not c.persistent
    net = lib.nn.Module()
    net.b, net.c = b, lib.nn.Buffer(lib.zeros(1))
    assert list(net.state_dict()) == ["c"] and [n for n, _ in net.named_buffers()] == ["b", "c"]


def test_parameters_of_subclasses_stay_of_their_class(lib):
    cls = type("Sub", (lib.Tensor,), {})
    p = lib.nn.Parameter(lib.ones(2).as_subclass(cls))
    assert type(p) is cls and isinstance(p, lib.nn.Parameter) and p.requires_grad and p.is_leaf
    assert not isinstance(lib.ones(2).as_subclass(cls), lib.nn.Parameter)
    net = lib.nn.Module()
    net.p = p
    assert dict(net.named_parameters())["p"] is p
    assert lib.nn.Parameter().shape == (0,)


def test_subclasses():
    x = tenon.ones(2).as_subclass(Tagged)
    x.tag = 1
    p = tenon.nn.Parameter(tenon.zeros(2).as_subclass(Tagged))
    file = saved({"x": x, "p": p})
    with pytest.raises(RuntimeError, match="Weights only load failed.*GLOBAL .*test_saved_objects.Tagged"):
        tenon.load(file)
    for allowed in (True, False):
        file.seek(0)
        if allowed:
            with tenon.serialization.safe_globals([Tagged]):
                back = tenon.load(file)
        else:
            back = tenon.load(file, weights_only=False)
        assert type(back["x"]) is Tagged and back["x"].tag == 1 and back["x"].tolist() == [1, 1]
        assert type(back["p"]) is Tagged and isinstance(back["p"], tenon.nn.Parameter) and back["p"].requires_grad


def test_layouts():
    assert again({"l": tenon.strided})["l"] is tenon.strided


# ---- modules ----


def test_whole_modules():
    net = Net().eval()
    x = tenon.randn(4, 2)
    file = saved({"net": net})
    with pytest.raises(RuntimeError, match="add_safe_globals"):
        tenon.load(file)
    file.seek(0)
    other = tenon.load(file, weights_only=False)["net"]
    assert type(other) is Net and not other.training and other.scale == 2 and other(x).tolist() == net(x).tolist()
    assert [type(p) for p in other.parameters()] == [tenon.nn.Parameter] * 4
    tenon.serialization.add_safe_globals(
        [Net, tenon.nn.Sequential, tenon.nn.Linear, tenon.nn.ReLU, tenon.nn.BatchNorm1d]
    )
    file.seek(0)
    assert type(tenon.load(file)["net"]) is Net


def test_modules_of_classes_that_are_not_there_are_named(tmp_path):
    file = (
        saved(Net(), _use_new_zipfile_serialization=False)
        .getvalue()
        .replace(b"test_saved_objects\nNet", b"test_saved_objects\nGon")
    )
    path = tmp_path / "net.pt"
    path.write_bytes(file)
    with pytest.raises(RuntimeError, match="test_saved_objects.Gon"):
        tenon.load(path, weights_only=False)


def test_whole_modules_beside_pytorch():
    torch = pytest.importorskip("torch")
    for name, args, shape in (
        ("Linear", (2, 3), (4, 2)),
        ("BatchNorm1d", (2,), (4, 2)),
        ("Embedding", (5, 2), None),
        ("LayerNorm", (2,), (4, 2)),
        ("Conv2d", (1, 2, 2), (1, 1, 4, 4)),
        ("Dropout", (0.5,), (4, 2)),
        ("GELU", (), (4, 2)),
        ("MaxPool2d", (2,), (1, 1, 4, 4)),
        ("Softmax", (1,), (4, 2)),
        ("Flatten", (), (4, 2)),
        ("GroupNorm", (1, 2), (4, 2)),
    ):
        for writes, reads in ((tenon, torch), (torch, tenon)):
            net = getattr(writes.nn, name)(*args).eval()
            x = (
                [[0, 1]]
                if shape is None
                else np.random.default_rng(0).standard_normal(shape).astype(np.float32).tolist()
            )
            other = reads.load(saved(net, writes), weights_only=False)
            assert type(other) is getattr(reads.nn, name)
            assert np.allclose(
                other(reads.tensor(x)).detach().numpy(), net(writes.tensor(x)).detach().numpy(), atol=1e-6
            ), name
    both = writes.nn.Sequential(writes.nn.Linear(2, 2), writes.nn.Tanh())
    other = reads.load(saved(both, writes), weights_only=False)
    assert np.allclose(other(reads.ones(2)).detach().numpy(), both(writes.ones(2)).detach().numpy())


# ---- other objects ----


def test_numpy():
    values = [
        np.float64(0.1),
        np.int8(-3),
        np.arange(6.0).reshape(2, 3)[:, ::2],
        np.array(["a", "bc"]),
        np.array([1, "x"], dtype=object),
        np.dtype("i2"),
    ]
    file = saved(values)
    with pytest.raises(RuntimeError, match=r'add_safe_globals\(\{"numpy\._?core\.multiarray\.scalar"\}\)'):
        tenon.load(file)
    file.seek(0)
    back = tenon.load(file, weights_only=False)
    for one, two in zip(values, back):
        assert (
            type(one) is type(two)
            and np.array_equal(one, two)
            and getattr(one, "dtype", None) == getattr(two, "dtype", None)
        )


def test_the_advice_of_an_error_can_be_followed():
    import re

    file = saved({"loss": np.float64(0.1)})
    for _ in range(3):
        file.seek(0)
        try:
            back = tenon.load(file)
            break
        except RuntimeError as error:
            tenon.add_safe_globals(eval(re.search(r"add_safe_globals\((.*)\)", str(error))[1]))
    assert back["loss"] == np.float64(0.1) and type(back["loss"]) is np.float64
    assert np.dtype in tenon.get_safe_globals()
    tenon.clear_safe_globals()
    file.seek(0)
    with pytest.raises(RuntimeError, match="Weights only"):
        tenon.load(file)
    tenon.serialization.add_safe_globals([np._core.multiarray.scalar, np.dtype, np.dtypes.Float64DType])
    file.seek(0)
    assert tenon.load(file) == {"loss": 0.1}


def test_objects_that_hold_data():
    values = [
        argparse.Namespace(lr=0.1, t=tenon.ones(1)),
        pathlib.PurePosixPath("a/b"),
        datetime.date(2020, 2, 3),
        datetime.datetime(2020, 2, 3, 4, tzinfo=datetime.timezone.utc),
        datetime.timedelta(seconds=5),
    ]
    values += [collections.defaultdict(list, a=[1], b=[]), collections.deque([1, 2], 3), collections.deque(range(2500))]
    back = again(values, weights_only=False)
    assert (
        back[1:] == values[1:]
        and back[-3].default_factory is list
        and back[-2].maxlen == 3
        and back[0].lr == 0.1
        and back[0].t.tolist() == [1]
    )


def test_own_classes():
    p = Point(1, None)
    p.y = p
    file = saved([p, p, Point, collections.OrderedDict])
    with pytest.raises(RuntimeError, match="test_saved_objects.Point"):
        tenon.load(file)
    file.seek(0)
    a, b, cls, ordered = tenon.load(file, weights_only=False)
    assert type(a) is Point and a is b and a.y is a and cls is Point and ordered is collections.OrderedDict
    for given in (
        [Point],
        {f"{Point.__module__}.Point"},
        [(Point, f"{Point.__module__}.Point")],
        f"{Point.__module__}.Point",
    ):
        tenon.serialization.add_safe_globals(given)
        file.seek(0)
        a, b, cls, ordered = tenon.load(file)
        assert (
            type(a) is Point
            and a is b
            and a.y is a
            and a.x == 1
            and cls is Point
            and ordered is collections.OrderedDict
        )
        tenon.serialization.clear_safe_globals()
    for wrong, what in (("nowhere.Point", "nowhere"), ("os.system", "blocked"), (lambda: 1, "place in a module")):
        with pytest.raises((ValueError, TypeError), match=what):
            tenon.serialization.add_safe_globals([wrong])


def test_constructors_do_not_run():
    made = Noisy.made
    file = saved(Noisy())
    tenon.serialization.add_safe_globals([Noisy])
    assert type(tenon.load(file)) is Noisy and Noisy.made == made + 1


class Dropped:
    def __del__(self):
        Noisy.made += 100


class Kind(enum.Enum):
    GOOD = "good"


def test_objects_that_do_something_when_they_are_dropped_are_not_made():
    with pytest.raises(RuntimeError, match="test_saved_objects.Dropped") as error:
        tenon.load(saved(Dropped()), weights_only=False)
    assert "Weights only" not in str(error.value)


def test_methods_and_members():
    value = {"method": Net.forward, "inner": Outer.Inner, "kind": Kind.GOOD}
    for lib in (tenon, pytest.importorskip("torch")):
        found = tenon.load(saved(value, lib), weights_only=False)
        assert found["method"] is Net.forward and found["inner"] is Outer.Inner and found["kind"] is Kind.GOOD
    with pytest.raises(RuntimeError, match="not an allowed global"):
        tenon.load(saved(value))
    with pytest.raises(TypeError, match="no method, class or member"):
        tenon.load(saved(Asks()), weights_only=False)


class Outer:
    class Inner:
        pass


class Asks:
    def __reduce__(self):
        return getattr, (Noisy, "made")


def test_what_cannot_be_saved_is_named():
    class Local:
        pass

    for value, what in ((Local(), "Local"), (lambda: 1, "lambda"), (open(__file__), "TextIOWrapper"), (io, "module")):
        with pytest.raises(TypeError, match=what):
            saved({"a": value})


def test_what_has_no_counterpart_is_named_with_its_place(tmp_path):
    torch = pytest.importorskip("torch")
    for value, what in (
        ({"a": [torch.per_tensor_affine]}, r"\['a'\]\[0\].*torch.per_tensor_affine"),
        ({"l": torch.jagged}, r"\['l'\].*jagged"),
    ):
        with pytest.raises(TypeError, match=what):
            tenon.load(saved(value, torch))


def test_code_is_not_run_with_weights_only_false(tmp_path):
    import os
    import pickle
    import subprocess

    class Evil:
        def __init__(self, function, args):
            self.parts = function, args

        def __reduce__(self):
            return self.parts

    calls = [
        (os.system, (f"touch {tmp_path}/done",)),
        (eval, (f"open('{tmp_path}/done', 'w')",)),
        (subprocess.call, (["touch", f"{tmp_path}/done"],)),
        (Net, ()),
        (np.load, (f"{tmp_path}/done",)),
    ]
    for call in calls:
        path = tmp_path / "evil.pt"
        head = b"".join(pickle.dumps(v, protocol=2) for v in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
        path.write_bytes(head + pickle.dumps(Evil(*call), protocol=2) + pickle.dumps([], protocol=2))
        for weights_only in (True, False):
            with pytest.raises((RuntimeError, TypeError), match="GLOBAL|class"):
                tenon.load(path, weights_only=weights_only)
        assert not (tmp_path / "done").exists()


# ---- beside PyTorch ----


def test_files_go_both_ways():
    torch = pytest.importorskip("torch")
    for writes, reads in ((tenon, torch), (torch, tenon)):
        p = writes.nn.Parameter(writes.tensor([1.0, 2.0]))
        q = writes.nn.Parameter(writes.ones(2), requires_grad=False)
        q.tag = "a"
        x = writes.ones(2)
        x.tag = [1]
        b = writes.nn.Buffer(writes.ones(1), persistent=False)
        value = {
            "p": p,
            "q": q,
            "x": x,
            "b": b,
            "l": writes.strided,
            "s": "\ud800",
            "n": 10**600,
            "st": writes.arange(3).storage(),
        }
        for zipped in (True, False):
            back = reads.load(saved(value, writes, _use_new_zipfile_serialization=zipped))
            assert type(back["p"]) is reads.nn.Parameter and back["p"].requires_grad and back["p"].tolist() == [1, 2]
            assert type(back["q"]) is reads.nn.Parameter and not back["q"].requires_grad and back["q"].tag == "a"
            assert type(back["x"]) is reads.Tensor and back["x"].tag == [1]
            assert isinstance(back["b"], reads.nn.Buffer) and not back["b"].persistent
            assert back["l"] is reads.strided and back["s"] == "\ud800" and back["n"] == 10**600
            assert type(back["st"]).__name__ == "TypedStorage" and back["st"].tolist() == [0, 1, 2]
        objects = {
            "a": np.float64(2),
            "b": np.arange(3),
            "n": argparse.Namespace(x=1),
            "d": datetime.date(2020, 1, 2),
            "f": collections.defaultdict(dict, {i: 1 for i in range(1001)}),
            "q": collections.deque("ab"),
        }
        back = reads.load(saved(objects, writes), weights_only=False)
        assert (
            back["a"] == 2
            and back["b"].tolist() == [0, 1, 2]
            and back["n"] == objects["n"]
            and back["d"] == objects["d"]
        )
        assert back["f"] == objects["f"] and back["f"].default_factory is dict and back["q"] == objects["q"]
