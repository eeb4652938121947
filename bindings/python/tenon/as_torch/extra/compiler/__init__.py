"""torch.compiler: there is no compiler, functions run as they are written."""

import contextlib

from tenon.as_torch.extra._decorators import answer, given_back

disable = given_back("disable")
allow_in_graph = given_back("allow_in_graph")
assume_constant_result = given_back("assume_constant_result")
wrap_numpy = given_back("wrap_numpy")
nested_compile_region = given_back("nested_compile_region")

is_compiling = answer("is_compiling", False, "False: nothing is compiled.")
is_dynamo_compiling = answer("is_dynamo_compiling", False, "False: nothing is compiled.")
is_exporting = answer("is_exporting", False, "False: nothing is exported.")
list_backends = answer("list_backends", [], "No back ends.")
reset = answer("reset", None, "Nothing to forget.")
cudagraph_mark_step_begin = answer("cudagraph_mark_step_begin", None, "No CUDA graphs, no marks.")


def substitute_in_graph(original_fn, **kwargs):
    """The decorated function as it is."""
    return lambda traceable_fn: traceable_fn


class set_stance(contextlib.ContextDecorator):
    """What the compiler would do, which does not exist: no effect."""

    def __init__(self, stance="default", **kwargs):
        self.stance = stance

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def __getattr__(name):
    if name == "compile":
        from tenon.as_torch.extra._root import compile

        return compile
    raise AttributeError(name)
