"""GraphModule: a module whose forward is written from a graph."""

import contextlib
import copy
import itertools
import linecache
import sys
import traceback
import warnings
from pathlib import Path

import tenon
from tenon import _C, nn
from tenon.fx import _names
from tenon.fx._codegen import _PyTreeCodeGen
from tenon.fx.graph import Graph
from tenon.nn import Module
from tenon.nn.parameter import Parameter

# Modules that their text makes again.
_WRITTEN_BY_REPR = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = itertools.count()


def _function(src, globals_, co_fields=None):
    """The function `forward` of the text. Tracebacks show its lines."""
    filename = f"<eval_with_key>.{next(_numbers)}"
    if co_fields:
        filename += f" from {co_fields['co_filename']}:{co_fields['co_firstlineno']} in {co_fields['co_name']}"
    linecache.cache[filename] = len(src), None, src.splitlines(keepends=True), filename
    names = dict(globals_)
    exec(compile(src, filename, "exec"), names)  # noqa: S102  the text is the graph's
    return names["forward"]


def _import_line(name, obj):
    builtin = _names.builtins_of_code().get(name)
    if builtin is not None and builtin.obj is obj:
        return builtin.import_str
    module = getattr(obj, "__module__", None)
    own = getattr(obj, "__qualname__", getattr(obj, "__name__", None))
    if module is None or own is None:
        raise RuntimeError(f"cannot write an import of {obj!r}, which generated code calls {name}")
    if module == "_operator":
        module = "operator" if own in vars(sys.modules["operator"]) else module
    return f"from {module} import {own} as {name}"


def _import_block(globals_):
    return "\n".join(sorted(_import_line(name, obj) for name, obj in globals_.items()))


def reduce_graph_module(body, import_block):
    """The module of a pickle."""
    code = body.get("_code") or body.get("code")
    forward = _function(import_block + code, {}, body.get("_graphmodule_co_fields"))
    return _deserialize_graph_module(forward, body)


class _KeepModules:
    """Traces the forward of a pickle again: all modules are leaves."""

    def is_leaf_module(self, m, module_qualified_name):
        return True


class _CodeOnlyModule(Module):
    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def _deserialize_graph_module(forward, body, graph_module_cls=None):
    from tenon.fx._symbolic_trace import Tracer

    _CodeOnlyModule.forward = forward
    tracer_cls = body.get("_tracer_cls") or Tracer
    kept = body.get(_USER_PRESERVED_ATTRIBUTES_KEY)
    for name in ("_graphmodule_graph", "_graphmodule_co_fields"):
        body.pop(name, None)
    module = _CodeOnlyModule(body)

    class KeepModules(_KeepModules, tracer_cls):
        pass

    tracer_extras = body.get("_tracer_extras") or {}
    graph = KeepModules().trace(module, **tracer_extras)
    graph._tracer_cls = tracer_cls
    result = GraphModule(module, graph)
    for name, value in body.items():
        if not hasattr(result, name):
            setattr(result, name, value)
    for name, value in (kept or {}).items():
        setattr(result, name, value)
    return result


# ---- attributes by path ----


def _copy_attr(from_module, to_module, target):
    """to_module.a.b = from_module.a.b, with modules on the way made."""
    *path, name = target.split(".")
    for item in path:
        there = getattr(from_module, item)
        here = getattr(to_module, item, None)
        if there is here:
            return
        if here is None:
            here = Module()
            setattr(to_module, item, here)
        from_module, to_module = there, here
    value = getattr(from_module, name)
    if isinstance(value, _C.Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(name, value)
    else:
        setattr(to_module, name, value)


def _assign_attr(from_obj, to_module, target):
    """to_module.a.b = from_obj, with modules on the way made."""
    *path, name = target.split(".")
    for item in path:
        there = getattr(to_module, item, None)
        if there is None:
            there = Module()
            setattr(to_module, item, there)
        to_module = there
    if isinstance(from_obj, _C.Tensor) and not isinstance(from_obj, Parameter):
        to_module.register_buffer(name, from_obj)
    else:
        setattr(to_module, name, from_obj)


def _get_attr(model, attr_name):
    """model.a.b"""
    for name in attr_name.split("."):
        if not hasattr(model, name):
            raise AttributeError(f"Node referenced nonexistent target {attr_name}")
        model = getattr(model, name)
    return model


def _has_attr(model, attr_name):
    try:
        _get_attr(model, attr_name)
    except AttributeError:
        return False
    return True


def _del_attr(model, attr_name):
    path, _, name = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, name)


