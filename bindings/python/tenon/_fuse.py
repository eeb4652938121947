"""What fuse() does: traces a function on meta tensors and builds it as a composition that fuses."""

import functools
import hashlib
import os
import re
import sys
import threading
import warnings

import tenon
from tenon import _C
from tenon._ops import load_operators

_NAMESPACE = "fused"
_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "true_divide": "/"} | {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "__and__": "&", "__or__": "|", "__xor__": "^"
}  # fmt: skip
_REVERSED = {"__rsub__": "-", "__rtruediv__": "/"}
_NAMES = {"__invert__": "bitwise_not", "bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__"}
_READS_VALUES = {"__bool__", "__int__", "__float__", "__index__", "__complex__", "__contains__", "__array__"} | {
    "item", "tolist", "numpy", "nonzero", "masked_select", "unique", "is_nonzero", "equal", "allclose"
}  # fmt: skip
_DTYPES = {
    tenon.float32: "kFloat",
    tenon.float64: "kDouble",
    tenon.float16: "kHalf",
    tenon.bfloat16: "kBFloat16",
    tenon.int64: "kLong",
    tenon.int32: "kInt",
    tenon.bool: "kBool",
}


def _place():
    """The user's line that is being run: "block.py:12: `if x.sum() > 0:`"."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    import linecache

    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: `{line}`"


@functools.cache
def _schemas(name):
    """The argument lists of the operators of a base name, as (type, name, default)."""
    result = []
    for full, schema in _C._operator_schemas(f"aten::{name}"):
        if full != f"aten::{name}" or "!" in schema:
            continue
        inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
        arguments = []
        for part in re.split(r", (?![^\[(]*[\])])", inside) if inside else []:
            if part != "*":
                kind, _, rest = part.rpartition(" ")
                arguments.append((re.sub(r"\(\w\)", "", kind), *rest.partition("=")[::2]))
        result.append(arguments)
    return result


def _fits(kind, value):
    if value is None:
        return kind.endswith("?")
    kind = kind.rstrip("?")
    if "[" in kind:
        listed = isinstance(value, (list, tuple))
        return (
            listed
            and all(_fits(kind.partition("[")[0], one) for one in value)
            or (kind.startswith(("int[1", "SymInt[1")) and _fits("int", value))
        )
    if kind == "Tensor":
        return isinstance(value, _C.Tensor)
    if isinstance(value, bool):
        return kind in ("bool", "Scalar")
    if isinstance(value, int):
        return kind in ("int", "SymInt", "Scalar", "float")
    if isinstance(value, float):
        return kind in ("float", "Scalar")
    if isinstance(value, str):
        return kind == "str"
    return kind == "ScalarType" and value in _DTYPES


def _bound(schema, args, kwargs):
    """The arguments in the schema's order, as (type, value); None if they do not fit."""
    names = [name for _, name, _ in schema]
    if len(args) > len(schema) or not set(kwargs) <= set(names[len(args) :]):
        return None
    values, default = [], object()
    for position, (kind, name, text) in enumerate(schema):
        value = args[position] if position < len(args) else kwargs.get(name, default)
        if value is default and not text:
            return None
        if value is not default and not _fits(kind, value):
            return None
        left_out = value is default or (value is None and text == "None")
        values.append((kind, text if left_out else value, left_out))
    while values and values[-1][2]:
        values.pop()
    return values


