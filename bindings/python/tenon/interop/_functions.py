"""A namespace of tenon.ops as functions on another library's arrays."""


class Functions:
    """`convert` makes the function of an operator's; each is made once, when it is first asked for."""

    # Its own attributes have names that no operator has: __x here is _Functions__x.
    def __init__(self, ops, convert):
        self.__ops = ops
        self.__convert = convert

    def __getattr__(self, name):
        if name.startswith("_Functions__"):  # of one that is being copied
            raise AttributeError(name)
        function = self.__convert(getattr(self.__ops, name))
        function.__name__ = function.__qualname__ = name
        setattr(self, name, function)
        return function

    def __dir__(self):
        return dir(self.__ops)
