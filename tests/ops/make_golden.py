#!/usr/bin/env python3
"""Writes golden/<family>.json from samples/<family>.yaml: what PyTorch gives for every sample.

Usage: make_golden.py [family...]           (needs torch 2.15, PyYAML and a build; the tests need none of them)

README.md describes the rows. The cells of a tensor come from cells.cpp's generator, repeated here,
so that both programs compute on the same numbers.
"""

import json
import math
import pathlib
import re
import sys
import warnings

import torch
import yaml
from references import REFERENCES

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DTYPES = {
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "c64": torch.complex64,
    "c128": torch.complex128,
    "bool": torch.bool,
}
TOKENS = {dtype: token for token, dtype in DTYPES.items()}
FORMATS = {
    "contiguous_format": torch.contiguous_format,
    "preserve_format": torch.preserve_format,
    "channels_last": torch.channels_last,
}
REDUCTIONS = {"None": 0, "Mean": 1, "Sum": 2}
GRAD_STREAM = 1000  # cells of the gradient of output k come from stream GRAD_STREAM + k
MASK = (1 << 64) - 1


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def draw(stream, index):
    return splitmix64((stream << 32) + index) >> 20


def float_cell(stream, index, low, high):
    return low + (high - low) * ((draw(stream, index) % 4096) + 0.5) / 4096


def int_cell(stream, index, low, high):
    return low + draw(stream, index) % (high - low + 1)


def number(text):
    """The number that `text` spells, of the kind it spells."""
    if text in ("true", "True"):
        return True
    if text in ("false", "False"):
        return False
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if text.endswith("j"):
        return complex(text)
    return float(text)


class Spec:
    """`dtype[sizes] option...`"""

    def __init__(self, text):
        head, *options = text.split()
        match = re.fullmatch(r"(\w+)\[([\d,]*)\]", head)
        if not match:
            raise ValueError(f"not a tensor: {text!r}")
        self.dtype = DTYPES[match[1]]
        self.sizes = [int(s) for s in match[2].split(",") if s]
        self.layout, self.range, self.values, self.stream, self.grad = "", None, None, None, True
        for option in options:
            name, _, inside = option.rstrip(")").partition("(")
            if name == "in":
                self.range = [float(x) for x in inside.split(",")]
            elif name == "v":
                self.values = [number(x) for x in inside.split(",")]
            elif name == "stream":
                self.stream = int(inside)
            elif name == "nograd":
                self.grad = False
            elif name in ("t", "every2", "expand", "cl", "wrapped"):
                self.layout = name
            else:
                raise ValueError(f"unknown option {option!r} of {text!r}")

    def make(self, argument):
        stream = argument if self.stream is None else self.stream
        sizes = list(self.sizes)
        if self.layout == "expand":
            sizes[0] = 1
        count = math.prod(sizes)
        if self.values is not None:
            cells = [self.values[i % len(self.values)] for i in range(count)]
            tensor = torch.tensor(cells, dtype=self.carrier()) if cells else torch.empty(0)
        else:
            tensor = self.drawn(stream, count)
        tensor = tensor.to(self.dtype).reshape(sizes)
        if self.layout == "t":
            tensor = tensor.permute(*reversed(range(tensor.dim()))).contiguous().permute(*reversed(range(tensor.dim())))
        elif self.layout == "every2":
            wide = torch.zeros([*sizes[:-1], sizes[-1] * 2], dtype=self.dtype)
            wide[..., ::2] = tensor
            tensor = wide[..., ::2]
        elif self.layout == "expand":
            tensor = tensor.expand(self.sizes)
        elif self.layout == "cl":
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        return tensor

    def carrier(self):
        if any(isinstance(v, complex) for v in self.values):
            return torch.complex128
        return torch.float64 if any(isinstance(v, float) for v in self.values) else torch.int64

    def drawn(self, stream, count):
        if self.dtype.is_complex:
            low, high = self.range or (-2, 2)
            return torch.tensor(
                [
                    complex(float_cell(stream, 2 * i, low, high), float_cell(stream, 2 * i + 1, low, high))
                    for i in range(count)
                ],
                dtype=torch.complex128,
            )
        if self.dtype.is_floating_point:
            low, high = self.range or (-2, 2)
            return torch.tensor([float_cell(stream, i, low, high) for i in range(count)], dtype=torch.float64)
        default = {torch.bool: (0, 1), torch.uint8: (0, 9)}.get(self.dtype, (-5, 5))
        low, high = (int(x) for x in self.range or default)
        cells = [int_cell(stream, i, low, high) for i in range(count)]
        if self.dtype == torch.uint8:
            cells = [abs(c) for c in cells]
        return torch.tensor(cells, dtype=torch.int64)


