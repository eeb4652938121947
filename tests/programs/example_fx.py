"""Programs as graphs: torch.fx."""

import copy
import math
import operator
import pickle
import typing
import warnings

import torch
import torch.nn.functional as F
from torch import fx, nn
from torch.fx.experimental.optimization import fuse, remove_dropout
from torch.fx.passes.shape_prop import ShapeProp
from torch.fx.passes.split_module import split_module

warnings.simplefilter("ignore")


def attempt(call, *args):
    try:
        return call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@fx.wrap
def leaf(x, scale=1):
    return x * scale


fx.wrap("len")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)
        self.drop = nn.Dropout(0.5)
        self.layers = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 3)))
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("scale", torch.full((1,), 2.0))

    def forward(self, x: torch.Tensor, k: int = 2, *args, flag=None, **kwargs) -> torch.Tensor:
        x = self.drop(F.relu(self.bn(self.conv(x)), inplace=True))
        b, c, h, w = x.shape
        x = x.view(b, c * h * w) * self.scale
        return self.layers(x)[:, 1:, ...] * self.weight.sum() + k


def many(x, y):
    a = leaf(x, scale=2) + len(y) - math.sqrt(y)
    b = torch.cat([a, y], dim=1).chunk(2, dim=-1)[0]
    c = F.softmax(F.gelu(b), dim=-1) @ F.linear(b, y) // 2 % 3
    d = F.interpolate(c, scale_factor=2.0) ** 2 / (1 - c) & (c > 3) | ~c
    e = F.cross_entropy(d, y, label_smoothing=0.1), F.max_pool2d(d, 2), F.dropout(d, 0.1), F.pad(d, (1, 1))
    f = torch.where(d != float("inf"), d.to(torch.float16), float("nan")), abs(d), -d, torch.norm(d), d.T
    return {"a": e, "b": [f, slice(0, 2), None, torch.float64, torch.device("cpu")]}


def typed(x: int, y: typing.List[torch.Tensor], z: typing.Optional[int] = None) -> typing.Tuple[int, torch.Tensor]:  # noqa: UP006, UP045
    return x, y[0]


def chosen(a, b, c=3):
    return a + c if b else a


def nested(x):
    return {"r": x["a"] + x["b"][0]}


def show(module):
    print(type(module).__name__, module.graph, module.code)


torch.manual_seed(0)
net = Net().eval()
image = torch.randn(2, 1, 4, 4)
traced = fx.symbolic_trace(net)
show(traced)
print("same", torch.allclose(traced(image), net(image)), list(traced.state_dict()), traced.training)
for program in (many, typed):
    show(fx.symbolic_trace(program))
show(fx.symbolic_trace(chosen, concrete_args={"b": True}))
show(fx.symbolic_trace(chosen, concrete_args={"b": None}))
tree = fx.symbolic_trace(nested, concrete_args={"x": {"a": fx.PH, "b": [fx.PH, 3]}})
show(tree)
print(tree({"a": torch.ones(1), "b": [torch.ones(1), 3]}))

# What cannot be traced.
for program in (
    lambda x: 1 if x > 0 else 2, lambda x: [y for y in x], lambda x: int(x), lambda x: range(x), lambda x: x + object(),
    lambda x: {x: 1}, lambda x: torch.relu(*x), lambda x: operator.setitem(x, 0, 1),
):  # fmt: skip
    print(attempt(fx.symbolic_trace, program))

# Graphs by hand.
graph = fx.Graph()
x = graph.placeholder("x", type_expr=int)
y = graph.placeholder("y", default_value=1)
relu = graph.call_function(torch.relu, (x,))
with graph.inserting_before(relu):
    neg = graph.call_method("neg", (x,), {"out": y})
graph.call_function(operator.iadd, (x, 1))
result = graph.output([relu, {"n": neg}])
print(graph, graph.python_code("self").src, [list(node.users) for node in graph.nodes], result.all_input_nodes)
print(attempt(graph.erase_node, relu), attempt(relu.args.__class__), attempt(result.args[0].append, 3))
neg.replace_all_uses_with(relu)
print(graph.eliminate_dead_code(), graph, [node.name for node in graph.find_nodes(op="placeholder")])
relu.append(x)
print(attempt(graph.lint))
print(attempt(graph.create_node, "step", "x"), attempt(graph.call_function, "relu"))
print(attempt(fx.GraphModule, {}, fx.symbolic_trace(net).graph))

# Changes of a graph.
for node in list(traced.graph.nodes):
    if node.target is F.relu:
        with traced.graph.inserting_after(node):
            new = traced.graph.call_function(F.gelu, node.args)
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
traced.graph.lint()
traced.recompile()
print(
    traced.code,
    traced.add_submodule("a.b", nn.ReLU()),
    traced.delete_submodule("a.c"),
    [n for n, _ in traced.named_modules()],
)
traced.delete_all_unused_submodules()
print([n for n, _ in traced.named_modules()], traced)
for made in (copy.deepcopy(traced), copy.copy(traced), pickle.loads(pickle.dumps(traced))):
    print(type(made).__name__, made.code == traced.code, torch.allclose(made(image), traced(image)))


class Rewritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)
        self.p = nn.Parameter(torch.ones(2))

    def forward(self, x, y):
        z = self.lin(x + y)
        a = torch.relu(z) + torch.relu(z)
        return torch.relu(a) + torch.relu(a) + self.p, z


rewritten = fx.symbolic_trace(Rewritten())
matches = fx.replace_pattern(rewritten, lambda v: torch.relu(v) + torch.relu(v), lambda v: torch.sigmoid(v) * 2)
print(matches, rewritten.code, rewritten.graph)

parts = {node: i for i, node in enumerate(rewritten.graph.nodes)}
split = split_module(rewritten, rewritten, lambda node: int(parts[node] > 4))
print(
    split.code, split.submod_0.code, split.submod_1.code, [t.sum().item() for t in split(torch.ones(2), torch.ones(2))]
)


class Shown(fx.Interpreter):
    def run_node(self, n):
        value = super().run_node(n)
        print(n.op, n.name, tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__)
        return value


class Swapped(fx.Transformer):
    def call_function(self, target, args, kwargs):
        return super().call_function(torch.tanh if target is torch.sigmoid else target, args, kwargs)


Shown(rewritten).run(torch.ones(3, 2), torch.ones(3, 2))
print(Swapped(rewritten).transform().code)
print(attempt(fx.Interpreter(rewritten).run, torch.ones(2)))
ShapeProp(rewritten).propagate(torch.ones(3, 2), torch.ones(3, 2))
rewritten.print_readable()
print([node.meta.get("tensor_meta") for node in rewritten.graph.nodes][2])
fused = fuse(net)
print(fused.code, torch.allclose(fused(image), net(image), atol=1e-5), remove_dropout(net).code)


class Deep(fx.Tracer):
    def is_leaf_module(self, module, name):
        return isinstance(module, nn.Linear)

    def iter(self, obj):
        return iter([obj[0], obj[1]])


tracer = Deep(param_shapes_constant=True)
print(tracer.trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Flatten())), tracer.node_name_to_scope)
print(Deep().trace(lambda x: [y + 1 for y in x]))
