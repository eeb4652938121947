"""Operators that Python code defines while it runs, and kernels of Python for them.

    @tenon.library.custom_op("mine::scale", mutates_args=())
    def scale(x: tenon.Tensor, factor: float) -> tenon.Tensor:
        return x * factor

    @scale.register_fake
    def _(x, factor):
        return tenon.empty_like(x)

    def backward(ctx, grad):
        return grad * ctx.factor, None

    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    scale.register_autograd(backward, setup_context=setup_context)
    y = scale(x, 2.0)                       also tenon.ops.mine.scale(x, 2.0)

An operator that is declared in YAML (tenon.load_operators) is compiled and costs less per call.
"""

import inspect
import re
import typing
from collections.abc import Sequence

import tenon
from tenon import _C
from tenon._ops import _forget_functions, ops

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
]

# PyTorch's names of keys, and of kinds of devices.
_KEYS = {
    "": "CompositeImplicit",
    "default": "CompositeExplicit",
    "cpu": "CPU",
    "cuda": "CUDA",
    "meta": "Meta",
    "privateuse1": "PrivateUse1",
    "CompositeImplicitAutograd": "CompositeImplicit",
    "CompositeExplicitAutograd": "CompositeExplicit",
    "AutogradCPU": "Autograd",
    "AutogradCUDA": "Autograd",
}


def _split(qualname):
    namespace, separator, name = qualname.partition("::")
    if not separator or not namespace or not name:
        raise ValueError(f"an operator's name is namespace::name, got {qualname!r}")
    return namespace, name


_given = set()  # (namespace, operator, key) of the functions that impl() was given


class Library:
    """Operators and kernels of a namespace, until the object goes or _destroy() is called.

    kind: "DEF" owns the namespace, "FRAGMENT" adds operators to it, "IMPL" has kernels alone.
    dispatch_key: of every impl() that names none.
    """

    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._library = _C._Library(ns, kind)
        self._own = set()

    def define(self, schema, alias_analysis="", *, tags=()):
        """Defines the operator of a schema, "scale(Tensor x, float factor) -> Tensor"; gives its name."""
        self._library.define(schema)
        _forget_functions(getattr(ops, self.ns))
        return schema.split("(", 1)[0].strip()

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=True):
        """Has a function compute the operator for a key: "CPU", "CUDA", "Meta", "CompositeImplicitAutograd", "Autograd", ...

        Without allow_override a RuntimeError if a function was given for this key before.
        """
        if with_keyset:
            raise NotImplementedError("Library.impl: kernels of Python take no set of keys")
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = dispatch_key or self.dispatch_key
        place = (self.ns, _name_of(op_name).rpartition("::")[2], _KEYS.get(key, key))
        if place in _given and not allow_override:
            raise RuntimeError(
                f"This is not allowed since there's already a kernel registered from python overriding {place[1]}'s behavior "
                f"for {key or 'CompositeImplicitAutograd'} dispatch key and {self.ns} namespace."
            )
        self._library.impl(_name_of(op_name), _KEYS.get(key, key), fn)
        _given.add(place)
        self._own.add(place)

    def _destroy(self):
        self._library.end()
        _given.difference_update(self._own)
        _forget_functions(getattr(ops, self.ns))


def _name_of(op):
    return op if isinstance(op, str) else op._qualname


_fragments = {}


def _fragment(namespace):
    """The library of what this module defines in a namespace, kept for good."""
    if namespace not in _fragments:
        _fragments[namespace] = Library(namespace, "FRAGMENT")
    return _fragments[namespace]


def define(qualname, schema, *, lib=None, tags=()):
    """Defines an operator: define("mine::scale", "(Tensor x, float factor) -> Tensor")."""
    namespace, name = _split(qualname)
    (lib or _fragment(namespace)).define(name + schema)


