"""Questions about exported programs."""


def model_is_exported(m):
    """False: Tenon exports no programs."""
    return False
