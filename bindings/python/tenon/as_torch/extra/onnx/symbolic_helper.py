"""Decorators of functions that say how an operator would be exported: they give the function back."""


def parse_args(*descriptors):
    """A decorator that gives the function back."""
    return lambda function: function


def quantized_args(*descriptors, **options):
    """A decorator that gives the function back."""
    return lambda function: function
