"""Decorators whose effect in PyTorch is speed alone: they give the function back."""


def given_back(name):
    """A decorator of that name, with or without arguments in brackets: the function, class or module as it is."""

    def decorator(fn=None, *args, **kwargs):
        if callable(fn):
            return fn
        return lambda function: function

    decorator.__name__ = decorator.__qualname__ = name
    decorator.__doc__ = "The function as it is."
    return decorator


def answer(name, value, doc):
    """A question of that name without arguments that matter."""

    def question(*args, **kwargs):
        return value

    question.__name__ = question.__qualname__ = name
    question.__doc__ = doc
    return question
