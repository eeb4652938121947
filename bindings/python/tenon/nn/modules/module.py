"""The base of all modules."""

import functools
import itertools
import warnings
from collections import OrderedDict, namedtuple

import tenon
from tenon._C import _call_forward, _look_up_in_tables, _set_module_call
from tenon.nn.parameter import Buffer, Parameter, is_lazy


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What load_state_dict() found to be missing and too much."""

    def __repr__(self):
        return super().__repr__() if any(self) else "<All keys matched successfully>"


class RemovableHandle:
    """Takes a hook out again, and what other dicts have under its number: remove(), or the end of a with statement."""

    _next = itertools.count()

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks, self.id = hooks_dict, next(self._next)
        self.others = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]

    def remove(self):
        self.hooks.pop(self.id, None)
        for other in self.others:
            other.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def _added(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _clear_grad(parameter, set_to_none):
    """Takes the gradient away, or zeroes it in place: others may share its memory."""
    if set_to_none or parameter.grad is None:
        parameter.grad = None
        return
    if parameter.grad.grad_fn is not None:
        parameter.grad.detach_()
    else:
        parameter.grad.requires_grad_(False)
    parameter.grad.zero_()


# The dicts of a module: its attributes that are not plain ones, and its hooks.
_DICTS = ("_parameters", "_buffers", "_modules")
_HOOKS = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
_EXTRA_STATE = "_extra_state"


def _without_module(hook, module, *arguments):
    return hook(*arguments)


# Hooks of all modules, with their kinds: calls ask one dict whether there are any.
_global_hooks = OrderedDict()
_global_registration_hooks = OrderedDict()


def _of_kind(hooks, kind):
    return [hook for its_kind, hook in list(hooks.values()) if its_kind == kind]


def register_module_forward_pre_hook(hook):
    """hook(module, args) before each forward of every module; what it returns replaces the arguments."""
    return _added(_global_hooks, ("forward_pre", hook))


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """hook(module, args, output) after each forward of every module; what it returns replaces the output."""
    if with_kwargs or always_call:
        raise NotImplementedError("register_module_forward_hook: with_kwargs and always_call")
    return _added(_global_hooks, ("forward", hook))


def register_module_full_backward_pre_hook(hook):
    """hook(module, grad_output), for every module: see Module.register_full_backward_pre_hook()."""
    return _added(_global_hooks, ("backward_pre", hook))


def register_module_full_backward_hook(hook):
    """hook(module, grad_input, grad_output), for every module: see Module.register_full_backward_hook()."""
    if _of_kind(_global_hooks, "last_node"):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
        )
    return _added(_global_hooks, ("backward", hook))


def register_module_backward_hook(hook):
    """The deprecated hook(module, grad_input, grad_output), for every module: see Module.register_backward_hook()."""
    if _of_kind(_global_hooks, "backward"):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
        )
    return _added(_global_hooks, ("last_node", hook))


def register_module_parameter_registration_hook(hook):
    """hook(module, name, parameter) when a parameter is registered; what it returns is registered instead."""
    return _added(_global_registration_hooks, ("parameter", hook))


def register_module_buffer_registration_hook(hook):
    """hook(module, name, buffer) when a buffer is registered; what it returns is registered instead."""
    return _added(_global_registration_hooks, ("buffer", hook))


def register_module_module_registration_hook(hook):
    """hook(module, name, submodule) when a module is registered; what it returns is registered instead."""
    return _added(_global_registration_hooks, ("module", hook))


def _registered(kind, module, name, value):
    for hook in _of_kind(_global_registration_hooks, kind) if _global_registration_hooks else ():
        replaced = hook(module, name, value)
        value = value if replaced is None else replaced
    return value


class Module:
    """A tree of modules with parameters and buffers, and a function, forward(), that calling it computes.

    What is assigned as an attribute belongs to the tree if it is a Parameter, a Buffer or a Module."""

    _version = 1
    training: bool
    call_super_init = False

    # Of which kind _backward_hooks are: True, False for register_backward_hook(), None if there are none.
    _is_full_backward_hook = None

    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes no arguments of Module's own, got {args or kwargs}"
            )
        set_plain = super().__setattr__
        set_plain("training", True)
        for name in _DICTS:
            set_plain(name, {})
        set_plain("_non_persistent_buffers_set", set())
        for name in _HOOKS:
            set_plain(name, OrderedDict())

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- the tree ----

    def __setattr__(self, name, value):
        kind = (
            "_parameters"
            if isinstance(value, Parameter)
            else "_modules"
            if isinstance(value, Module)
            else "_buffers"
            if isinstance(value, Buffer)
            else None
        )
        mine = self.__dict__
        if kind is None:
            for table, wanted in (("_parameters", Parameter), ("_modules", Module), ("_buffers", tenon.Tensor)):
                if name in mine.get(table, ()):
                    if value is not None and not isinstance(value, wanted):
                        raise TypeError(
                            f"cannot assign '{type(value).__name__}' as {table[1:-1]} '{name}' "
                            f"({wanted.__name__} or None expected)"
                        )
                    mine[table][name] = value
                    return
            super().__setattr__(name, value)
            return
        if "_parameters" not in mine:
            raise AttributeError(f"cannot assign {kind[1:]} before Module.__init__() call")
        for table in (mine, *(mine[t] for t in _DICTS if t != kind)):
            table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)
        if kind == "_buffers":
            self.register_buffer(name, value, value.persistent)
        elif kind == "_parameters":
            self.register_parameter(name, value)
        else:
            mine[kind][name] = _registered("module", self, name, value)

    def __getattr__(self, name):
        for table in _DICTS:
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        _quicken(cls)

    def __delattr__(self, name):
        for table in _DICTS:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self):
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if name and not name[0].isdigit())

    def _check_name(self, kind, name, table):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name, param):
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (tenon.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'.")
        self._parameters[name] = _registered("parameter", self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, tenon.Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (tenon.Tensor or None required)"
            )
        self._buffers[name] = _registered("buffer", self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = _registered("module", self, name, module)

    register_module = add_module

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else ():
            module = module._attribute(name, lambda value: isinstance(value, Module), "an nn.Module")
        return module

    def _attribute(self, name, fits, kind):
        if not hasattr(self, name):
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`")
        value = getattr(self, name)
        if not fits(value):
            raise AttributeError(f"`{name}` is not {kind}")
        return value

    def set_submodule(self, target, module, strict=False):
        """Puts the module at the path `target`; with `strict` only in the place of another one."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent._attribute(name, lambda value: isinstance(value, Module), "an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._attribute(name, lambda value: isinstance(value, Parameter), "an nn.Parameter")

    def get_buffer(self, target):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        return module._attribute(name, lambda _: name in module._buffers, "a buffer")

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate=True):
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _named_members(self, members, prefix, recurse, remove_duplicate=True):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in members(module).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda m: m._parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda m: m._buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    # ---- changes to the whole tree ----

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            value, grad = fn(parameter.data), parameter.grad
            if value.is_meta == parameter.is_meta:
                parameter.data = value
            else:  # a tensor stays with or without memory
                parameter = self._parameters[name] = Parameter(value, parameter.requires_grad)
            if grad is not None:
                parameter.grad = fn(grad.detach())
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves and converts parameters and buffers in place; a dtype is for those that are not integers, a memory format for those of
        four and five dimensions."""
        if "copy" in kwargs or sum(isinstance(v, bool) for v in args) > 1:
            raise RuntimeError(".to() does not accept copy argument")
        memory_format = kwargs.pop("memory_format", None)
        given = [*args, *kwargs.values()]
        dtypes = [
            v.dtype if isinstance(v, tenon.Tensor) else v for v in given if isinstance(v, (tenon.dtype, tenon.Tensor))
        ]
        if any(not (d.is_floating_point or d.is_complex) for d in dtypes):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtypes[0]}"
            )

        def convert(t):
            # Images and volumes have the formats; biases and the like stay as they are.
            formats = {"memory_format": memory_format} if memory_format is not None and t.dim() in (4, 5) else {}
            if t.is_floating_point() or t.is_complex():
                return t.to(*args, **kwargs, **formats) if given or formats else t
            others = [v.device if isinstance(v, tenon.Tensor) else v for v in args if not isinstance(v, tenon.dtype)]
            names = {**{k: v for k, v in kwargs.items() if k != "dtype"}, **formats}
            return t.to(*others, **names) if others or names else t

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Moves parameters and buffers to the device without their values, which are then whatever the memory holds."""
        return self._apply(lambda t: tenon.empty_like(t, device=device), recurse=recurse)

    def share_memory(self):
        """Moves parameters and buffers into memory that processes share: see Tensor.share_memory_()."""
        for tensor in itertools.chain(self.parameters(), self.buffers()):
            if is_lazy(tensor):
                tensor.share_memory_()  # raises
        return self._apply(lambda t: t.share_memory_())

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        return self._apply(lambda t: t.to(tenon.device("cuda") if device is None else device))

    def xpu(self, device=None):
        return self.to("xpu" if device is None else device)

    def ipu(self, device=None):
        return self.to("ipu" if device is None else device)

    def mtia(self, device=None):
        return self.to("mtia" if device is None else device)

    def _floating(self, dtype):
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def type(self, dst_type):
        return self._apply(lambda t: t.to(dst_type))

    def float(self):
        return self._floating(tenon.float32)

    def double(self):
        return self._floating(tenon.float64)

    def half(self):
        return self._floating(tenon.float16)

    def bfloat16(self):
        return self._floating(tenon.bfloat16)

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Without set_to_none gradients are zeroed in place."""
        for parameter in self.parameters():
            _clear_grad(parameter, set_to_none)

    # ---- calls ----

    def __call__(self, *args, **kwargs):
        own = self._forward_pre_hooks or self._forward_hooks or self._backward_pre_hooks or self._backward_hooks
        if not (own or _global_hooks):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args, kwargs):
        for hook in _of_kind(_global_hooks, "forward_pre"):
            result = hook(self, args)
            if result is not None:
                args = result if isinstance(result, tuple) else (result,)
        for key, hook in list(self._forward_pre_hooks.items()):
            with_kwargs = key in self._forward_pre_hooks_with_kwargs
            result = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if result is None:
                continue
            if with_kwargs:
                if not isinstance(result, tuple) or len(result) != 2:
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            else:
                args = result if isinstance(result, tuple) else (result,)
        called = set()

        def after(output, key):
            hook, with_kwargs = self._forward_hooks[key], key in self._forward_hooks_with_kwargs
            called.add(key)
            result = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            return output if result is None else result

        try:
            after_backward, of_last_node = _of_kind(_global_hooks, "backward"), _of_kind(_global_hooks, "last_node")
            own = of_last_node if self._is_full_backward_hook is False else after_backward
            own.extend(self._backward_hooks.values())
            before_backward = [*_of_kind(_global_hooks, "backward_pre"), *self._backward_pre_hooks.values()]
            if after_backward or before_backward:
                from tenon.nn.modules._backward_hook import BackwardHook

                hooks = BackwardHook(self, after_backward, before_backward)
                output = self.forward(*hooks.of_inputs(args), **kwargs)
                hooked = hooks.of_outputs
            else:
                output, hooked = self.forward(*args, **kwargs), lambda value: value
            for hook in _of_kind(_global_hooks, "forward"):
                result = hook(self, args, output)
                output = output if result is None else result
            for key in list(self._forward_hooks):
                output = after(output, key)
            output = hooked(output)
            if of_last_node:
                from tenon.nn.modules._backward_hook import hook_last_node

                hook_last_node(self, of_last_node, args, output)
            return output
        except Exception:
            # These see that the call is over in any case; their own errors do not hide the first one.
            for key in list(self._forward_hooks):
                if key in self._forward_hooks_always_called and key not in called:
                    try:
                        after(None, key)
                    except Exception:  # noqa: S110
                        pass
            raise

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args[, kwargs]) before each forward; what it returns replaces the arguments."""
        handle = _added(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args[, kwargs], output) after each forward; what it returns replaces the output."""
        handle = _added(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) before the gradients of the inputs are computed; it may return others."""
        return _added(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """The deprecated hook(module, grad_input, grad_output) of the module's last operation: the gradients are those of its
        inputs, which need not be the module's. See register_full_backward_hook()."""
        return self._added_backward_hook(hook, False, False)

    def _added_backward_hook(self, hook, is_full, prepend):
        if self._is_full_backward_hook is (not is_full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
            )
        self._is_full_backward_hook = is_full
        return _added(self._backward_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) when they have been computed; it may return another grad_input."""
        return self._added_backward_hook(hook, True, prepend)

    def compile(self, *args, **kwargs):
        """No effect: calls run as forward() is written."""

    # ---- state ----

    def get_extra_state(self):
        raise RuntimeError("Module.get_extra_state is not overridden")

    def set_extra_state(self, state):
        raise RuntimeError("Module.set_extra_state is not overridden")

    def _overrides(self, method):
        return getattr(type(self), method) is not getattr(Module, method)

    def register_state_dict_pre_hook(self, hook):
        """hook(module, prefix, keep_vars) before the module's entries are made."""
        return _added(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata) after the entries of the module and its children."""
        return _added(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)."""
        return _added(self._load_state_dict_pre_hooks, hook)

    # Under their private names, which programs use: hooks without the module.

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        without = functools.partial(_without_module, hook)
        return self.register_load_state_dict_pre_hook(hook if with_module else without)

    def _register_state_dict_hook(self, hook):
        return self.register_state_dict_post_hook(hook)

    def register_load_state_dict_post_hook(self, hook):
        """hook(module, incompatible_keys), which may change the two lists."""
        return _added(self._load_state_dict_post_hooks, hook)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._parameters.items():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if self._overrides("get_extra_state"):
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers under their paths, sharing memory with the module's."""
        if args:  # as old programs call it
            text = "Positional args are being deprecated, use kwargs instead. Refer to https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details."
            warnings.warn(text, FutureWarning, stacklevel=2)
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])[:3]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            destination = hook(self, destination, prefix, metadata) or destination
        return destination

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        buffers = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        for name, mine in itertools.chain(self._parameters.items(), buffers.items()):
            if mine is None:
                continue
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, tenon.Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected tenon.Tensor or Tensor-like object from '
                    f"checkpoint but received {type(given)}"
                )
                continue
            if is_lazy(mine) and is_lazy(given):
                continue
            if mine.dim() == 0 and given.shape == (1,):
                given = given[0]  # PyTorch 0.3 had no tensors of no dimension
            if given.shape != mine.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape "
                    f"in current model is {mine.shape}."
                )
                continue
            if assign:
                if isinstance(mine, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given, mine.requires_grad)
                (self._parameters if name in self._parameters else self._buffers)[name] = given
                continue
            with tenon.no_grad():
                mine.copy_(given)
        takes_extra_state = self._overrides("set_extra_state")
        if takes_extra_state:
            if prefix + _EXTRA_STATE in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA_STATE])
            elif strict:
                missing_keys.append(prefix + _EXTRA_STATE)
        if strict:
            known = {*self._parameters, *buffers, *self._modules, *([_EXTRA_STATE] if takes_extra_state else ())}
            for key in state_dict:
                if key.startswith(prefix):
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if name not in known or (dot and name not in self._modules):
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies the entries into the parameters and buffers of these names, or with `assign` puts them in their place.
        RuntimeError, which names all of them, for sizes that differ and, if strict, for keys missing or unexpected."""
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", {})

        def load(module, entries, prefix):
            local = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local["assign_to_params_buffers"] = True
            module._load_from_state_dict(entries, prefix, local, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    below = f"{prefix}{name}."
                    load(child, {k: v for k, v in entries.items() if k.startswith(below)}, below)
            incompatible = _IncompatibleKeys(missing, unexpected)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible) is not None:
                    raise AssertionError(
                        "Hooks registered with register_load_state_dict_post_hook are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        load(self, OrderedDict(state_dict), "")
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ". ")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)

    # ---- text ----

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


_getattr_of_modules, _call_of_modules = Module.__getattr__, Module.__call__
_set_module_call(_call_of_modules, _global_hooks)


def _quicken(cls):
    """What a class has from Module is done without Python's frames."""
    if cls.__getattr__ is _getattr_of_modules and cls.__getattribute__ is object.__getattribute__:
        _look_up_in_tables(cls)
    if cls.__call__ is _call_of_modules:
        _call_forward(cls)


_quicken(Module)