def schemas():
    """Operator -> [(name, type, kwarg_only)] of our own, as ./tenon build generates them."""
    path = ROOT / "build" / "release" / "gen" / "ir.json"
    if not path.exists():
        sys.exit(f"make_golden.py reads {path.relative_to(ROOT)}, which ./tenon build writes")
    return {
        entry["name"]: [
            (
                argument["name"],
                re.sub(r"\(.*?\)", "", argument["schema_type"]).replace("SymInt", "int"),
                argument["kwarg_only"],
            )
            for argument in entry["forms"][0]["arguments"]
        ]
        for entry in json.loads(path.read_text())["operators"]
    }


class Call:
    """A row's arguments for one dtype, as Python objects; `tensors` lists the tensors in order."""

    def __init__(self, row, dtype, arguments, leaves=False):
        self.tensors, self.leaves, self.grads = [], leaves, []
        self.args, self.kwargs = [], {}
        self.dtype = dtype
        by_name = dict((name, (type_, kw)) for name, type_, kw in arguments)
        for node, (_, type_, _) in zip(row.get("args", []), arguments):
            self.args.append(self.value(node, type_))
        for name, node in row.get("kwargs", {}).items():
            self.kwargs[name] = self.value(node, by_name[name][0])

    def tensor(self, text):
        spec = Spec(text.replace("$", self.dtype))
        tensor = spec.make(len(self.tensors))
        if spec.layout == "wrapped":
            raise ValueError("wrapped numbers have no spelling in Python")
        if self.leaves and spec.grad and (spec.dtype.is_floating_point or spec.dtype.is_complex):
            tensor.requires_grad_()
            self.grads.append(len(self.tensors))
        self.tensors.append(tensor)
        return tensor

    def value(self, node, type_):
        optional = type_.endswith("?") and node == "~"
        type_ = type_.removesuffix("?")
        if optional:
            return None
        if "[" in type_:
            base, count = type_[: type_.index("[")], type_[type_.index("[") + 1 : -1]
            if not isinstance(node, list):
                return [self.value(node, base)] * int(count or 1)
            return [self.value(n, type_[: type_.rindex("[")]) for n in node]
        if type_ == "Tensor":
            return self.tensor(node)
        if type_ == "Scalar":
            return number(node)
        if type_ == "int":
            return REDUCTIONS[node] if node in REDUCTIONS else int(node)
        if type_ == "float":
            return float(node)
        if type_ == "bool":
            return node in ("true", "True")
        if type_ == "str":
            return node
        if type_ == "ScalarType":
            return DTYPES[node.replace("$", self.dtype)]
        if type_ == "MemoryFormat":
            return FORMATS[node]
        if type_ == "Layout":
            return torch.strided
        if type_ == "Device":
            return torch.device(node)
        if type_ == "Generator":
            return torch.Generator().manual_seed(int(node))
        raise ValueError(f"no spelling for {type_}")


def operator(name):
    if name in REFERENCES:
        return REFERENCES[name]
    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def writes_self(name):
    return name.partition(".")[0].endswith("_")


def cell_text(value, dtype):
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    digits = {torch.float16: 5, torch.bfloat16: 4, torch.float32: 9, torch.complex64: 9}.get(dtype, 17)
    for d in range(1, digits + 1):
        if float(f"{value:.{d}g}") == value:
            return float(f"{value:.{d}g}")
    return float(f"{value:.{digits}g}")


def record(tensor, with_values=True):
    flat = tensor.detach().contiguous().reshape(-1)
    if tensor.dtype.is_complex:
        values = [cell_text(p, tensor.dtype) for c in flat.tolist() for p in (c.real, c.imag)]
    elif tensor.dtype.is_floating_point:
        values = [cell_text(c, tensor.dtype) for c in flat.tolist()]
    else:
        values = [int(c) for c in flat.tolist()]
    entry = {"d": TOKENS[tensor.dtype], "s": list(tensor.shape)}
    if not tensor.is_contiguous():
        entry["st"] = list(tensor.stride())
    if with_values:
        entry["v"] = values
    return entry


def plain(value):
    if isinstance(value, complex):
        return [value.real, value.imag]
    return cell_text(value, torch.float64) if isinstance(value, float) else value


