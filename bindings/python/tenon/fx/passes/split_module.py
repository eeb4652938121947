"""split_module: a GraphModule as several, which call one another's results."""

from tenon.fx.graph import Graph
from tenon.fx.graph_module import GraphModule, _get_attr
from tenon.fx.node import map_arg
from tenon.fx.proxy import Proxy


class Partition:
    """The nodes of one part."""

    def __init__(self, name):
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names, self.inputs, self.outputs = [], {}, {}
        self.dependencies, self.dependents = {}, {}
        self.graph = Graph()
        self.environment, self.targets = {}, {}

    def __repr__(self):
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
            f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


_IN_BASE = {"placeholder", "get_attr", "output"}


def split_module(
    m, root_m, split_callback, qualname_map=None, keep_original_order=False, keep_original_node_name=False,
    keep_original_input_name=True, *, partition_affix=None, tuple_return=False,
):  # fmt: skip
    """The module as modules submod_0, submod_1, ... and one that calls them.

    split_callback(node): the part of a node, a number or name. Inputs, parameters and the output are of no part.
    qualname_map: a dict that takes the path in `m` of each submodule of the parts.
    keep_original_order: parts are called in the order in which they begin in `m`, not after what they depend on.
    tuple_return: a part with one result gives it as a tuple.
    """
    nodes = {node.name: node for node in m.graph.nodes}
    partitions, of_node = {}, {}
    for node in m.graph.nodes:
        if node.op in _IN_BASE:
            continue
        name = split_callback(node)
        if name not in partitions:
            partitions[name] = Partition(name)
            if partition_affix is not None:
                partitions[name].submod_name = f"submod_{partition_affix}_{name}"
        of_node[node] = partitions[name]
        partitions[name].node_names.append(node.name)
    for node in m.graph.nodes:
        _note_uses(node, of_node)
    order = list(partitions.values()) if keep_original_order else _sorted(list(partitions.values()))
    for partition in order:
        _begin(partition, nodes, keep_original_input_name)
    for node in m.graph.nodes:
        if node in of_node:
            _copy(node, of_node[node], m, qualname_map, keep_original_node_name)
    return _base(m, order, nodes, tuple_return)


def _note_uses(node, of_node):
    """Notes what crosses the borders of parts."""
    user = of_node.get(node)
    for used in node.all_input_nodes:
        maker = of_node.get(used)
        if maker is user:
            continue
        if maker is not None:
            maker.outputs.setdefault(used.name)
            if user is not None:
                maker.dependents.setdefault(user.name)
                user.dependencies.setdefault(maker.name)
        if user is not None:
            user.inputs.setdefault(used.name)


def _sorted(partitions):
    """The parts, each after those that it depends on."""
    by_name = {partition.name: partition for partition in partitions}
    missing = {partition.name: set(partition.dependencies) for partition in partitions}
    ready = [partition for partition in partitions if not partition.dependencies]
    found = []
    while ready:
        partition = ready.pop()
        found.append(partition)
        for name in partition.dependents:
            missing[name].discard(partition.name)
            if not missing[name]:
                ready.append(by_name[name])
    if len(found) != len(partitions):
        raise RuntimeError("cycle exists between partitions!")
    return found


def _begin(partition, nodes, keep_names):
    for i, name in enumerate(partition.inputs):
        original = nodes[name]
        node = partition.graph.placeholder(name if keep_names else f"arg_{i}", type_expr=original.type)
        node.meta = original.meta.copy()
        partition.environment[original] = node


def _copy(node, partition, m, qualname_map, keep_name):
    target = node.target
    if node.op == "call_module":
        value = m.get_submodule(node.target)
        target = node.target.replace(".", "_")
        partition.targets[target] = value
        if qualname_map is not None:
            qualname_map[f"{partition.submod_name}.{target}"] = node.target
    of = lambda used: partition.environment[used]  # noqa: E731
    new = partition.graph.create_node(
        op=node.op,
        target=target,
        args=map_arg(node.args, of),
        kwargs=map_arg(node.kwargs, of),
        name=node.name if keep_name else None,
        type_expr=node.type,
    )
    new.meta = node.meta.copy()
    partition.environment[node] = new


def _base(m, partitions, nodes, tuple_return):
    graph, values, attributes = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op == "placeholder":
            default = {"default_value": node.args[0]} if node.args else {}
            values[node.name] = graph.placeholder(node.target, type_expr=node.type, **default)
        elif node.op == "get_attr":
            values[node.name] = graph.get_attr(node.target, type_expr=node.type)
            attributes[node.target] = _get_attr(m, node.target)
        else:
            continue
        values[node.name].meta = node.meta.copy()
    for partition in partitions:
        results = tuple(partition.environment[nodes[name]] for name in partition.outputs)
        partition.graph.output(results[0] if len(results) == 1 and not tuple_return else results)
        attributes[partition.submod_name] = GraphModule(partition.targets, partition.graph)
        called = graph.call_module(partition.submod_name, tuple(values[name] for name in partition.inputs))
        if len(results) > 1 or tuple_return and results:
            for i, name in enumerate(partition.outputs):
                values[name] = Proxy(called)[i].node
                values[name].meta = nodes[name].meta.copy()
        elif results:
            values[next(iter(partition.outputs))] = called
            called.meta = nodes[next(iter(partition.outputs))].meta.copy()
    for node in m.graph.nodes:
        if node.op == "output":
            graph.output(map_arg(node.args[0], lambda used: values[used.name])).meta = node.meta.copy()
    return GraphModule(attributes, graph)
