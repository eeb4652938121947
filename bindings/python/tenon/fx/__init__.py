"""Programs as graphs: modules and functions are traced, changed and written as Python again. The names are torch.fx's.

traced = tenon.fx.symbolic_trace(module)
print(traced.graph, traced.code)
"""

from tenon.fx._symbolic_trace import (
    PH as PH,
    ProxyableClassMeta as ProxyableClassMeta,
    Tracer as Tracer,
    symbolic_trace as symbolic_trace,
    wrap as wrap,
)
from tenon.fx.graph import CodeGen as CodeGen, Graph as Graph
from tenon.fx.graph_module import GraphModule as GraphModule
from tenon.fx.interpreter import Interpreter as Interpreter, Transformer as Transformer
from tenon.fx.node import Node as Node, has_side_effect as has_side_effect, map_arg as map_arg
from tenon.fx.proxy import Proxy as Proxy
from tenon.fx.subgraph_rewriter import replace_pattern as replace_pattern
