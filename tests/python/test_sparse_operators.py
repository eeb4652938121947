"""Every operator with sparse arguments, in each place and both families of layouts: it raises an error, or gives what it gives for
the strided tensors. The arguments are those of tests/ops/samples."""

import random
import re
from pathlib import Path

import pytest
import tenon

yaml = pytest.importorskip("yaml")

SAMPLES = Path(__file__).resolve().parent.parent / "ops" / "samples"
DTYPES = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "u8": "uint8", "c64": "complex64", "c128": "complex128", "bool": "bool",
}  # fmt: skip
SPEC = re.compile(r"^(\$|[a-z]+\d*)\[([\d,]*)\](.*)$")
# Their results are not compared: random numbers, numbers of dimensions, the sign of -0, which no sparse tensor keeps, and gradients
# that have the places of a sparse tensor alone.
OTHERS = re.compile(
    r"^(sparse|dense)_dim$|^(mm_mat1_sparse|to_dense|sparse_mask)_backward$|signbit|rand|dropout|normal|bernoulli|uniform|multinomial|poisson|binomial|exponential|cauchy|geometric|empty|resize"
)


def tensor_of(spec, dtype, draw):
    """A tensor of a sample's text, with zeros."""
    kind, sizes, rest = SPEC.match(spec).groups()
    sizes = [int(size) for size in sizes.split(",") if size]
    count = 1
    for size in sizes:
        count *= size
    given = re.search(r"\bv\(([^)]*)\)", rest)
    between = re.search(r"\bin\(([^,]*),([^)]*)\)", rest)
    if given:
        values = [complex(v.replace("i", "j")) if "j" in v else float(v) for v in given[1].split(",") if v]
        values = (values * (count // max(len(values), 1) + 1))[:count]
    elif between:
        values = [draw.randint(int(float(between[1])), int(float(between[2]))) for _ in range(count)]
    else:
        values = [draw.choice([0, 0, 1, 2, 3]) for _ in range(count)]
    name = DTYPES[dtype if kind == "$" else kind]
    return (
        tenon.tensor(values, dtype=tenon.complex128 if name.startswith("complex") else tenon.float64)
        .reshape(sizes)
        .to(getattr(tenon, name))
    )


def rows():
    """(operator, arguments, keyword arguments) with the first dtype of each row."""
    for file in sorted(SAMPLES.glob("*.yaml")):
        for row in yaml.safe_load(file.read_text()) or []:
            if not isinstance(row, dict) or "error" in row:
                continue
            names = row.get("ops") or [row.get("op")]
            for name in filter(None, names):
                about = row.get("args") or [], row.get("kwargs") or {}, (row.get("for") or ["f32"])[0]
                yield name, *about
                base, dot, overload = name.partition(".")
                yield f"{base}_{dot}{overload}", *about


def made(value, dtype, draw):
    if isinstance(value, str) and SPEC.match(value):
        return tensor_of(value, dtype, draw)
    if isinstance(value, list) and value and all(isinstance(v, str) and SPEC.match(v) for v in value):
        return [tensor_of(v, dtype, draw) for v in value]
    return value


def copied(value):
    if isinstance(value, tenon.Tensor):
        return value.clone()
    return [copied(v) for v in value] if isinstance(value, list) else value


def sparse_forms(value):
    """The same as a sparse tensor, or with one in the list."""
    if isinstance(value, list):
        if value and isinstance(value[0], tenon.Tensor):
            for first in sparse_forms(value[0]):
                yield [first, *value[1:]]
            yield [v.to_sparse() for v in value]
        return
    if not isinstance(value, tenon.Tensor):
        return
    yield value.to_sparse()
    if value.dim() == 2:
        yield value.to_sparse_csr()
        yield value.to_sparse_csc()


def strided(value):
    if isinstance(value, tenon.Tensor):
        value = value.detach().to_dense()
        return value.to(tenon.complex128 if value.is_complex() else tenon.float64)
    return [strided(v) for v in value] if isinstance(value, (list, tuple)) else value


def close(mine, wanted):
    if isinstance(wanted, tenon.Tensor):
        return mine.shape == wanted.shape and tenon.allclose(mine, wanted, rtol=2e-2, atol=1e-2, equal_nan=True)
    if isinstance(wanted, list):
        return len(mine) == len(wanted) and all(map(close, mine, wanted))
    return mine == wanted


def call(operator, args, kwargs):
    return strided(operator(*[copied(a) for a in args], **kwargs))


def differences():
    wrong, answered = [], 0
    seen = {}
    for name, args, kwargs, dtype in rows():
        draw = random.Random(len(seen))
        try:
            operator = getattr(tenon.ops.aten, name)
            arguments = [made(a, dtype, draw) for a in args]
            wanted = call(operator, arguments, kwargs)
        except Exception:  # noqa: S112  the row needs more than this reads of it
            continue
        for place, value in enumerate(arguments):
            for form in sparse_forms(value):
                changed = [*arguments]
                changed[place] = form
                try:
                    mine = call(operator, changed, kwargs)
                except Exception as error:
                    seen[type(error).__name__] = seen.get(type(error).__name__, 0) + 1
                    continue
                answered += 1
                layout = form[0].layout if isinstance(form, list) else form.layout
                if not OTHERS.search(name) and not close(mine, wanted):
                    wrong.append(f"{name} {args} {kwargs} place {place} {layout}: {mine} instead of {wanted}"[:600])
    return wrong, answered, seen


@pytest.mark.filterwarnings("ignore")
def test_sparse_arguments():
    wrong, answered, errors = differences()
    assert not wrong, "\n".join(wrong)
    assert answered > 300, errors
    assert errors.get("NotImplementedError", 0) > 1000, errors
