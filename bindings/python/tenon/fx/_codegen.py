"""Python's text of a graph."""

import dataclasses
import enum
import re
import typing

from tenon import _C
from tenon.fx import _names
from tenon.fx.node import Node, map_arg

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@",
}  # fmt: skip
reflectable_magic_methods = {name: f"{{}} {sign} {{}}" for name, sign in _OPERATORS.items()}
reflectable_magic_methods["getitem"] = "{}[{}]"
magic_methods = {
    **{name: f"{{}} {sign} {{}}" for name, sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("gt", ">"), ("le", "<="), ("ge", ">="))},
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    **reflectable_magic_methods,
}  # fmt: skip
inplace_methods = {"i" + name.rstrip("_"): f"{{}} {sign}= {{}}" for name, sign in _OPERATORS.items() if name != "div"}
inplace_methods["setitem"] = "{}[{}] = {}"


@dataclasses.dataclass
class PythonCode:
    """The text of a function, and the names that it uses."""

    src: str
    globals: dict
    _lineno_map: dict | None = None
    _prologue_start: int = 0


class _PyTreeInfo(typing.NamedTuple):
    """How arguments and results of a program are taken apart."""

    orig_args: list
    in_spec: typing.Any
    out_spec: typing.Any


def _format_target(base, target):
    """base.a.b, by getattr() for parts that are no identifiers."""
    result = base
    for part in target.split("."):
        result = f"{result}.{part}" if part.isidentifier() else f'getattr({result}, "{part}")'
    return result


_FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)\n(.*)')
_SHORT_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
    "int8": "i8", "uint8": "u8", "bool": "b8", "complex64": "c64", "complex128": "c128", "complex32": "c32",
}  # fmt: skip


def _short_dtype(dtype):
    name = str(dtype).rpartition(".")[2]
    return _SHORT_DTYPES.get(name, name)


class CodeGen:
    """Writes the text of a graph; a subclass takes arguments and results another way."""

    def __init__(self):
        self._body_transformer = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars, maybe_return_annotation, **options):
        """The line that begins the function."""
        names = list(free_vars)
        if not names or names[0] != "self":
            names.insert(0, "self")
        return f"def {self._func_name}({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=repr):
        """The line that returns; repr_fn gives the text of a value."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args):
        """Arguments of the function as values of the placeholders."""
        return args

    def process_outputs(self, outputs):
        """What the output node has as what the function returns."""
        return outputs

    def additional_globals(self):
        """[(name, object)] that the text uses besides."""
        return []

    def _gen_python_code(
        self, nodes, root_module, namespace, *, verbose=False, include_stride=False, include_device=False, **options
    ):
        return _Writer(self, nodes, root_module, namespace, verbose, include_stride, include_device).code()


class _PyTreeCodeGen(CodeGen):
    """Arguments and results are trees, whose leaves are the graph's."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def additional_globals(self):
        from tenon.fx import _pytree as fx_pytree
        from tenon.utils import _pytree as pytree

        return [("pytree", pytree), ("fx_pytree", fx_pytree)]

    def process_inputs(self, *inputs):
        from tenon.utils import _pytree

        return _pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out):
        from tenon.utils import _pytree

        if not isinstance(out, (list, tuple)) or self.pytree_info.out_spec is None:
            out = [out]
        return _pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation, **options):
        info = self.pytree_info
        if info is None:
            return super().gen_fn_def(free_vars, maybe_return_annotation)
        arguments = info.orig_args
        has_self = bool(arguments) and arguments[0] == "self"
        if has_self:
            free_vars.insert(0, "self")
        text = super().gen_fn_def(list(arguments), maybe_return_annotation)
        if free_vars:
            names = [name.split(":")[0].split("=")[0].strip() for name in free_vars if name != "self"]
            if names:
                text += (
                    f"\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec("
                    + self._packed(arguments, has_self)
                    + ")"
                )
        return text

    def _packed(self, arguments, has_self):
        names = [a for a in arguments if a != "self"]
        spec = self.pytree_info.in_spec
        given = spec.children_specs if hasattr(spec, "children_specs") else []
        if (
            getattr(spec, "type", None) is tuple
            and len(given) == 2
            and given[0].type is tuple
            and given[1].type is dict
        ):
            positional = names[: given[0].num_children]
            keyed = names[given[0].num_children :]
            return f"([{', '.join(positional)}], {{{', '.join(repr(k) + ':' + k for k in keyed)}}}), self._in_spec"
        return f"[{', '.join(names)}], self._in_spec"

    def generate_output(self, output_args, *, descs=None, repr_fn=repr):
        if self.pytree_info and self.pytree_info.out_spec:
            return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"
        return super().generate_output(output_args, repr_fn=repr_fn)


