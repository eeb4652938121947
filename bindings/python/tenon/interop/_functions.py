"""A namespace of tenon.ops as functions on another library's arrays."""


class Functions:
    """`convert` makes the function of an operator's; each is made once, when it is first asked for."""

    # Names with two underscores are no operators'.

    def __init__(self, ops, convert):
        self.__ops = ops
        self.__convert = convert

    def __getattr__(self, name):
        function = self.__convert(getattr(self.__ops, name))
        function.__name__ = function.__qualname__ = name
        setattr(self, name, function)
        return function

    def __dir__(self):
        return dir(self.__ops)
