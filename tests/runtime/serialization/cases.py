"""The values of cases.cpp, made with PyTorch."""

import collections

import torch

OD = collections.OrderedDict


def floats(n):
    return torch.arange(n, dtype=torch.float32)


def counting(dtype, *sizes):
    n = torch.empty(sizes, dtype=dtype).untyped_storage().nbytes()
    values = [i % 2 for i in range(n)] if dtype == torch.bool else [i % 256 for i in range(n)]
    return torch.tensor(values, dtype=torch.uint8).view(dtype).reshape(sizes)


def fresh(text):
    """A string that is not interned."""
    return text[:1] + text[1:]


def dtypes():
    names = [
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "bool",
    ]
    return {name: counting(getattr(torch, name), 2, 3) for name in names}


def storage_only():
    names = ["float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64"]
    return {name: counting(getattr(torch, name), 3) for name in names}


def numbers():
    return [
        None,
        True,
        False,
        0,
        1,
        -1,
        255,
        256,
        65535,
        65536,
        2**31 - 1,
        -(2**31),
        2**31,
        -(2**31) - 1,
        2**63 - 1,
        -(2**63),
        2**40,
        -128,
        -32769,
        -2147483649,
        2**63,
        -(2**63) - 1,
        2**64,
        -(2**64),
        2**100,
        2**2100,
        -(2**2100),
        0.0,
        -0.0,
        1.5,
        -2.25e-300,
        1e300,
        float("inf"),
        -float("inf"),
        float("nan"),
        complex(1.5, -2),
    ]


def strings():
    same = fresh("same object")
    return [
        "",
        "a",
        "a",
        fresh("fresh"),
        fresh("fresh"),
        same,
        same,
        "\u00e9",
        "\u00e9",
        "na\u00efve \u4e2d\u6587 \U0001f600",
        "x" * 300,
        "cpu",
        "storage",
        b"x",
        bytes([120]),
        bytes([0, 127, 128, 255]),
        bytearray(b"abc"),
        bytearray(),
        bytearray(b"\xfe\xff"),
    ]


def containers():
    shared = [1, 2]
    pair = (1, shared)
    return {
        "list": [],
        "one": [1],
        "tuple": ((), tuple([1]), tuple([1, 2]), tuple([1, 2, 3]), tuple([1, 2, 3, 4])),
        "dict": {},
        3: {tuple([1, "x"]): 2},
        None: pair,
        True: pair,
        2.5: shared,
        "ordered": OD([("b", 1), ("a", 2)]),
        "ordered one": OD([("b", 1)]),
        "counter": collections.Counter({"x": 2, "y": 1}),
        "set": {5},
        "no set": set(),
    }


def python_types():
    return [frozenset([7]), slice(1, None, 2), range(0, 10, 3), frozenset()]


def torch_types():
    size = torch.Size([2, 3])
    return [
        size,
        size,
        torch.Size([]),
        torch.float32,
        torch.int64,
        torch.float32,
        torch.bool,
        torch.device("cpu"),
        torch.device("cuda", 1),
        torch.device("cpu"),
        torch.strided,
        torch.sparse_coo,
        torch.strided,
        torch.float8_e4m3fn,
    ]


def recursive():
    a = [1]
    a.append(a)
    d = {}
    d["self"] = d
    inner = []
    t = (1, inner)
    inner.append(t)
    inner4 = []
    t4 = (1, 2, 3, inner4)
    inner4.append(t4)
    return [a, d, t, t4, inner]


def batches():
    result = []
    for n in (999, 1000, 1001, 2000, 2001):
        result += [list(range(n)), dict.fromkeys(range(n)), OD.fromkeys(range(n))]
    return result


def views():
    base = floats(12)
    other = torch.ones(4, dtype=torch.float64)
    matrix = base.view(3, 4)
    return {
        "base": base,
        "slice": base[2:8:2],
        "matrix": matrix,
        "transposed": matrix.t(),
        "same": base,
        "row": matrix[1],
        "expanded": other[2].expand(2, 2),
        "other": other,
        "last": base[12:12],
    }


def kinds():
    weight = floats(6).reshape(2, 3)
    parameter = torch.nn.Parameter(floats(3))
    frozen = torch.nn.Parameter(weight, requires_grad=False)
    named = floats(2)
    named.note = "hello"
    named_parameter = torch.nn.Parameter(floats(2))
    named_parameter.note = [1]
    leaf = floats(2).requires_grad_()
    return {
        "scalar": torch.tensor(3),
        "empty": torch.zeros(0, 3),
        "empties": torch.zeros(0, dtype=torch.int32),
        "five": torch.ones(1, 1, 1, 2, 3, dtype=torch.bfloat16),
        "grad": leaf,
        "non-leaf": leaf * 2,
        "parameter": parameter,
        "again": parameter,
        "frozen": frozen,
        "its data": weight,
        "attributes": named,
        "parameter attributes": named_parameter,
        "meta": torch.empty(2, 3, dtype=torch.float16, device="meta"),
        "meta0": torch.empty((), device="meta"),
    }


def storages():
    t, u = floats(4), torch.tensor([1, 2, 3])
    b = counting(torch.float8_e5m2, 5)
    typed = lambda x: x._typed_storage()
    return [typed(t), t, u, typed(u), b.untyped_storage(), b]


def checkpoint():
    model = OD()
    for layer in "01":
        model[layer + ".weight"] = floats(4).reshape(2, 2)
        model[layer + ".bias"] = torch.zeros(2)
    model._metadata = OD((name, {"version": 1}) for name in ("", "0", "1"))
    state = {i: {"step": floats(3)[2].clone(), "exp_avg": torch.zeros(2)} for i in range(2)}
    group = {"lr": 0.001, "betas": (0.9, 0.999), "amsgrad": False, "params": [0, 1]}
    return {"epoch": 3, "model": model, "optimizer": {"state": state, "param_groups": [group]}, "loss": 0.25}


def twelve():
    return {i: torch.ones(1, dtype=torch.int32) * i for i in range(12)}


def tensor():
    return floats(3)


def legacy():
    return checkpoint()


def legacy_one():
    return {"t": floats(3), "u": 7}


NAMES = [
    "dtypes",
    "storage_only",
    "numbers",
    "strings",
    "containers",
    "python_types",
    "torch_types",
    "recursive",
    "batches",
    "views",
    "kinds",
    "storages",
    "checkpoint",
    "twelve",
    "tensor",
    "legacy",
    "legacy_one",
]
# What torch.load refuses with weights_only: three types, ints of more than 255 bytes, tuples that hold
# themselves.
NOT_WEIGHTS_ONLY = {"python_types", "numbers", "recursive"}


def write(name, path):
    """As torch.save writes the case."""
    torch.save(globals()[name](), path, _use_new_zipfile_serialization=not name.startswith("legacy"))
