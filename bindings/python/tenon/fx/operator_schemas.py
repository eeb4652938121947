"""Arguments of a call by the signature of what is called."""

import inspect
import typing


class ArgsKwargsPair(typing.NamedTuple):
    """Arguments of a call."""

    args: tuple
    kwargs: dict


def _bound(signature, args, kwargs, only_kwargs):
    given = signature.bind(*args, **kwargs)
    given.apply_defaults()
    if not only_kwargs:
        named = {}
        positional = []
        for name, parameter in signature.parameters.items():
            if name not in given.arguments:
                continue
            value = given.arguments[name]
            if parameter.default is inspect.Parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append(value)
            else:
                named[name] = value
        return ArgsKwargsPair(tuple(positional), named)
    return ArgsKwargsPair((), dict(given.arguments))


def normalize_function(target, args, kwargs=None, arg_types=None, kwarg_types=None, normalize_to_only_use_kwargs=False):
    """(args, kwargs) of a function's call, with defaults; None if its signature is not known or does not fit."""
    try:
        signature = inspect.signature(inspect.unwrap(target))
        return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
    except (TypeError, ValueError):
        return None


def normalize_module(root, target, args, kwargs=None, normalize_to_only_use_kwargs=False):
    """(args, kwargs) of a submodule's call, with defaults; None if they do not fit."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize arguments for module target {target} but root did not have that target!"
        ) from error
    if not hasattr(type(module), "forward"):
        return None
    return normalize_function(module.forward, args, kwargs, None, None, normalize_to_only_use_kwargs)