class _Trace:
    """The operators that a function has called, as locals of a composition."""

    def __init__(self):
        self.locals = []  # (name, text)
        self.inputs = []  # the tensors that it reads, and their names
        self.captured = []

    def tensor(self, value, text):
        # A meta tensor of the same geometry, whatever the class of the value.
        with _C._DisableTorchFunctionSubclass():
            meta = tenon.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        traced = meta.as_subclass(_Traced)
        traced.trace, traced.text = self, text
        return traced

    def input(self, value):
        self.inputs.append(value)
        return self.tensor(value, f"a{len(self.inputs) - 1}")

    def capture(self, value):
        for known, traced in self.captured:
            if known is value:
                return traced
        self.captured.append((value, self.tensor(value, f"c{len(self.captured)}")))
        return self.captured[-1][1]

    def traced(self, value):
        """The value with a traced tensor for each tensor in it."""
        if isinstance(value, (list, tuple)) and not isinstance(value, _C.Size):
            return type(value)(self.traced(one) for one in value)
        return self.capture(value) if isinstance(value, _C.Tensor) and type(value) is not _Traced else value

    def text(self, value, kind=""):
        if isinstance(value, _C.Tensor):
            return value.text
        if value is None:
            return "{}"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            if "[" in kind:
                return f"{{{value}}}"
            number = repr(float(value)) if kind == "float" else repr(value)
            return f"({number})" if number.startswith("-") and not kind else number
        if isinstance(value, str):
            return f'"{value}"'
        if isinstance(value, (list, tuple)):
            return "{" + ", ".join(self.text(one, kind.partition("[")[0] or "one") for one in value) + "}"
        return _DTYPES[value]

    def call(self, name, args, kwargs):
        """The text of a call of the operator."""
        name = _NAMES.get(name, name)
        if name in _BINARY and len(args) == 2 and not kwargs:
            return f"{self.text(args[0])} {_BINARY[name]} {self.text(args[1])}"
        if name in _REVERSED:
            return f"{self.text(args[1])} {_REVERSED[name]} {self.text(args[0])}"
        if name == "neg":
            return f"-{self.text(args[0])}"
        if name == "__rpow__":
            name, args = "pow", args[::-1]
        if name == "clamp" and kwargs.get("min", args[1] if len(args) > 1 else None) is None:
            name, args, kwargs = "clamp_max", (args[0], kwargs["max"] if "max" in kwargs else args[2]), {}
        # x.reshape(2, 3) is x.reshape((2, 3)).
        for given in (args, (args[0], list(args[1:]))):
            for schema in _schemas(name):
                values = _bound(schema, given, kwargs)
                if values is not None:
                    return f"{name}({', '.join(self._argument(*one) for one in values)})"
        raise RuntimeError(f"[fuse] {_place()}: there is no operator {name} of these arguments to trace")

    def _argument(self, kind, value, is_default):
        if not is_default:
            return self.text(value, kind)
        words = {"None": "{}", "True": "true", "False": "false", "[]": "{}", "Mean": "1"}
        return words.get(value, value.replace("[", "{").replace("]", "}"))

    def record(self, text, result):
        if isinstance(result, (list, tuple)):
            several = isinstance(result, list)
            if not several:
                text = self.name(text)
            return type(result)(
                self.tensor(one, f"{text}[{i}]" if several else f"std::get<{i}>({text})")
                for i, one in enumerate(result)
            )
        return self.tensor(result, self.name(text))

    def name(self, text):
        self.locals.append((f"v{len(self.locals)}", text))
        return self.locals[-1][0]

    def index(self, x, index):
        """x[index] by views, for numbers, slices, None and `...`."""
        items = list(index) if isinstance(index, tuple) else [index]
        if not all(one is None or one is Ellipsis or isinstance(one, (int, slice)) for one in items):
            raise RuntimeError(f"[fuse] {_place()}: an index is a number, a slice, None or `...`")
        taken = sum(isinstance(one, (int, slice)) for one in items)
        if Ellipsis in items:
            at = items.index(Ellipsis)
            items[at : at + 1] = [slice(None)] * (x.dim() - taken)
        dim = 0
        for one in items:
            if one is None:
                x = x.unsqueeze(dim)
            elif isinstance(one, int):
                x = x.select(dim, one)
            elif one != slice(None):
                x = self._slice(x, dim, one)
            dim += not isinstance(one, int)
        return x

    def _slice(self, x, dim, part):
        start, stop, step = part.indices(x.size(dim))
        with _C._DisableTorchFunctionSubclass():
            result = x[(slice(None),) * dim + (part,)]
        return self.record(f"slice({x.text}, {dim}, {start}, {stop}, {step})", result)

    def composition(self, results):
        """The text, without the locals that no result needs."""
        last = results[0].text if len(results) == 1 else f"std::make_tuple({', '.join(one.text for one in results)})"
        needed, lines = set(re.findall(r"\w+", last)), [last]
        for name, text in reversed(self.locals):
            if name in needed:
                needed.update(re.findall(r"\w+", text))
                lines.insert(0, f"{name} = {text};")
        return lines, needed


