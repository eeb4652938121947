"""Switches of changes to come in PyTorch: those that Tenon keeps to are fixed."""


def get_overwrite_module_params_on_conversion():
    """False: Module.to() changes parameters in place."""
    return False


def get_swap_module_params_on_conversion():
    """False: Module.to() changes parameters in place."""
    return False