def impl(qualname, types, func=None, *, lib=None):
    """Has a function compute the operator on kinds of devices, "cpu", "cuda", "default", or several; a decorator without one."""
    if func is None:
        return lambda f: impl(qualname, types, f, lib=lib) or f
    namespace, name = _split(qualname)
    for kind in (types,) if isinstance(types, str) else types:
        if kind not in (
            "cpu",
            "cuda",
            "meta",
            "privateuse1",
            "default",
            "CompositeImplicitAutograd",
            "CompositeExplicitAutograd",
        ):
            raise ValueError(f"impl(): a kind of device, or 'default', is required, got {kind!r}")
        (lib or _fragment(namespace)).impl(name, func, kind)
    return None


def register_kernel(op, device_types, func=None, *, lib=None):
    """impl() for an operator, by name or as custom_op() gave it. device_types: None for all."""
    return impl(_name_of(op), "default" if device_types is None else device_types, func, lib=lib)


def register_fake(op, func=None, *, lib=None, allow_override=True):
    """Has a function give results of the right shapes and dtypes where tensors have no elements, on the device meta."""
    if func is None:
        return lambda f: register_fake(op, f, lib=lib, allow_override=allow_override) or f
    namespace, name = _split(_name_of(op))
    (lib or _fragment(namespace)).impl(name, func, "meta", allow_override=allow_override)
    return None


impl_abstract = register_fake


