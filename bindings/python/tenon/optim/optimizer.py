"""The base of all optimizers: groups of parameters with their options, and a state for each parameter."""

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from itertools import chain

import tenon
from tenon.nn.modules.module import _added, _clear_grad


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()

# The hooks of an optimizer, and those of steps of all optimizers.
_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)
_global_optimizer_pre_hooks, _global_optimizer_post_hooks = OrderedDict(), OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """hook(optimizer, args, kwargs) before each step of every optimizer."""
    return _added(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """hook(optimizer, args, kwargs) after each step of every optimizer."""
    return _added(_global_optimizer_post_hooks, hook)


class Optimizer:
    """A subclass defines step(), or update(parameter, gradient, state, group), or update_all() of lists of the first three. These two are
    called without recording, for parameters with a gradient. Before each, start(parameter, state, group) makes what is missing of a state;
    group["first"] is what it returns, whether anything was. formula() is the step that differentiable=True records."""

    #: Names of numbers in a parameter's state, which are 0-dim tensors.
    scalars = ("step",)

    _in_step = False
    _opt_called = None  # True after a step; None as long as no scheduler asks

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in vars(cls):
            cls.step = cls.profile_hook_step(cls.step)

    def __init__(self, params, defaults):
        self.defaults, self.state, self.param_groups = defaults, defaultdict(dict), []
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        if isinstance(params, tenon.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __getstate__(self):
        """Hooks are neither copied nor pickled."""
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        vars(self).update(state)
        for name in _HOOKS:
            vars(self).setdefault(name, OrderedDict())

    def add_param_group(self, param_group):
        """ValueError for a tensor that is no leaf or is in a group already, or a required option that is missing."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, (set, frozenset)):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
                "change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, tenon.Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names:
            if len(names) < len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"] = names
            params = [param for _, param in params]
        for param in params:
            if not isinstance(param, tenon.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not (param.is_leaf or param.retains_grad or self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, value)
        if repeats(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for other in self.param_groups:
            if ("param_names" in group) != ("param_names" in other):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if 'param_names' in group else 'without'} names to the optimizer"
                )
        known = {id(param) for other in self.param_groups for param in other["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = params
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        """Without set_to_none gradients are zeroed in place."""
        for group in self.param_groups:
            for param in group["params"]:
                _clear_grad(param, set_to_none)

    @staticmethod
    def profile_hook_step(func):
        """step() with the hooks around it. If it calls another step() of the same optimizer, they are called once."""

        @functools.wraps(func)
        def hooked(self, *args, **kwargs):
            if self._in_step or "_optimizer_step_pre_hooks" not in vars(
                self
            ):  # one around another optimizer calls no __init__()
                return func(self, *args, **kwargs)
            self._in_step = True
            try:
                args = self, *args
                for hook in [*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
                    result = hook(self, args, kwargs)
                    if result is None:
                        continue
                    if not isinstance(result, tuple) or len(result) != 2:
                        raise RuntimeError(
                            f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                        )
                    args, kwargs = result
                if self._opt_called is not None:
                    self._opt_called = True
                out = func(*args, **kwargs)
                for hook in [*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()]:
                    hook(self, args, kwargs)
                return out
            finally:
                self._in_step = False

        return hooked

    def step(self, closure=None):
        """One step by the gradients; with a closure, which computes them anew, of what it returns."""
        loss = None
        if closure is not None:
            with tenon.enable_grad():
                loss = closure()
        differentiable = bool(self.defaults.get("differentiable"))
        with tenon.set_grad_enabled(differentiable):
            for group in self.param_groups:
                params = [param for param in group["params"] if param.grad is not None]
                states = [self.state[param] for param in params]
                begun = [self.start(param, state, group) for param, state in zip(params, states)]
                numbers = group if differentiable else _with_numbers(group)
                if differentiable or any(begun) or repeats(params):
                    self._step_in_parts(
                        params, states, begun, numbers, self._record_all if differentiable else self.update_all
                    )
                elif params:
                    self.update_all(params, [param.grad for param in params], states, {**numbers, "first": False})
                for param, state in zip(params, states):
                    if not state:
                        self.state.pop(param, None)
        return loss

    def _step_in_parts(self, params, states, begun, group, update):
        """Those whose state begins apart; one at a time if a parameter is listed twice, for the second step begins where the first ends."""
        first = {id(state): False for state in states}
        for state, one in zip(states, begun):
            first[id(state)] |= bool(one)
        count = 1 if repeats(params) else len(params)
        for choice in (False, True):
            chosen = [one for one in zip(params, states) if first[id(one[1])] == choice]
            for at in range(0, len(chosen), count):
                some, kept = zip(*chosen[at : at + count])
                update(some, [param.grad for param in some], kept, {**group, "first": choice})

    def start(self, param, state, group):
        """Makes what is missing of a state, and returns whether anything was."""

    def update_all(self, params, grads, states, group):
        for param, grad, state in zip(params, grads, states):
            self.update(param, grad, state, group)

    def update(self, param, grad, state, group):
        raise NotImplementedError(f"{type(self).__name__} defines no update()")

    def formula(self, p, g, state, group):
        """(p after the step, what changes of the state) in differentiable operators; of complex parameters as pairs of real numbers."""
        raise NotImplementedError(f"{type(self).__name__} defines no formula(), which differentiable=True needs")

    def _record_all(self, params, grads, states, group):
        for one in zip(params, grads, states):
            self._record(*one, group)

    def _record(self, param, grad, state, group):
        if "step" in state:
            state["step"].add_(1)
        as_real, as_given = (tenon.view_as_real, tenon.view_as_complex) if param.is_complex() else (_same, _same)
        moments = {
            name: as_real(value) for name, value in state.items() if value is not None and name not in self.scalars
        }
        # Of a copy: what the derivative needs of it must not be overwritten.
        after, changed = self.formula(as_real(param.clone()), as_real(grad), {**state, **moments}, group)
        param.copy_(as_given(after))
        for name in moments.keys() & changed.keys():
            state[name] = as_given(changed[name].to(moments[name].dtype))

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) before each step, with the optimizer first in args; it may return others, (args, kwargs)."""
        return _added(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """hook(optimizer, args, kwargs) after each step."""
        return _added(self._optimizer_step_post_hooks, hook)

    # ---- state ----

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer) before the state dict is made."""
        return _added(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict) after the state dict has been made; it may return another one."""
        return _added(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict) before a shallow copy of what was given is loaded; it may return another one."""
        return _added(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer) after a state dict has been loaded."""
        return _added(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self):
        """{"state": {number: state}, "param_groups": [...]}, with the numbers of the parameters in place of them."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        numbers, count, groups = {}, 0, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = count
                count += 1
            groups.append(
                {
                    **{k: v for k, v in group.items() if k != "params"},
                    "params": [numbers[id(p)] for p in group["params"]],
                }
            )
        state = {numbers[id(key)] if isinstance(key, tenon.Tensor) else key: value for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            replaced = hook(self, result)
            result = result if replaced is None else replaced
        return result

    def load_state_dict(self, state_dict):
        """ValueError unless the groups have the sizes of this optimizer's. Moments take the parameter's dtype and device."""
        state_dict = state_dict.copy()
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        groups = copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for mine, given in zip(self.param_groups, groups):
            if len(mine["params"]) != len(given["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        params = dict(
            zip(
                chain.from_iterable(g["params"] for g in groups),
                chain.from_iterable(g["params"] for g in self.param_groups),
            )
        )
        states = defaultdict(dict)
        for key, state in state_dict["state"].items():
            if key in params:
                state = self._loaded(state, params[key])
                if isinstance(state, dict):
                    self._scalars_as_tensors(state)
            states[params.get(key, key)] = state
        for mine, given in zip(self.param_groups, groups):
            mine.update({k: v for k, v in given.items() if k != "params"})
        self.__setstate__({"state": states, "param_groups": self.param_groups})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def _loaded(self, value, param, key=None):
        """A copy with the parameter's dtype and device."""
        if isinstance(value, tenon.Tensor):
            if key == "step":
                return value.clone()
            return value.to(param.device, param.dtype if param.is_floating_point() else value.dtype, copy=True)
        if isinstance(value, dict):
            return {k: self._loaded(v, param, k) for k, v in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
            return type(value)(self._loaded(v, param) for v in value)
        return value

    def _scalars_as_tensors(self, state):
        """Old files have plain numbers. A subclass that has no start() keeps its own."""
        if type(self).start is Optimizer.start:
            return
        for name in self.scalars:
            if isinstance(state.get(name), (int, float)):
                state[name] = scalar(state[name])

    def __repr__(self):
        groups = []
        for i, group in enumerate(self.param_groups):
            lines = [
                f"Parameter Group {i}",
                *(f"    {name}: {group[name]}" for name in sorted(group) if name != "params"),
            ]
            groups.append("\n".join(lines))
        return f"{type(self).__name__} (\n" + "\n\n".join(groups) + "\n)"


Optimizer.step = Optimizer.profile_hook_step(Optimizer.step)


def check_paths(optimizer, *, capturable=False, differentiable=False, foreach=None, fused=None):
    """RuntimeError for options that exclude each other, NotImplementedError for `capturable`."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if capturable:
        raise NotImplementedError(f"{type(optimizer).__name__}: capturable")


def scalar(value=0.0, fused=False):
    """A number of a state: in float32 it counts further than in the half types that may be the default."""
    wide = tenon.get_default_dtype() == tenon.float64 and not fused
    return tenon.tensor(float(value), dtype=tenon.float64 if wide else tenon.float32)


def pairs(*tensors):
    """The tensors, complex ones as pairs of real numbers: each part has a step of its own. Parameters are written."""
    read = [t if t is None or (t.is_leaf and t.requires_grad) else t.resolve_conj() for t in tensors]
    return [tenon.view_as_real(t) if t is not None and t.is_complex() else t for t in read]


def pairs_like(params):
    """pairs() for lists of tensors with the dtypes of `params`; quick if all are real."""
    return (lambda tensors: pairs(*tensors)) if any(param.is_complex() for param in params) else list


def filled(param, value):
    """A moment that begins with `value` in each part."""
    return tenon.full_like(param.detach(), complex(value, value) if param.is_complex() else float(value))


def set_number(number, value):
    """The value passes through the default dtype, as PyTorch has it, whatever the dtype that a loaded state has."""
    number.copy_(tenon.tensor(float(value)))


def repeats(params):
    """Whether a parameter is listed twice."""
    return len({id(param) for param in params}) < len(params)


def _with_numbers(group):
    """The options with numbers in the place of tensors, such as a learning rate may be."""

    def number(value):
        if isinstance(value, tenon.Tensor):
            return value.item()
        return tuple(number(v) for v in value) if isinstance(value, tuple) else value

    return {name: value if name == "params" else number(value) for name, value in group.items()}


def _same(value):
    return value
