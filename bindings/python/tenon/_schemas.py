"""What an overload of an operator says of its arguments and results: OpOverload._schema, in PyTorch's terms."""

from tenon import _C

# PyTorch's names of types, where a schema has others.
_NAMES = {"Scalar": "number", "SymInt": "int", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}


def _type(text):
    """ "Optional[List[int]]" of "int[2]?"."""
    if text.endswith("?"):
        return f"Optional[{_type(text[:-1])}]"
    if text.endswith("]"):
        return f"List[{_type(text[: text.rindex('[')])}]"
    return _NAMES.get(text, text)


class Type:
    """The type of an argument or result; str() is PyTorch's name."""

    def __init__(self, text):
        self._text = text

    def kind(self):
        """ "TensorType", "ListType", "OptionalType", "NumberType", ..."""
        first = self._text.partition("[")[0]
        return {"number": "NumberType", "str": "StringType"}.get(first, first[:1].upper() + first[1:] + "Type")

    def __eq__(self, other):
        return isinstance(other, Type) and self._text == other._text

    def __hash__(self):
        return hash(self._text)

    def __str__(self):
        return self._text

    __repr__ = __str__


class AliasInfo:
    """Which memory an argument or result shares: names of sets before and after the call, and whether it is written."""

    def __init__(self, before, after, wildcard, is_write):
        self.before_set, self.is_write = set(before), is_write
        self.after_set = set(after or before) if not wildcard else {"*"}


class Argument:
    """An argument or a result."""

    def __init__(self, name, text, kwarg_only=False, has_default=False, default=None, alias=None, size=None):
        self.name, self.kwarg_only, self.N = name, kwarg_only, size
        self.type = self.real_type = Type(_type(text))
        self.alias_info = AliasInfo(*alias) if alias else None
        self.default_value, self._has_default = default, has_default
        self.is_out = kwarg_only and self.is_write

    @property
    def is_write(self):
        return self.alias_info is not None and self.alias_info.is_write

    def has_default_value(self):
        """Whether a call may leave it out."""
        return self._has_default


class FunctionSchema:
    """A schema; str() is its text."""

    def __init__(self, name, overload_name, text, arguments, returns):
        self.name, self.overload_name, self.arguments, self.returns = name, overload_name, arguments, returns
        self._text = text

    @property
    def is_mutable(self):
        """Whether an argument is written."""
        return any(argument.is_write for argument in self.arguments)

    def __str__(self):
        dotted = f"{self.name}.{self.overload_name}" if self.overload_name else self.name
        return dotted + self._text

    __repr__ = __str__


def schema_of(packet, name, overload):
    """The FunctionSchema of "aten::add", "aten::add.Tensor", "Tensor"."""
    overload = "" if overload == "default" else overload
    text, arguments, returns = _C._overload_schema(packet, overload)
    results = [Argument(r[0], r[1], alias=r[2]) for r in returns]
    return FunctionSchema(packet, overload, text, [Argument(*a) for a in arguments], results)