# ---- derivatives ----


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Gives the operator a derivative.

    backward(ctx, *grads): of the results' gradients those of the arguments, None for what has none.
    setup_context(ctx, inputs, output): keeps in ctx what backward needs; keyword-only arguments come as keyword_only_inputs.
    """
    qualname = _name_of(op)
    namespace, name = _split(qualname)
    function = getattr(getattr(ops, namespace), name)

    def forward(ctx, kwargs, *args):
        with _C._BelowAutograd():
            result = function(*args, **kwargs)
        if setup_context is not None:
            given = {"keyword_only_inputs": kwargs} if kwargs else {}
            setup_context(ctx=ctx, inputs=args, output=result, **given)
        return result

    def differentiate(ctx, *grads):
        found = backward(ctx, *grads)
        return (None, *found) if isinstance(found, tuple) else (None, found)

    members = {"forward": staticmethod(forward), "backward": staticmethod(differentiate)}
    node = type(f"GeneratedBackwardFor_{namespace}_{name}_default", (tenon.autograd.Function,), members)
    (lib or _fragment(namespace)).impl(name, lambda *args, **kwargs: node.apply(kwargs, *args), "Autograd")


# ---- schemas from annotations ----

Tensor = _C.Tensor
_BASES = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    int | float | bool: "Scalar",
    _C.dtype: "ScalarType",
    _C.device: "Device",
}


def _text_of_type(annotation):
    """ "Tensor?[]" of Sequence[Optional[Tensor]]; None if a schema has no such type."""
    if annotation in _BASES:
        return _BASES[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if type(None) in inner:
        rest = [one for one in inner if one is not type(None)]
        text = _text_of_type(rest[0] if len(rest) == 1 else typing.Union[tuple(rest)])  # noqa: UP007
        return text and text + "?"
    if origin in (list, Sequence) and len(inner) == 1:
        text = _text_of_type(inner[0])
        return text and text + "[]"
    return None


def _text_of_default(value):
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, _C.dtype):
        return repr(value).partition(".")[2]
    if isinstance(value, _C.device):
        return f'"{value}"'
    return None


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The schema of a function with annotations: "(Tensor x, float factor) -> Tensor".

    mutates_args: the names of tensors that the function changes, or "unknown" for all. ValueError for what no schema says.
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)

    def refuse(text):
        raise ValueError(f"infer_schema(func): {text} Got func with signature {signature})")

    texts, seen_star, changed = [], False, 0
    for name, parameter in signature.parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if name not in hints:
            refuse(f"Parameter {name} must have a type annotation.")
        text = _text_of_type(hints[name])
        if text is None:
            refuse(f"Parameter {name} has unsupported type {hints[name]}.")
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            seen_star = True
            texts.append("*")
        if name in mutates_args if mutates_args != "unknown" else text.startswith("Tensor"):
            if not text.startswith("Tensor"):
                refuse(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            text = f"Tensor(a{changed}!)" + text.removeprefix("Tensor")
            changed += 1
        if parameter.default is not parameter.empty:
            default = _text_of_default(parameter.default)
            if default is None:
                refuse(f"Parameter {name} has an unsupported default value type {type(parameter.default)}.")
            name = f"{name}={default}"
        texts.append(f"{text} {name}")
    unknown = set() if mutates_args == "unknown" else set(mutates_args) - set(signature.parameters)
    if unknown:
        refuse(f"{unknown} in mutates_args were not found in the custom op's signature.")
    return f"{op_name or ''}({', '.join(texts)}) -> {_text_of_result(signature, hints, refuse)}"


def _text_of_result(signature, hints, refuse):
    if signature.return_annotation is inspect.Signature.empty:
        refuse("No return type annotation was provided. Please add one.")
    result = hints["return"]
    if result is type(None):
        return "()"
    parts = typing.get_args(result) if typing.get_origin(result) is tuple else (result,)
    texts = [_text_of_type(part) for part in parts]
    if None in texts:
        refuse(f"Return has unsupported type {result}.")
    return texts[0] if typing.get_origin(result) is not tuple else f"({', '.join(texts)})"


# ---- custom_op ----


class CustomOpDef:
    """An operator that custom_op() has made: callable, and the place to give it kernels and a derivative."""

    def __init__(self, qualname, schema, function, mutated):
        self._qualname, self._schema, self._mutated = qualname, schema, mutated
        self._namespace, self._name = _split(qualname)
        self._function = function
        # The schema language has letters for what may share memory.
        schema = re.sub(r"\(a(\d+)!\)", lambda found: f"({chr(ord('a') + int(found[1]))}!)", schema)
        _fragment(self._namespace).define(self._name + schema)
        self._opoverload = getattr(getattr(ops, self._namespace), self._name)

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types, fn=None, /):
        """Has a function compute the operator on kinds of devices, None for all; a decorator without one."""
        if fn is None:
            return lambda f: self.register_kernel(device_types, f)
        impl(self._qualname, "default" if device_types is None else device_types, self._checked(fn))
        return fn

    def register_fake(self, fn, /):
        """Has a function give results of the right shapes and dtypes on the device meta; a decorator."""
        impl(self._qualname, "meta", fn)
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """Gives the operator a derivative: see register_autograd()."""
        register_autograd(self._qualname, backward, setup_context=setup_context)

    def _checked(self, fn):
        """The function, with what PyTorch asks of it: results that share no memory with arguments, changes that are counted."""
        names = list(inspect.signature(self._function).parameters)

        def kernel(*args, **kwargs):
            result = fn(*args, **kwargs)
            given = dict(zip(names, args, strict=False)) | kwargs
            tensors = _tensors_of(given.values())
            storages = {t.untyped_storage()._cdata for t in tensors if t.numel()}
            for one in _tensors_of([result]):
                if one.numel() and one.untyped_storage()._cdata in storages:
                    raise RuntimeError(
                        f"{self._qualname}: the result of a custom operator must not share memory with an argument or another "
                        "result; clone it."
                    )
                storages.add(one.untyped_storage()._cdata)
            _C._increment_version(_tensors_of(given[name] for name in self._mutated if name in given))
            return result

        return kernel


def _tensors_of(values):
    found = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors_of(value)
    return found


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """Makes a function with annotations an operator, "namespace::name"; a decorator without one.

    mutates_args: the names of tensors that it changes; "unknown": it may change any. Results share no memory with arguments.
    device_types: the kinds of devices that it is for; None for all. schema: in the place of the annotations.
    """
    if fn is None:
        return lambda f: custom_op(
            name, f, mutates_args=mutates_args, device_types=device_types, schema=schema, tags=tags
        )
    text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
    parameters = inspect.signature(fn).parameters
    mutated = list(parameters) if mutates_args == "unknown" else list(mutates_args)
    made = CustomOpDef(name, text, fn, mutated)
    made.register_kernel(device_types, fn)
    return made


# ---- checks ----


def opcheck(op, args, kwargs=None, *, test_utils=None, raise_exception=True, atol=None, rtol=None):
    """Checks an operator with these arguments; gives {check: "SUCCESS" or the error}.

    test_schema: arguments change, and results share memory with them, only as the schema says.
    test_autograd_registration: a result of arguments that require grad has a gradient function.
    test_faketensor: on the device meta it gives the same shapes, strides and dtypes.
    """
    checks = {
        "test_schema": _check_schema,
        "test_autograd_registration": _check_gradient,
        "test_faketensor": _check_meta,
    }
    chosen = list(checks) if test_utils is None else [test_utils] if isinstance(test_utils, str) else list(test_utils)
    unknown = [name for name in chosen if name not in checks]
    if unknown:
        raise ValueError(f"opcheck: there is no check {unknown[0]!r}; the checks are {', '.join(checks)}")
    results = {}
    for name in chosen:
        try:
            checks[name](op, args, kwargs or {})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise RuntimeError(f"opcheck(op, ...): {name} failed with {error}") from error
            results[name] = error
    return results


def _copied(value, change=lambda t: t.detach().clone().requires_grad_(t.requires_grad)):
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(one, change) for one in value)
    return value


def _may_change(op, args, kwargs):
    """The ids of the tensors that the operator's schema lets it change."""
    texts = re.findall(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\) ->", _function_of(op).__doc__)
    ids = set()
    for text in texts:
        named = [one for one in text.split(", ") if one != "*"]
        for place, one in enumerate(named):
            name = one.split("=")[0].split()[-1]
            given = kwargs.get(name, args[place] if place < len(args) else None)
            if "!)" in one:
                ids |= {id(t) for t in _tensors_of([given])}
    return ids


