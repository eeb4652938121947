"""A namespace of tenon.ops as functions on another library's arrays."""


class Functions:
    """`convert` makes the function of an operator's; each is made once, when it is first asked for."""

    def __init__(self, ops, convert):
        self._ops = ops
        self._convert = convert

    def __getattr__(self, name):
        function = self._convert(getattr(self._ops, name))
        function.__name__ = function.__qualname__ = name
        setattr(self, name, function)
        return function

    def __dir__(self):
        return dir(self._ops)
