"""torch.fx: nothing is traced. Marks of what would not be traced through have no effect."""


def wrap(fn_or_name):
    """The function, or its name, as it is."""
    return fn_or_name