class _Traced(_C.Tensor):
    """A meta tensor that records what is called with it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, func.__name__
        if hasattr(func, "__wrapped__"):
            return func.__wrapped__(
                *args, **kwargs
            )  # written in Python (overrides.overridable): its operators are traced
        trace = next(one.trace for one in _tensors((args, kwargs)) if type(one) is _Traced)
        if name in _READS_VALUES:
            raise RuntimeError(f"[fuse] {_place()} depends on the values of a tensor, which a trace does not have")
        if name.endswith("_") and not name.endswith("__"):
            raise RuntimeError(f"[fuse] {_place()} writes to a tensor ({name}): a fused function gives new ones")
        if name == "__getitem__":
            return trace.index(*args)
        args, kwargs = trace.traced(args), {key: trace.traced(value) for key, value in kwargs.items()}
        with _C._DisableTorchFunctionSubclass():
            result = func(*args, **kwargs)
        if not any(True for _ in _tensors(result)):
            return result  # a size, a dtype
        if name == "__get__":
            raise RuntimeError(f"[fuse] {_place()}: an attribute that is a tensor cannot be traced; call its method")
        return trace.record(trace.call(name, args, kwargs), result)


def _tensors(value):
    if isinstance(value, _C.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def _guard(value):
    """What must be the same in a later call."""
    if isinstance(value, _C.Tensor):
        return (value.shape, value.dtype, value.device)
    return (type(value), repr(value))


def _describe(guard):
    if len(guard) == 3:
        return f"{list(guard[0])} of {guard[1]} on {guard[2]}"
    return guard[1]


class _Pending:
    """An operator that another thread builds."""

    def __init__(self, build):
        self._operator = self._error = None
        self._thread = threading.Thread(target=self._run, args=(build,), name="tenon.fuse", daemon=True)
        self._thread.start()

    def _run(self, build):
        try:
            self._operator = build()
        except BaseException as error:  # the next call raises it
            self._error = error

    def wait(self):
        self._thread.join()

    def operator(self):
        """The operator, None as long as it is not there."""
        if self._error is not None:
            raise self._error
        return self._operator


class _Fused:
    """One traced function: an operator for each kind of arguments."""

    def __init__(self, function, background):
        functools.update_wrapper(self, function)
        self._function = function
        self._background = background
        self._built = {}  # guards to (operator, positions of tensors, captured tensors)

    def __call__(self, *args, **kwargs):
        values = [*args, *kwargs.values()]
        guards = (len(args), *kwargs, *map(_guard, values))
        built = self._built.get(guards)
        if built is None:
            if self._built:
                self._say_what_changed([*(f"argument {i}" for i in range(len(args))), *kwargs], guards)
            built = self._built[guards] = self._build(args, kwargs)
        operator, positions, captured, pack = built
        if type(operator) is _Pending:
            try:
                operator = operator.operator()
            except BaseException:
                del self._built[guards]
                raise
            if operator is None:
                return self._function(*args, **kwargs)
            self._built[guards] = (operator, *built[1:])
        return pack(operator(*(values[i] for i in positions), *captured))

    def wait(self):
        """Returns when what is built in the background is there."""
        for operator, *_ in list(self._built.values()):
            if type(operator) is _Pending:
                operator.wait()

    def _say_what_changed(self, names, guards):
        last, first = list(self._built)[-1], len(guards) - len(names)
        changed = [
            f"{name} is {_describe(new)}, was {_describe(old)}"
            for name, new, old in zip(names, guards[first:], last[first:])
            if new != old
        ]
        text = "; ".join(changed) or "other arguments are given"
        name = getattr(self._function, "__name__", "function")
        warnings.warn(f"[fuse] {name} is traced again: {text}", RuntimeWarning, stacklevel=3)

    def _build(self, args, kwargs):
        values = [*args, *kwargs.values()]
        trace = _Trace()
        positions = [i for i, value in enumerate(values) if isinstance(value, _C.Tensor)]
        traced = [trace.input(value) if isinstance(value, _C.Tensor) else value for value in values]
        given = traced[: len(args)], dict(zip(kwargs, traced[len(args) :]))
        result = self._function(*given[0], **given[1])
        several = isinstance(result, (list, tuple))
        results = trace.traced(list(result) if several else [result])
        if not results or not all(type(one) is _Traced for one in results):
            raise TypeError(f"[fuse] a fused function gives a tensor or several, got {type(result).__name__}")
        lines, needed = trace.composition(results)
        tensors = [(f"a{i}", values[place], place) for i, place in enumerate(positions) if f"a{i}" in needed]
        captured = [(f"c{i}", value) for i, (value, _) in enumerate(trace.captured) if f"c{i}" in needed]
        arguments = [(name, value) for name, value, *_ in [*tensors, *captured]]
        build = functools.partial(_load, arguments, lines, len(results))
        operator = _Pending(build) if self._background else build()
        pack = (lambda made: type(result)([made] if len(results) == 1 else made)) if several else (lambda made: made)
        return operator, [place for _, _, place in tensors], [value for _, value in captured], pack


def _load(arguments, lines, num_results):
    """The operator of a composition."""
    text = "\n".join(lines)
    shapes = [tuple(value.shape) for _, value in arguments]
    largest = max(shapes, key=len, default=())
    columns = [name for (name, _), shape in zip(arguments, shapes) if len(largest) > 1 and shape == largest[-1:]]
    name = (
        "f" + hashlib.sha256(repr((text, arguments and [n for n, _ in arguments], columns)).encode()).hexdigest()[:16]
    )
    returns = "Tensor" if num_results == 1 else "(" + ", ".join(["Tensor"] * num_results) + ")"
    schema = ", ".join(f"Tensor {one}" for one, _ in arguments)
    yaml = f"- func: {_NAMESPACE}::{name}({schema}) -> {returns}\n"
    if columns:
        yaml += f"  columns: [{', '.join(columns)}]\n"
    yaml += "  composite: |\n" + "".join(f"    {line}\n" for line in lines)
    return getattr(load_operators(yaml), name)