def _function_of(op):
    return op._opoverload if isinstance(op, CustomOpDef) else op


def _check_schema(op, args, kwargs):
    args, kwargs = _copied(args), {name: _copied(value) for name, value in kwargs.items()}
    tensors = _tensors_of([args, list(kwargs.values())])
    before = [t.detach().clone() for t in tensors]
    storages = {t.untyped_storage()._cdata for t in tensors if t.numel()}
    with _C._BelowAutograd():
        result = op(*args, **kwargs)
    may_change = _may_change(op, args, kwargs)
    for tensor, old in zip(tensors, before, strict=True):
        if id(tensor) not in may_change and not _C.equal(tensor.detach(), old):
            raise AssertionError("an argument was changed that the schema does not say to change")
    for one in _tensors_of([result]):
        if id(one) not in may_change and one.numel() and one.untyped_storage()._cdata in storages:
            raise AssertionError("a result shares memory with an argument")


def _check_gradient(op, args, kwargs):
    tensors = _tensors_of([args, list(kwargs.values())])
    if not any(t.requires_grad for t in tensors):
        return
    result = op(*_copied(args), **kwargs)
    if not any(t.grad_fn is not None for t in _tensors_of([result])):
        raise AssertionError("no result has a gradient function, though an argument requires grad: register_autograd()")


def _check_meta(op, args, kwargs):
    def to_meta(tensor):
        made = _C.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")
        return made.requires_grad_(tensor.requires_grad)

    expected = _tensors_of([op(*_copied(args), **kwargs)])
    on_meta = {name: _copied(value, to_meta) for name, value in kwargs.items()}
    found = _tensors_of([op(*_copied(args, to_meta), **on_meta)])
    if len(found) != len(expected):
        raise AssertionError(f"{len(expected)} tensors are expected on the device meta, got {len(found)}")
    for one, other in zip(found, expected, strict=True):
        for what in ("shape", "dtype", "stride"):
            got, wanted = (getattr(t, what) for t in (one, other))
            got, wanted = (got(), wanted()) if callable(got) else (got, wanted)
            if got != wanted:
                raise AssertionError(f"on the device meta {what} is {got}, expected {wanted}")
