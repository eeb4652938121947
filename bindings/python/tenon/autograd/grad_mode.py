"""no_grad, enable_grad, set_grad_enabled, inference_mode: context managers and decorators."""

import functools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

from tenon import _C


class _Mode:
    """Sets whether operations are recorded, until the end of the block or of the decorated function."""

    def __enter__(self):
        self._previous.append(_C.is_grad_enabled())
        _C._set_grad_enabled(self._mode)

    def __exit__(self, *exception):
        _C._set_grad_enabled(self._previous.pop())

    def clone(self):
        """Another of the same mode."""
        return self.__class__()

    def __call__(self, function):
        import inspect

        if inspect.isclass(function):
            raise TypeError(f"{self.__class__.__name__} decorates functions, not classes: decorate the methods")
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        # The mode holds while the generator runs, and not while its caller does.
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            while True:
                try:
                    with self.clone():
                        result = send(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value, send = (yield result), generator.send
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    value, send = error, generator.throw

        return wrapped


class _FixedMode(_Mode):
    def __new__(cls, orig_func=None) -> "Any":
        self = object.__new__(cls)
        self._previous = []
        # Also as a decorator without parentheses.
        return self if orig_func is None else self(orig_func)


class no_grad(_FixedMode):
    """Operations within are not recorded."""

    _mode = False


class enable_grad(_FixedMode):
    """Operations within are recorded, also inside of no_grad."""

    _mode = True


class set_grad_enabled(_Mode):
    """set_grad_enabled(mode) holds from the call on; in a `with` statement until its end."""

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {mode.__class__.__name__}"
            )
        self._mode = mode
        self._previous = []
        self._before = _C.is_grad_enabled()
        _C._set_grad_enabled(self._mode)

    def __enter__(self):
        self._previous.append(self._before)
        _C._set_grad_enabled(self._mode)

    def clone(self):
        return set_grad_enabled(self._mode)

    def __repr__(self):
        return f"tenon.autograd.grad_mode.set_grad_enabled(mode={self._mode})"

    def __call__(self, function):
        _C._set_grad_enabled(self._before)  # decorating sets nothing yet
        return super().__call__(function)


class inference_mode(_Mode):
    """inference_mode(mode=True): what is made within are inference tensors, which never take part in gradients."""

    def __new__(cls, mode=True):
        # Also as a decorator without parentheses.
        return object.__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode
        self._scope = _C._InferenceScope(mode)

    def __enter__(self):
        self._scope.__enter__()

    def __exit__(self, *exception):
        self._scope.__exit__(*exception)

    def clone(self):
        return inference_mode(self.mode)
