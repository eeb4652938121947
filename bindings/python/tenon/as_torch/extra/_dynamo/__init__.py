"""torch._dynamo: there is no compiler, functions run as they are written."""

from tenon.as_torch.extra._decorators import answer, given_back
from tenon.as_torch.extra._dynamo import config as config
from tenon.as_torch.extra.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    is_compiling as is_compiling,
    list_backends as list_backends,
    reset as reset,
    substitute_in_graph as substitute_in_graph,
)

disable = given_back("disable")
disallow_in_graph = given_back("disallow_in_graph")
forbid_in_graph = given_back("forbid_in_graph")
nonstrict_trace = given_back("nonstrict_trace")
run = given_back("run")

graph_break = answer("graph_break", None, "No graph, no break.")
mark_dynamic = answer("mark_dynamic", None, "No effect: nothing is compiled for fixed sizes.")
maybe_mark_dynamic = answer("maybe_mark_dynamic", None, "No effect: nothing is compiled for fixed sizes.")
mark_static = answer("mark_static", None, "No effect: nothing is compiled for fixed sizes.")
mark_static_address = answer("mark_static_address", None, "No effect: there are no CUDA graphs.")
is_dynamo_supported = answer("is_dynamo_supported", False, "False: there is no compiler.")
