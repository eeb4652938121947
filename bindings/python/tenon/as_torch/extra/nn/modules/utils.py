"""Helpers of layers."""

import itertools
from collections.abc import Iterable


def _ntuple(n, name="parse"):
    """A function: a number n times as a tuple; an iterable as a tuple."""

    def parse(x):
        return tuple(x) if isinstance(x, Iterable) else tuple(itertools.repeat(x, n))

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (
    _ntuple(1, "_single"),
    _ntuple(2, "_pair"),
    _ntuple(3, "_triple"),
    _ntuple(4, "_quadruple"),
)


def _reverse_repeat_tuple(t, n):
    """The elements from the last to the first, each n times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Sizes with defaults for None."""
    if isinstance(out_size, (int, float)):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [v if v is not None else d for v, d in zip(out_size, defaults[-len(out_size) :])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes the prefix off the names, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key and key in (prefix.replace(".", ""), prefix) or key.startswith(prefix):
            metadata[key[len(prefix) :]] = metadata.pop(key)