class _WrappedCall:
    """The call of a GraphModule: an error in its forward is told with the line of the written text."""

    def __init__(self, cls, cls_call):
        self.cls, self.cls_call = cls, cls_call

    @staticmethod
    def _message(summary):
        lines = linecache.getlines(summary.filename)
        before = "".join(lines[: summary.lineno])
        rest = "\n".join(lines[summary.lineno : summary.lineno + 2])
        indent = "~" * ((len(lines[summary.lineno - 1].rstrip("\n")) - 1) if summary.lineno <= len(lines) else "")
        place = (
            f"Call using an FX-traced Module, line {summary.lineno} of the traced Module's generated forward function:"
        )
        text = traceback.format_exc()
        return "\n".join([text, place, before[before.find("def") :], f"{indent} <--- HERE", rest, ""])

    def __call__(self, obj, *args, **kwargs):
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            inner = [frame for frame in frames if frame.filename.startswith("<eval_with_key>")]
            if not inner or frames[-1].filename != inner[-1].filename:
                raise
            print(self._message(inner[-1]), file=sys.stderr)
            raise error.with_traceback(None) from None


class GraphModule(Module):
    """A module whose forward is written from a graph.

    root: the module whose submodules and parameters the graph names, or a dict of them by path.
    Each object has a class of its own. `recompile()` after the graph was changed.
    """

    def __new__(cls, *args, **kwargs):
        for known in cls.__mro__:
            if known.__qualname__ == "GraphModule.__new__.<locals>.GraphModuleImpl":
                cls = known.__bases__[0]
                break

        class GraphModuleImpl(cls):
            pass

        if cls.__module__ != "__main__" or cls is GraphModule:
            GraphModuleImpl.__module__ = GraphModule.__module__
        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for node in graph.nodes:
                if node.op in {"get_attr", "call_module"}:
                    if not isinstance(node.target, str):
                        raise AssertionError(f"Expected node.target to be str, got {type(node.target)}")
                    _copy_attr(root, self, node.target)
        elif isinstance(root, dict):
            self._copy_from_dict(root, graph)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        self._tracer_cls = None
        if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__:
            self._tracer_cls = graph._tracer_cls
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}
        self._replace_hooks = []
        self._create_node_hooks = []
        self._erase_node_hooks = []
        self._deepcopy_hooks = []
        for source in (getattr(root, "meta", None),):
            if isinstance(root, Module) and isinstance(source, dict):
                self.meta.update(source)

    def _copy_from_dict(self, root, graph):
        targets = []
        for node in graph.nodes:
            if node.op in {"get_attr", "call_module"}:
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
                targets.append(node.target)
        for target in sorted(targets, key=lambda target: target.count(".")):
            _assign_attr(root[target], self, target)

    # ---- graph and code ----

    @property
    def graph(self):
        """The graph from which forward is written."""
        return self._graph

    @graph.setter
    def graph(self, graph):
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The text of forward."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Writes forward from the graph again."""
        if isinstance(self._graph._codegen, _PyTreeCodeGen):
            self._in_spec = self._graph._codegen.pytree_info.in_spec
            self._out_spec = self._graph._codegen.pytree_info.out_spec
        written = self._graph.python_code(root_module="self")
        self._code = written.src
        self._lineno_map = written._lineno_map
        self._prologue_start = written._prologue_start
        cls = type(self)
        cls.forward = _function(self._code, written.globals, getattr(self._graph, "_co_fields", None))
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, cls.__call__ if "__call__" in vars(cls) else None)

            def call_wrapped(self, *args, **kwargs):
                return self._wrapped_call(self, *args, **kwargs)

            cls.__call__ = call_wrapped
        return written

    def print_readable(
        self, print_output=True, include_stride=False, include_device=False, colored=False, *,
        fast_sympy_print=False, expanded_def=False, additional_meta=None,
    ):  # fmt: skip
        """The text of forward with shapes and places in the program, and those of submodules; printed, and given back."""
        written = self._graph.python_code(
            root_module="self", verbose=True, include_stride=include_stride, include_device=include_device
        )
        body = "\n".join("    " + line if line.strip() else "" for line in written.src.lstrip("\n").split("\n"))
        text = f"class {self._get_name()}({_names.root_name()}.nn.Module):\n{body}"
        text = text.rstrip() + "\n"
        for module in self.children():
            if isinstance(module, GraphModule):
                inner = module.print_readable(False, include_stride, include_device)
                text += "\n" + "\n".join("    " + line if line else line for line in inner.split("\n"))
        if print_output:
            print(text)
        return text

    def __str__(self):
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])

    # ---- submodules ----

    def add_submodule(self, target, m):
        """Adds a submodule by its path, with modules on the way made. Gives False if an attribute that is no module is in the way."""
        *path, name = target.split(".")
        module = self
        for item in path:
            if not hasattr(module, item):
                setattr(module, item, Module())
            module = getattr(module, item)
            if not isinstance(module, Module):
                return False
        module.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Deletes a submodule by its path. Gives False if it is not there."""
        *path, name = target.split(".")
        module = self
        for item in path:
            if not hasattr(module, item):
                return False
            module = getattr(module, item)
            if not isinstance(module, Module):
                return False
        if not hasattr(module, name) or not isinstance(getattr(module, name), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self):
        """Deletes the submodules that the graph does not use."""
        used = []
        for node in self.graph.nodes:
            if node.op not in {"call_module", "get_attr"}:
                continue
            parts = node.target.split(".")
            used += [".".join(parts[: i + 1]) for i in range(len(parts))]
            if node.op == "call_module":
                with contextlib.suppress(AttributeError):
                    used += [
                        f"{node.target}.{name}" for name, _ in self.get_submodule(node.target).named_modules() if name
                    ]
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- copies, pickles, files ----

    def __reduce__(self):
        body = self.__dict__.copy()
        written = self._graph.python_code(root_module="self")
        body["_graphmodule_co_fields"] = getattr(self._graph, "_co_fields", None)
        del body["_graph"]
        for name in ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks"):
            body.pop(name, None)
        body["_code"] = written.src
        return reduce_graph_module, (body, _import_block(written.globals))

    def __deepcopy__(self, memo):
        result = type(self).__new__(type(self))
        memo[id(self)] = result
        held = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        graph = held.__dict__.pop("_graph")
        GraphModule.__init__(result, held, graph)
        for name in (
            "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
            "_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks", "_replace_hooks",
            "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks", "_forward_hooks_with_kwargs",
            "_forward_pre_hooks_with_kwargs", "_forward_hooks_always_called",
        ):  # fmt: skip
            if name in self.__dict__:
                result.__dict__[name] = held.__dict__[name]
        result.meta = copy.copy(getattr(self, "meta", {}))
        for name, value in result.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {}).items():
            setattr(result, name, value)
        for hook in self._deepcopy_hooks:
            hook(result)
        return result

    def __copy__(self):
        result = _make_graph_module(self, self.graph)
        result.meta = getattr(self, "meta", {})
        return result

    def to_folder(self, folder, module_name="FxModule"):
        """Writes a package: module.py with the text of forward, and files of the parameters."""
        folder = Path(folder)
        folder.mkdir(exist_ok=True)
        root = _names.root_name()
        tenon.save(self.state_dict(), str(folder / "state_dict.pt"))
        tab = " " * 4
        lines, pickled = [], []
        for name, module in self.named_children():
            file = folder / f"{name}.pt"
            if isinstance(module, _WRITTEN_BY_REPR):
                lines.append(f"{tab * 2}setattr(self, {name!r}, {module!r})")
                continue
            pickled.append(name)
            tenon.save(module, str(file))
            shown = repr(module).replace("\r", " ").replace("\n", " ")
            lines.append(f"{tab * 2}setattr(self, {name!r}, {root}.load(r'{file}', weights_only=False)) # {shown}")
        for kind, table in (("Buffer", self._buffers), ("Parameter", self._parameters)):
            for name, value in table.items():
                if value is None:
                    continue
                made = f"{root}.empty({list(value.shape)}, dtype={value.dtype})"
                if kind == "Buffer":
                    lines.append(f"{tab * 2}self.register_buffer('{name}', {made})")
                else:
                    lines.append(f"{tab * 2}setattr(self, {name!r}, {root}.nn.Parameter({made}))")
        written = self._graph.python_code(root_module="self")
        code = "\n".join(tab + line if line.strip() else line for line in written.src.strip("\n").split("\n"))
        (folder / "module.py").write_text(
            f"{_import_block(written.globals)}\n\n{self._imports_of_file()}\n\n"
            f"class {module_name}({root}.nn.Module):\n{tab}def __init__(self):\n{tab * 2}super().__init__()\n"
            + "\n".join(lines)
            + f"\n{tab * 2}self.load_state_dict({root}.load(r'{folder / 'state_dict.pt'}'))\n\n{code}\n"
        )
        (folder / "__init__.py").write_text("from .module import *\n")
        if pickled:
            warnings.warn(
                "Was not able to save the following children modules as reprs -saved as pickled files instead: "
                f"{pickled}",
                stacklevel=2,
            )

    @staticmethod
    def _imports_of_file():
        root = _names.root_name()
        return f"import {root}\nfrom {root}.nn import *"

    # ---- hooks of passes ----

    @contextlib.contextmanager
    def _set_replace_hook(self, f):
        if not callable(f):
            raise AssertionError("Replace hook must be a callable.")
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_replace_node_hook(self, f):
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f):
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f):
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f):
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f):
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f):
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f):
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f):
        self._deepcopy_hooks.remove(f)


def _make_graph_module(*args, graph_module_cls=None, **kwargs):
    return (graph_module_cls or GraphModule)(*args, **kwargs)
