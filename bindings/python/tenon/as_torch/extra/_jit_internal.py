"""Names of torch.jit under their private home."""

from tenon.as_torch.extra._decorators import answer, given_back
from tenon.as_torch.extra.jit import (
    Final as Final,
    _overload as _overload,
    _overload_method as _overload_method,
    export as export,
    ignore as ignore,
    is_scripting as is_scripting,
    unused as unused,
)

_copy_to_script_wrapper = given_back("_copy_to_script_wrapper")
is_tracing = answer("is_tracing", False, "False: nothing is traced.")


class _Broadcasting:
    """In annotations: BroadcastingList2[int] is a list of two numbers, or one number for both."""

    def __getitem__(self, item):
        return list[item]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _Broadcasting()


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls one of two by the value of an argument."""

    def fn(*args, **kwargs):
        given = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if given else if_false)(*args, **kwargs)

    fn.__name__ = func_name or fn.__name__
    return fn