def flatten(result):
    if isinstance(result, (tuple, list)):
        return [t for r in result for t in flatten(r)]
    return [result]


def message(error):
    return re.sub(r"\s+", " ", str(error).split("\n")[0])[:100]


def run(row, name, dtype, arguments):
    op = operator(name)
    torch.manual_seed(int(row.get("seed", 0)))
    call = Call(row, dtype, arguments)
    before = [t.clone() for t in call.tensors]
    try:
        with torch.no_grad():
            outputs = op(*call.args, **call.kwargs)
            outputs = [] if outputs is None else flatten(outputs)  # a schema with `-> ()`
    except Exception as error:  # whatever torch says is the golden answer
        return {"error": message(error)}
    entry = {"out": []}
    for out in outputs:
        if isinstance(out, torch.Tensor):
            one = record(out, row.get("values") != "false")
            owners = [
                i
                for i, t in enumerate(call.tensors)
                if t.numel() and out.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
            ]
            if owners:
                one["of"] = owners[0]
            entry["out"].append(one)
        elif out is None:
            entry["out"].append(None)
        else:
            entry["out"].append({"scalar": plain(out)})
    first = 1 if writes_self(name) and not isinstance(call.args[0], list) else 0
    changed = {
        str(i): record(t)
        for i, (t, b) in enumerate(zip(call.tensors, before))
        if i >= first and not torch.equal(t.nan_to_num(), b.nan_to_num())
    }
    if changed:
        entry["changed"] = changed
    if row.get("grad") == "false":
        return entry
    torch.manual_seed(int(row.get("seed", 0)))
    call = Call(row, dtype, arguments, leaves=True)
    if not call.grads:
        return entry
    try:
        args = list(call.args)
        if writes_self(name):
            args[0] = args[0].clone()
        outputs = [t for t in flatten(op(*args, **call.kwargs))]
        roots = [(k, t) for k, t in enumerate(outputs) if isinstance(t, torch.Tensor) and t.requires_grad]
        if not roots:
            return entry
        gradients = []
        for k, t in roots:
            spec = Spec(f"{TOKENS[t.dtype]}[{','.join(map(str, t.shape))}] in(-1,1) stream({GRAD_STREAM + k})")
            gradients.append(spec.make(0))
        leaves = [call.tensors[i] for i in call.grads]
        found = torch.autograd.grad([t for _, t in roots], leaves, gradients, allow_unused=True)
        entry["roots"] = [k for k, _ in roots]
        entry["grad"] = {str(i): None if g is None else record(g) for i, g in zip(call.grads, found)}
        for g in entry["grad"].values():
            if g:
                g.pop("st", None)
    except Exception as error:
        entry["grad_error"] = message(error)
    return entry


def line_hash(line):
    """FNV-1a of the row's line: part of its golden's key, so that a changed row has no golden."""
    value = 0x811C9DC5
    for byte in line.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return f"{value:08x}"


def rows_of(path):
    """(line, row) for each row, which is one line of the file."""
    text = path.read_text()
    lines = text.splitlines()
    node = yaml.compose(text)
    rows = yaml.load(text, Loader=yaml.BaseLoader)
    return [(lines[child.start_mark.line].strip(), row) for child, row in zip(node.value, rows)]


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    known = schemas()
    families = sys.argv[1:] or sorted(p.stem for p in (HERE / "samples").glob("*.yaml"))
    seen, errors = set(), []
    for family in families:
        golden = {}
        for line, row in rows_of(HERE / "samples" / f"{family}.yaml"):
            for name in row.get("ops") or [row["op"]]:
                if name not in known:
                    errors.append(f"{family}: no operator {name}")
                    continue
                seen.add(name)
                for dtype in row.get("for") or [""]:
                    key = " ".join(x for x in (name, dtype, line_hash(line)) if x)
                    try:
                        golden[key] = run(row, name, dtype, known[name])
                    except Exception as error:
                        errors.append(f"{family}: {name} {dtype}: {line}: {error!r}")
                    if "error" in golden.get(key, {}) and "error" not in row and not row.get("for"):
                        errors.append(f"{family}: {name}: {line}: torch raises {golden[key]['error']}")
        lines = ",\n".join(f" {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in golden.items())
        (HERE / "golden" / f"{family}.json").write_text(
            f'{{"torch": "{torch.__version__}", "rows": {{\n{lines}\n}}}}\n'
        )
        print(f"{family}: {len(golden)} samples")
    if not sys.argv[1:]:
        errors += [f"no row for {name}" for name in known if name not in seen]
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
