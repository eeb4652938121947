"""Apple's GPUs, which Tenon does not serve."""

__all__ = ["is_available", "is_built"]


def is_available():
    """False."""
    return False


def is_built():
    """False."""
    return False
