"""Modules that are faster when they only infer."""

import copy

from tenon import nn
from tenon.fx._symbolic_trace import symbolic_trace
from tenon.fx.graph import Graph
from tenon.fx.graph_module import GraphModule
from tenon.fx.interpreter import Transformer
from tenon.fx.node import Node
from tenon.nn.utils.fusion import fuse_conv_bn_eval


def _parent_name(target):
    """(path of the parent, own name)"""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern, node, modules):
    """Whether the node calls a module of pattern[1] with what only it uses of one of pattern[0]."""
    if len(node.args) == 0:
        return False
    for expected, current in zip(pattern, (node.args[0], node)):
        if not isinstance(current, Node) or current.op != "call_module" or not isinstance(current.target, str):
            return False
        if current.target not in modules or type(modules[current.target]) is not expected:
            return False
    return True


def replace_node_module(node, modules, new_module):
    """Puts a module in the place of the one that the node calls."""
    if not isinstance(node.target, str):
        raise AssertionError(f"Expected str target, got {type(node.target)}")
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model, inplace=False, no_trace=False):
    """The module with each batch norm that follows a convolution made part of it. Both must be in eval().

    inplace: the module itself is changed. no_trace: the module is a GraphModule already.
    """
    patterns = [(nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d)]
    if not inplace:
        model = copy.deepcopy(model)
    fx_model = model if no_trace and isinstance(model, GraphModule) else symbolic_trace(model)
    modules = dict(fx_model.named_modules())
    new_graph = copy.deepcopy(fx_model.graph)
    for pattern in patterns:
        for node in new_graph.nodes:
            if not matches_module_pattern(pattern, node, modules) or len(node.args[0].users) > 1:
                continue
            conv, bn = modules[node.args[0].target], modules[node.target]
            if not bn.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, fuse_conv_bn_eval(conv, bn))
            node.replace_all_uses_with(node.args[0])
            new_graph.erase_node(node)
    return GraphModule(fx_model, new_graph)


def remove_dropout(model):
    """The module without its Dropouts."""
    fx_model = symbolic_trace(model)

    class DropoutRemover(Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.Dropout):
                if len(args) != 1:
                    raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
                return args[0]
            return super().call_module(target, args, kwargs)

    return DropoutRemover(fx_model).transform()


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """The GraphModule of these nodes, from the inputs to the outputs."""
    new_graph, values = Graph(), {}
    for node in inputs:
        values[node] = new_graph.placeholder(node.name)
    for node in nodes:
        values[node] = new_graph.node_copy(node, lambda n: values[n])
    new_graph.output([values[node] for node in outputs])
    new_graph.lint()
    return GraphModule(orig_module, new_graph)
