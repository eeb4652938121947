"""Helpers of checkpoints that programs use."""

import warnings

import tenon


def _gpus_of(*args):
    return list(dict.fromkeys(arg.get_device() for arg in args if isinstance(arg, tenon.Tensor) and arg.is_cuda))


def get_device_states(*args):
    """(numbers, states) of the generators of the GPUs that the tensors are on."""
    numbers = _gpus_of(*args)
    return numbers, [tenon.cuda.get_rng_state(number) for number in numbers]


def set_device_states(devices, states, *, device_type=None):
    """Sets what get_device_states() has given."""
    for number, state in zip(devices, states):
        tenon.cuda.set_rng_state(state, number)


def detach_variable(inputs):
    """The tensors of a tuple without the graph behind them."""

    def detached(value):
        return value.detach().requires_grad_(value.requires_grad) if isinstance(value, tenon.Tensor) else value

    return tuple(detached(value) for value in inputs)


def check_backward_validity(inputs):
    """A warning if no tensor of the inputs requires a gradient."""
    if not any(value.requires_grad for value in inputs if isinstance(value, tenon.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)
