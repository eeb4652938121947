"""replace_pattern: parts of a graph that look like another one, replaced."""

import copy
import dataclasses
import typing

from tenon.fx._symbolic_trace import symbolic_trace
from tenon.fx.graph import Graph
from tenon.fx.graph_module import GraphModule
from tenon.fx.node import Node
from tenon.fx.passes.utils.matcher_utils import SubgraphMatcher


class Match(typing.NamedTuple):
    """A part that was replaced: its last node, and the nodes of the pattern with those of the graph."""

    anchor: Node
    nodes_map: dict


@dataclasses.dataclass
class ReplacedPatterns:
    """As Match, with the nodes that were added."""

    anchor: Node
    nodes_map: dict
    replacements: list


def replace_pattern(gm, pattern, replacement):
    """Replaces every part of the module's graph that looks like the pattern. Gives a Match for each.

        def pattern(x):
            return tenon.relu(x) + 1

        def replacement(x):
            return tenon.relu(x + 1)

        tenon.fx.replace_pattern(traced, pattern, replacement)

    pattern, replacement: functions or GraphModules with the same inputs. Parts do not overlap.
    """
    return [Match(found.anchor, found.nodes_map) for found in _replace(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals=False,
    replacement_callback=None,
    node_name_match="",
):
    """As replace_pattern(), for matches of which every filter(match, graph, pattern's graph) is true. Gives ReplacedPatterns.

    ignore_literals: numbers in the pattern match any.
    replacement_callback: gives the graph to replace a match with.
    """
    return _replace(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


def _graph(program):
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


def _replace(gm, pattern, replacement, match_filters=None, ignore_literals=False, replacement_callback=None):
    graph, pattern_graph = gm.graph, _graph(pattern)
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either replacement GraphModule or replacement callback")
    matcher = SubgraphMatcher(
        pattern_graph,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=ignore_literals,
    )
    matches = [
        match
        for match in matcher.match(graph)
        if all(keep(match, graph, pattern_graph) for keep in match_filters or [])
    ]
    common = _graph(replacement) if replacement is not None and replacement_callback is None else None
    results, changed = [], {}
    for match in matches:
        new_graph = common or _graph(replacement_callback(match, graph, pattern_graph))
        results.append(_replace_one(gm, match, new_graph, changed))
    gm.recompile()
    if isinstance(replacement, GraphModule):
        _copy_attributes(gm, replacement)
    return results


def _replace_one(gm, match, new_graph, changed):
    graph = gm.graph
    inputs = [node for node in new_graph.nodes if node.op == "placeholder"]
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(f"expected {len(match.placeholder_nodes)} placeholders, got {len(inputs)}")
    given = [changed.get(old, old) if isinstance(old, Node) else old for old in match.placeholder_nodes]
    for pattern_node, old in list(match.nodes_map.items()):
        if pattern_node.op == "placeholder" and isinstance(old, Node):
            match.nodes_map[pattern_node] = changed.get(old, old)
    values = dict(zip(inputs, given))
    last = max(match.returning_nodes, key=graph._place)
    known = set(values)
    with graph.inserting_before(_first_user(graph, match, given) or last):
        copied = graph.graph_copy(new_graph, values)
    if isinstance(copied, Node):
        copied = (copied,)
    if len(match.returning_nodes) != len(copied):
        raise AssertionError(f"expected {len(match.returning_nodes)} outputs, got {len(copied)}")
    for old, new in zip(match.returning_nodes, copied):
        old.replace_all_uses_with(new)
        changed[old] = new
    anchor = match.anchors[0]
    pattern = next(iter(match.nodes_map)).graph
    for node in reversed(pattern.nodes):
        if node.op in {"placeholder", "output"} or node not in match.nodes_map:
            continue
        found = match.nodes_map[node]
        if not found.users and not found._erased:
            graph.erase_node(found)
    new_nodes = [value for node, value in values.items() if node not in known]
    return ReplacedPatterns(anchor=anchor, nodes_map=match.nodes_map, replacements=new_nodes)


def _first_user(graph, match, inputs):
    """The place at which the replacement's inputs and outputs are there: before the first user of what the part gives."""
    inside = set(match.nodes_map.values())
    users = [user for node in match.returning_nodes for user in node.users if user not in inside]
    first = min(users, key=graph._place, default=None)
    if first is None or any(graph._place(node) >= graph._place(first) for node in inputs if isinstance(node, Node)):
        return None
    return first


def _copy_attributes(gm, replacement):
    """Submodules and parameters that the replacement names."""
    from tenon.fx.graph_module import _assign_attr, _get_attr, _has_attr

    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op in {"call_module", "get_attr"} and not _has_attr(gm, node.target):
            if not _has_attr(replacement, node.target):
                raise RuntimeError(
                    'Attempted to create a "' + node.op + '" node during subgraph rewriting '
                    f"with target {node.target}, but the referenced attribute does not exist in the replacement GraphModule"
                )
            _assign_attr(copy.deepcopy(_get_attr(replacement, node.target)), gm, node.target)
    gm.graph.lint()
