"""Parts of a graph that look like a pattern."""

import copy
import dataclasses

import tenon
from tenon import _C
from tenon.fx.graph_module import _get_attr
from tenon.fx.node import Node


@dataclasses.dataclass
class InternalMatch:
    """A part of a graph: the nodes of the pattern with those of the graph, and what goes in and comes out."""

    anchors: list
    nodes_map: dict = dataclasses.field(default_factory=dict)
    placeholder_nodes: list = dataclasses.field(default_factory=list)
    returning_nodes: list = dataclasses.field(default_factory=list)
    name_node_map: dict = dataclasses.field(default_factory=dict)

    def __copy__(self):
        return InternalMatch(
            anchors=self.anchors,
            nodes_map=self.nodes_map.copy(),
            placeholder_nodes=self.placeholder_nodes.copy(),
            returning_nodes=self.returning_nodes.copy(),
        )


class SubgraphMatcher:
    """Finds a pattern, a graph, in other graphs.

    match_output, match_placeholder: whether outputs and inputs have to be those of the graph.
    remove_overlapping_matches: a node is in one match only; the first ones stay.
    ignore_literals: numbers of the pattern match any argument.
    """

    def __init__(
        self,
        pattern,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=False,
    ):
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:
            self.pattern_anchors = [node for node in output.all_input_nodes if len(node.users) == 1]

    def match(self, graph, node_name_match=""):
        """The InternalMatches in the graph."""
        candidates = [
            [node for node in graph.nodes if self._nodes_are_equal(anchor, node, node_name_match)]
            for anchor in self.pattern_anchors
        ]
        found = []

        def extend(index, match):
            if index == len(candidates):
                match.placeholder_nodes = [match.nodes_map[node] for node in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[node] for node in self.pattern_returning_nodes]
                found.append(match)
                return
            for node in candidates[index]:
                trial = copy.copy(match)
                if self._match_nodes(self.pattern_anchors[index], node, trial):
                    extend(index + 1, trial)

        anchors = list(self.pattern_anchors)
        if anchors:
            extend(0, InternalMatch(anchors=anchors))
        found = [match for match in found if self._is_contained(match.nodes_map)]
        return self._without_overlaps(found) if self.remove_overlapping_matches else found

    def _without_overlaps(self, matches):
        taken, kept = set(), []
        for match in matches:
            own = {
                node
                for pattern, node in match.nodes_map.items()
                if pattern.op not in {"placeholder", "output", "get_attr"} and isinstance(node, Node)
            }
            if not own & taken:
                taken |= own
                kept.append(match)
        return kept

    def _is_contained(self, nodes_map):
        """Whether nothing outside uses the part's inner nodes."""
        inside = {node for node in nodes_map.values() if isinstance(node, Node)}
        for pattern, node in nodes_map.items():
            if pattern.op in {"placeholder", "get_attr"} or pattern in self.pattern_returning_nodes:
                continue
            if any(user not in inside for user in node.users):
                return False
        return True

    def _nodes_are_equal(self, pn, gn, node_name_match=""):
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in {"placeholder", "output"}:
            return True
        if pn.op == "get_attr":
            return self._attributes_are_equal(pn, gn)
        if pn.op == "call_module":
            return self._modules_are_equal(pn, gn)
        return pn.target == gn.target

    @staticmethod
    def _attributes_are_equal(pn, gn):
        first, second = _get_attr(pn.graph.owning_module, pn.target), _get_attr(gn.graph.owning_module, gn.target)
        if isinstance(first, _C.Tensor):
            return isinstance(second, _C.Tensor)
        if isinstance(first, tenon.nn.Module):
            return isinstance(second, type(first))
        raise RuntimeError(f"Unsupported type {type(first)} when matching attributes")

    @staticmethod
    def _modules_are_equal(pn, gn):
        return type(_get_attr(pn.graph.owning_module, pn.target)) is type(_get_attr(gn.graph.owning_module, gn.target))

    def _match_nodes(self, pn, gn, match):
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        if gn in match.nodes_map.values() and not (pn.op == "placeholder" and not self.match_placeholder):
            return False
        if not self._nodes_are_equal(pn, gn):
            return False
        saved = copy.copy(match)
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if self._arguments_match(pn, gn, match):
            return True
        match.nodes_map = saved.nodes_map
        return False

    def _arguments_match(self, pn, gn, match):
        first, second = (pn.args, pn.kwargs), (gn.args, gn.kwargs)
        if len(pn.args) != len(gn.args) or list(pn.kwargs) != list(gn.kwargs):
            normalized = self._normalized(pn, gn)
            if normalized is None:
                return False
            first, second = normalized
        return self._match_args(list(first[0]), list(second[0]), match) and self._match_args(
            list(first[1].values()), list(second[1].values()), match
        )

    @staticmethod
    def _normalized(pn, gn):
        """Both nodes' arguments by name, if the signature says how."""
        try:
            first = pn.normalized_arguments(pn.graph.owning_module, normalize_to_only_use_kwargs=True)
            second = gn.normalized_arguments(gn.graph.owning_module, normalize_to_only_use_kwargs=True)
        except (RuntimeError, TypeError, ValueError):
            return None
        if first is None or second is None or set(first.kwargs) != set(second.kwargs):
            return None
        return (first.args, first.kwargs), (second.args, {name: second.kwargs[name] for name in first.kwargs})

    def _match_args(self, first, second, match):
        if len(first) != len(second):
            return False
        return all(self._match_arg(a, b, match) for a, b in zip(first, second))

    def _match_arg(self, a, b, match):
        if isinstance(a, Node) and isinstance(b, Node):
            return self._match_nodes(a, b, match)
        if isinstance(a, Node):
            # A number of the graph for an input of the pattern.
            if a.op != "placeholder" or self.match_placeholder:
                return False
            if a in match.nodes_map:
                return type(match.nodes_map[a]) is type(b) and match.nodes_map[a] == b
            match.nodes_map[a] = b
            return True
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return self._match_args(list(a), list(b), match)
        if isinstance(a, slice) and isinstance(b, slice):
            return self._match_args([a.start, a.stop, a.step], [b.start, b.stop, b.step], match)
        if isinstance(b, Node):
            return False
        return self.ignore_literals or type(a) is type(b) and a == b
