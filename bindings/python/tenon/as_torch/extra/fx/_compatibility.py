"""A decorator that says how stable a function's form is: it gives the function back."""


def compatibility(is_backward_compatible):
    """A decorator that gives the function or class back."""
    return lambda fn: fn
