"""Weights over their largest singular value by a hook: the form that files of older programs have. New programs:
parametrizations.spectral_norm().
"""

import tenon
from tenon.nn import functional as F
from tenon.nn.parameter import Parameter, is_lazy
from tenon.nn.utils.parametrizations import _transposed

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook: before each call the weight is computed from weight_orig, in training after a step of the power method."""

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight):
        if self.dim:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with tenon.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(tenon.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(tenon.mv(matrix, v), dim=0, eps=self.eps))
            # Copies: the next step changes the buffers, which a pass may still need.
            u, v = u.clone(), v.clone()
        return weight / tenon.dot(u, tenon.mv(matrix, v))

    def remove(self, module):
        with tenon.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for ending in ("_u", "_v", "_orig"):
            delattr(module, self.name + ending)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward before "
                "applying spectral normalization"
            )
        with tenon.no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).shape
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # A plain attribute, so that it is there before the first call.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        return hook


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Has the weight, seen as a matrix with `dim` as its rows, be of spectral norm 1; gives the module."""
    SpectralNorm.apply(module, name, n_power_iterations, (1 if _transposed(module) else 0) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Has the weight be a parameter again; gives the module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
