"""The base of all optimizers: groups of parameters with their options, and a state for each parameter."""

import copy
from collections import OrderedDict, defaultdict
from itertools import chain

import tenon


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class Optimizer:
    """A subclass defines update(parameter, gradient, state, group), or update_all() of lists of the first three; they are called
    without recording, for what has a gradient."""

    def __init__(self, params, defaults):
        self.defaults, self.state, self.param_groups = defaults, defaultdict(dict), []
        self._hooks = {"pre": OrderedDict(), "post": OrderedDict()}
        if isinstance(params, tenon.Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor")
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """ValueError for a tensor that is no leaf or is in a group already, or a required option that is missing."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, (set, frozenset)):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will "
                            "change between runs. Please use a list instead.")
        params = [params] if isinstance(params, tenon.Tensor) else list(params)
        if params and isinstance(params[0], tuple):
            group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            if not isinstance(param, tenon.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not param.is_leaf and not param.retains_grad:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            if value is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, value)
        known = {id(param) for other in self.param_groups for param in other["params"]}
        if any(id(param) in known for param in params) or len({id(p) for p in params}) < len(params):
            raise ValueError("some parameters appear in more than one parameter group")
        group["params"] = params
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    param.grad = None if set_to_none else tenon.zeros_like(param.grad)

    def step(self, closure=None):
        """One step by the gradients; with a closure, which computes them anew, of what it returns."""
        for hook in list(self._hooks["pre"].values()):
            hook(self, (closure,), {})
        loss = None
        if closure is not None:
            with tenon.enable_grad():
                loss = closure()
        with tenon.no_grad():
            for group in self.param_groups:
                params = [param for param in group["params"] if param.grad is not None]
                if params:
                    self.update_all(params, [param.grad for param in params], [self.state[param] for param in params], group)
        for hook in list(self._hooks["post"].values()):
            hook(self, (closure,), {})
        return loss

    def update_all(self, params, grads, states, group):
        for param, grad, state in zip(params, grads, states):
            self.update(param, grad, state, group)

    def update(self, param, grad, state, group):
        raise NotImplementedError(f"{type(self).__name__} defines no update()")

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) before each step."""
        from tenon.nn.modules.module import _added

        return _added(self._hooks["pre"], hook)

    def register_step_post_hook(self, hook):
        from tenon.nn.modules.module import _added

        return _added(self._hooks["post"], hook)

    # ---- state ----

    def state_dict(self):
        """{"state": {number: state}, "param_groups": [...]}, with the numbers of the parameters in place of them."""
        numbers = {}
        for group in self.param_groups:
            for param in group["params"]:
                numbers[id(param)] = len(numbers)
        groups = [{**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]}
                  for group in self.param_groups]
        return {"state": {numbers[id(param)]: state for param, state in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """ValueError unless the groups have the sizes of this optimizer's. Moments take the parameter's dtype and device."""
        groups = copy.deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for mine, given in zip(self.param_groups, groups):
            if len(mine["params"]) != len(given["params"]):
                raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = dict(zip(chain.from_iterable(g["params"] for g in groups),
                          chain.from_iterable(g["params"] for g in self.param_groups)))

        def cast(value, param, key):
            if isinstance(value, tenon.Tensor):
                if key == "step":
                    return value.clone()
                if param.is_floating_point():
                    return value.to(param.device, param.dtype, copy=True)
                return value.to(param.device, copy=True)
            if isinstance(value, dict):
                return {k: cast(v, param, k) for k, v in value.items()}
            if isinstance(value, (list, tuple)):
                return type(value)(cast(v, param, key) for v in value)
            return value

        self.state = defaultdict(dict)
        for number, state in state_dict["state"].items():
            if number in params:
                self.state[params[number]] = cast(state, params[number], None)
        for mine, given in zip(self.param_groups, groups):
            mine.update({k: v for k, v in given.items() if k != "params"})

    def __repr__(self):
        lines = []
        for i, group in enumerate(self.param_groups):
            lines += [f"Parameter Group {i}", *(f"    {name}: {group[name]}" for name in sorted(group) if name != "params")]
        return f"{type(self).__name__} (\n" + "\n".join(lines) + "\n)"


def checked(**limits):
    """ValueError for an option outside [low, high)."""
    for name, (value, low, high) in limits.items():
        if not low <= value < high:
            raise ValueError(f"Invalid {name}: {value}")


def plain(optimizer, *flags):
    """NotImplementedError where one of `capturable` and `differentiable` is asked for."""
    if any(flags):
        raise NotImplementedError(f"{type(optimizer).__name__}: differentiable and capturable")
