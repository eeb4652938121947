"""Wrapper subclasses with __torch_dispatch__, which Tenon does not have: no tensor is one."""


def is_traceable_wrapper_subclass(t):
    """False."""
    return False


def is_traceable_wrapper_subclass_type(t):
    """False."""
    return False
