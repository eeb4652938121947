"""Reductions of losses by number."""

import warnings

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction):
    """0 for none, 1 for mean, 2 for sum."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average, reduce, emit_warning=True):
    """The word for the two old arguments."""
    size_average = True if size_average is None else size_average
    reduction = "none" if reduce is False else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=2,
        )
    return reduction


def legacy_get_enum(size_average, reduce, emit_warning=True):
    """Its number."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
