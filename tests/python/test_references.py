"""Every wrapper gives back each reference that it takes, and leaves no object behind."""

import gc
import os
import random
import re
import sys

import pytest
import tenon

CALLS = int(os.environ.get("TENON_LEAK_CALLS", 300))  # 100000 take some twenty minutes
ATTEMPTS = 200
FORM = re.compile(r"^\w+\((.*)\) -> ", re.M)
PARAMETER = re.compile(r"(?:(\*)|([\w ]+\??) (\w+)(=(?:\[[^]]*\]|\"[^\"]*\"|[^,]*))?)(?:, |$)")
# What leaves something behind for other tests.
LEFT_OUT = {"set_default_dtype"}


def _tensors():
    make = tenon.Generator().manual_seed(0)
    sizes = [(3, 3), (3,), (), (2, 3), (2, 2, 5), (2, 2, 5, 5), (1, 2, 4, 4, 4), (1, 3, 3), (9,)]
    floats = [tenon.rand(size, generator=make) for size in sizes]
    whole = [
        tenon.zeros(3, dtype=tenon.int64),
        tenon.tensor(1),
        tenon.ones(3, 3, dtype=tenon.int64),
        tenon.zeros(2, 3, dtype=tenon.int64),
    ]
    others = [
        tenon.ones(3, 3, dtype=tenon.bool),
        tenon.ones(3, dtype=tenon.complex64),
        tenon.ones(3, dtype=tenon.float64),
    ]
    return floats * 2 + whole + others


VALUES = {
    "int": [0, 1, 2, -1, 3],
    "float": [0.5, 1.5, 0.25],
    "bool": [False, True],
    "Number": [2, 0.5, 1],
    "str": ["mean", "none", "sum", "floor", "constant", "linear", "tanh", "fro", "ij"],
    "dtype": [tenon.float32, tenon.float64, tenon.int64],
    "layout": [tenon.strided],
    "device": [tenon.device("cpu")],
    "memory_format": [tenon.contiguous_format],
    "Generator": [tenon.Generator()],
}


def _value(kind, rng, tensors):
    kind = kind.rstrip("?")
    if kind == "Tensor":
        return rng.choice(tensors)
    if kind.startswith("tuple of "):
        element = kind.removeprefix("tuple of ").removesuffix("s")
        if rng.random() < 0.7:
            return [_value(element, rng, tensors)] * rng.choice([1, 2, 2, 3])
        return [_value(element, rng, tensors) for _ in range(rng.choice([1, 2, 3, 4, 6]))]
    return rng.choice(VALUES[kind])


def _arguments(form, rng, tensors):
    """Of one form; what has a default is given now and then."""
    args, names, by_name = [], {}, False
    for star, kind, name, default in PARAMETER.findall(form):
        if star or default and rng.random() < 0.8:
            by_name = True
        elif by_name:
            value = _value(kind, rng, tensors)
            # An output that is an input as well could grow by every call.
            names[name] = value.clone() if name == "out" and isinstance(value, tenon.Tensor) else value
        else:
            args.append(_value(kind, rng, tensors))
    return args, names


def _wrappers():
    kind, descriptor = type(tenon._C.add), type(tenon.Tensor.add)
    for module in (tenon._C, tenon._C._fft, tenon._C._nn, tenon._C._linalg, tenon._C._special):
        for name, function in sorted(vars(module).items()):
            if isinstance(function, kind) and not name.startswith("_") and name not in LEFT_OUT:
                yield f"{module.__name__}.{name}", function
    for name, method in sorted(vars(tenon.Tensor).items()):
        if isinstance(method, descriptor) and not name.startswith("_"):
            yield f"Tensor.{name}", method


WRAPPERS = list(_wrappers())
ERRORS = (
    TypeError,
    ValueError,
    RuntimeError,
    IndexError,
    NotImplementedError,
    AttributeError,
    OverflowError,
    MemoryError,
)


def _a_call(function, rng):
    """Arguments that the function takes, and some that it does not; None where there are none."""
    taken, refused, tensors = None, None, _tensors()
    forms = FORM.findall(function.__doc__ or "")
    for _ in range(ATTEMPTS if forms else 0):
        args, names = _arguments(rng.choice(forms), rng, tensors)
        try:
            function(*args, **names)
            taken = taken or (args, names)
        except ERRORS:
            refused = refused or (args, names)
        if taken and refused:
            break
    return taken, refused


def _held(args, names):
    """Each object among the arguments, and each element of the lists among them."""
    objects = [*args, *names.values()]
    objects += [e for o in objects if isinstance(o, list) for e in o]
    return {id(o): o for o in objects if isinstance(o, (tenon.Tensor, list))}.values()


def _call(function, args, names, count):
    for _ in range(count):
        try:
            function(*args, **names)
        except ERRORS:
            pass


@pytest.mark.parametrize("share", range(4))
@tenon.no_grad()
def test_references_and_objects(share):
    rng = random.Random(share)
    reached, own = 0, WRAPPERS[share::4]
    for name, function in own:
        calls = _a_call(function, rng)
        reached += calls[0] is not None
        for call in calls:
            if call is None:
                continue
            held = list(_held(*call))
            _call(function, *call, 3)
            gc.collect(0)
            references, blocks = [sys.getrefcount(o) for o in held], sys.getallocatedblocks()
            _call(function, *call, CALLS)
            gc.collect(0)
            assert [sys.getrefcount(o) for o in held] == references, name
            assert sys.getallocatedblocks() - blocks < CALLS / 2, name
    assert len(own) > 150 and reached > 0.8 * len(own)
