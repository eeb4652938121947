"""Private helpers that optimizers of programs are written with."""

import functools

import tenon
from tenon.as_torch.extra.utils._foreach_utils import _get_foreach_kernels_supported_devices  # noqa: F401

_params_doc = _foreach_doc = _fused_doc = _capturable_doc = _differentiable_doc = _maximize_doc = ""


def _use_grad_for_differentiable(func):
    """A step whose operations are recorded if the option `differentiable` is set, otherwise not."""

    @functools.wraps(func)
    def step(self, *args, **kwargs):
        with tenon.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **kwargs)

    return step


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that gives the function back: nothing is compiled."""
    return lambda func: func


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(False, False): one tensor after the other."""
    return False, False


def _get_value(x):
    """The number in a tensor; another number as it is."""
    return x.item() if isinstance(x, tenon.Tensor) else x


def _to_scalar(x):
    """A tensor of one element without dimensions; a number as it is."""
    return x.squeeze() if isinstance(x, tenon.Tensor) and x.dim() != 0 else x


def _stack_if_compiling(x):
    """The list as it is: nothing is compiled."""
    return x


def _dispatch_sqrt(x):
    """The square root of a number or tensor."""
    return x.sqrt() if isinstance(x, tenon.Tensor) else x**0.5


def _get_scalar_dtype(is_fused=None):
    """The dtype of counts of steps."""
    return tenon.float64 if tenon.get_default_dtype() == tenon.float64 and not is_fused else tenon.float32


def _get_capturable_supported_devices(supports_xla=True):
    """The devices on which steps can be captured: none."""
    return []


def _view_as_real(params, *state_and_grads):
    """Complex tensors of the lists as pairs of real numbers, in place."""
    for i, param in enumerate(params):
        if param.is_complex():
            params[i] = tenon.view_as_real(param)
            for tensors in state_and_grads:
                tensors[i] = tenon.view_as_real(tensors[i].resolve_conj())
