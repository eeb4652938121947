"""Decorators of data pipes, which are missing: they give the class or function back."""


def functional_datapipe(name, enable_df_api_tracing=False):
    """A decorator that gives the class back."""
    return lambda cls: cls
