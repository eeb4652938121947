"""KL divergences of pairs of distributions: KL(p || q) = E_p[log p(x) - log q(x)], in a table that can be extended."""

import functools
import warnings

import tenon

__all__ = ["kl_divergence", "register_kl"]

_table = {}  # from pairs of classes to functions of two distributions
_found = {}  # what was looked up, of classes that the table has not itself


def register_kl(type_p, type_q):
    """Decorator of a function kl(p, q) of two distributions, for these classes and those derived from them.

    Where several pairs fit, the classes that are derived from the others win; if p's and q's disagree in that, a
    RuntimeWarning says so and p decides. The pair of the classes themselves, entered, settles it.
    """

    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # PyTorch takes any class, and programs give others
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(function):
        _table[type_p, type_q] = function
        _found.clear()
        return function

    return decorator


def _is_nearer(a, b):
    """Whether the classes `a` come before `b`: the first that differ decide, derived before base."""
    for x, y in zip(a, b):
        if x is not y:
            return issubclass(x, y)
    return True


def _nearest(matches):
    return functools.reduce(lambda a, b: a if _is_nearer(a, b) else b, matches)


def _look_up(type_p, type_q):
    matches = [(p, q) for p, q in _table if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    by_p = _table[_nearest(matches)]
    q, p = _nearest([(q, p) for p, q in matches])
    if by_p is not _table[p, q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({_nearest(matches)[0].__name__}, {q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return by_p


def kl_divergence(p, q):
    """KL(p || q), of the batch shape."""
    pair = type(p), type(q)
    function = _table.get(pair) or _found.get(pair)
    if function is None:
        function = _found[pair] = _look_up(*pair)
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}"
        )
    return function(p, q)


def infinite_where(condition, value):
    """The value, infinite where p has values that q has not."""
    return tenon.where(condition, float("inf"), value)


# Each enters its pairs.
from tenon.distributions.kl import across_families, gaussian, same_family  # noqa: E402, F401
