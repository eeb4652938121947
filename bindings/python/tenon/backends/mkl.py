"""Intel's MKL, which Tenon does not use."""

__all__ = ["is_available"]


def is_available():
    """False."""
    return False