class _Writer:
    """Writes one text."""

    def __init__(self, codegen, nodes, root_module, namespace, verbose, include_stride, include_device):
        self.codegen, self.nodes, self.root, self.namespace = codegen, list(nodes), root_module, namespace
        self.verbose, self.include_stride, self.include_device = verbose, include_stride, include_device
        self.free_vars, self.body, self.wrapped = [], [], {}
        self.globals = {name: builtin.obj for name, builtin in _names.builtins_of_code().items()}
        self.returned = ""
        self.was_traced = None

    def code(self):
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        last_uses = self.last_uses()
        for node in self.nodes:
            if self.verbose:
                self.append_trace(node)
            self.emit(node)
            self.delete_unused(node, last_uses)
        body = self.body or ["pass\n"]
        if self.codegen._body_transformer is not None:
            body = self.codegen._body_transformer(body)
        for name, value in self.codegen.additional_globals():
            self.add_global(name, value)
        prologue = self.codegen.gen_fn_def(self.free_vars, self.returned)
        wraps = "\n".join(f'{_names.root_name()}.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        code = "\n".join("    " + line for line in "".join(body).lstrip("\n").split("\n"))
        src = f"\n{wraps}\n\n{prologue}\n{code}"
        return PythonCode(src, self.globals, {}, src.count("\n", 0, src.index(prologue)) + 1)

    # ---- names ----

    def add_global(self, hint, obj):
        """The name of the object in the text."""
        if _names.is_own(obj) and obj is not _C.device and not isinstance(obj, _C.device):
            full = _names.qualified_name(obj)
            if full.startswith(_names.root_name() + "."):
                return full
        for name, builtin in _names.builtins_of_code().items():
            if builtin.obj is obj:
                return name
        normalized = hint.replace(".", "_")
        if self.globals.get(normalized, self) is obj:
            return normalized
        name = (
            self.namespace.create_name(normalized, obj)
            if _hashable(obj)
            else self.namespace.create_name(normalized, None)
        )
        self.globals[name] = obj
        return name

    def type_text(self, annotation):
        if annotation == ():
            return "()"
        name = _names.type_name(annotation)
        arguments = typing.get_args(annotation)
        if arguments:
            outer = annotation.__origin__ if hasattr(annotation, "__origin__") else None
            if name.startswith("typing."):
                bare = _bare(annotation)
                outer = self.add_global(f"typing.{bare._name}", bare)
            elif outer is None:
                return " | ".join(self.type_text(a) for a in arguments)
            else:
                outer = self.add_global(_names.type_name(outer), outer)
            inner = [self.type_text(a) if a is not ... else "..." for a in arguments]
            return f"{outer}[{','.join(inner)}]"
        return self.add_global(name, annotation)

    def text(self, value):
        """A value as Python's text."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            name = self.add_global(_names.qualified_name(type(value)), type(value))
            fields = ", ".join(f"{field}={self.text(item)}" for field, item in zip(value._fields, value))
            return f"{name}({fields})"
        if isinstance(value, tuple) and type(value) is not tuple:
            return repr(value)
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.text(item)}" for key, item in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"
        if isinstance(value, enum.Enum):
            cls = type(value)
            return f"{self.add_global(f'{cls.__module__}.{cls.__qualname__}', cls)}.{value.name}"
        if isinstance(value, float) and value == float("inf"):
            return "inf"
        if isinstance(value, float) and value != value:
            return "nan"
        if isinstance(value, complex):
            return f"complex({self.text(value.real)}, {self.text(value.imag)})"
        if callable(value) and not isinstance(value, _C.Tensor) and hasattr(value, "__name__"):
            return self.add_global(_names.qualified_name(value), value)
        return repr(value)

    def arguments(self, args, kwargs):
        return ", ".join([*map(self.text, args), *(f"{name} = {self.text(value)}" for name, value in kwargs.items())])

    # ---- lines ----

    def last_uses(self):
        """{node: the nodes that nothing after it uses}"""
        found, seen = {}, set()
        for node in reversed(self.nodes):

            def note(used, node=node):
                if used not in seen:
                    seen.add(used)
                    found.setdefault(node, []).append(used)
                return used

            map_arg(node.args, note)
            map_arg(node.kwargs, note)
        return found

    def delete_unused(self, node, last_uses):
        if node.op == "placeholder":
            return
        if node.op == "output":
            self.body.append("\n")
            return
        unused = list(last_uses.get(node, ()))
        if not node.users:
            unused.append(node)
        self.body.append(f";  {' = '.join([*map(repr, unused), 'None'])}\n" if unused else "\n")

    def append_trace(self, node):
        """The line of the program that the node comes from."""
        if node.op in {"placeholder", "output"}:
            return
        trace = node.stack_trace
        if trace and trace != self.was_traced:
            self.was_traced = trace
            found = _FRAME.findall(trace)
            if found:
                file, line, name, code = found[-1]
                self.body.append(f"\n# File: {file}:{line} in {name}, code: {code.strip()}\n")
        elif not trace and self.was_traced != "":
            self.was_traced = ""
            self.body.append("\n# No stacktrace found for following nodes\n")

    def annotation(self, node):
        if self.verbose:
            meta = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
            if meta is not None and hasattr(meta, "shape") and hasattr(meta, "dtype"):
                stride = meta.stride if not callable(meta.stride) else meta.stride()
                text = f"{_short_dtype(meta.dtype)}[{', '.join(map(str, meta.shape))}]"
                if self.include_stride and isinstance(meta, _C.Tensor):
                    text += f"[{', '.join(map(str, stride))}]"
                if self.include_device and isinstance(meta, _C.Tensor):
                    text += str(meta.device)
                return f': "{text}"'
        return ""

    def emit(self, node):
        typed = "" if node.type is None else f" : {self.type_text(node.type)}"
        typed = self.annotation(node) or typed
        if node.op == "placeholder":
            default = f" = {self.text(node.args[0])}" if node.args else ""
            self.free_vars.append(f"{node.target}{typed}{default}")
            raw = node.target.replace("*", "")
            if raw != repr(node):
                self.body.append(f"{node!r} = {raw}\n")
            return
        if node.op == "output":
            if node.type is not None:
                self.returned = f" -> {self.type_text(node.type)}"
            self.body.append(self.codegen.generate_output(node.args[0], repr_fn=self.text))
            return
        left = f"{node!r}{typed} = "
        if node.op == "call_method":
            self.body.append(
                f"{left}{_format_target(self.text(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
            )
        elif node.op == "call_module":
            self.body.append(
                f"{left}{_format_target(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
            )
        elif node.op == "get_attr":
            self.body.append(f"{left}{_format_target(self.root, node.target)}")
        elif node.op == "call_function":
            self.emit_function(node, left)
        else:
            raise NotImplementedError(f"node: {node.op} {node.target}")

    def emit_function(self, node, left):
        target = node.target
        name = getattr(target, "__name__", None)
        if getattr(target, "__module__", None) == "_operator" and name in magic_methods:
            self.body.append(left + magic_methods[name].format(*map(self.text, node.args)))
            return
        if getattr(target, "__module__", None) == "_operator" and name in inplace_methods:
            line = inplace_methods[name].format(*map(self.text, node.args))
            self.body.append(f"{line};  {left}{self.text(node.args[0])}")
            return
        full = _names.qualified_name(target)
        called = self.add_global(full, target)
        if called == "getattr" and isinstance(node.args, tuple) and len(node.args) == 2 and not node.kwargs:
            if isinstance(node.args[0], Node) and isinstance(node.args[1], str) and node.args[1].isidentifier():
                self.body.append(left + _format_target(self.text(node.args[0]), node.args[1]))
                return
        self.body.append(f"{left}{called}({self.arguments(node.args, node.kwargs)})")
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(called)


def _hashable(obj):
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def _bare(annotation):
    """typing.List of typing.List[int], typing.Union of typing.Optional[int]."""
    if typing.get_origin(annotation) is typing.Union:
        return typing.Union
    return getattr(typing, annotation._name)
