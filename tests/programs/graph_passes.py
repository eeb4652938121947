"""Changes of programs as graphs: torch_pruning, and passes of torch.fx by hand."""

import torch
import torch.nn.functional as F
import torch_pruning as tp
from torch import fx, nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.bn = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, 3, padding=1)
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        x = F.relu(self.bn(self.a(x)))
        x = x + self.b(x)
        return self.fc(x.mean((2, 3)))


model, image = Net().eval(), torch.randn(2, 3, 8, 8)
graph = tp.DependencyGraph().build_dependency(model, example_inputs=image)
group = graph.get_pruning_group(model.a, tp.prune_conv_out_channels, idxs=[1, 4])
print(graph.check_pruning_group(group))
group.prune()
print(model, tuple(model(image).shape), round(model(image).sum().item(), 3))
pruner = tp.pruner.MagnitudePruner(
    Net(), image, importance=tp.importance.MagnitudeImportance(p=2), pruning_ratio=0.5, ignored_layers=[]
)
pruner.step()
print([tuple(p.shape) for p in pruner.model.parameters()])


class Quantized(fx.Interpreter):
    """Rounds the weights of linear layers."""

    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        if isinstance(module, nn.Linear):
            return F.linear(args[0], (module.weight * 16).round() / 16, module.bias)
        return super().call_module(target, args, kwargs)


traced = fx.symbolic_trace(model)
print([n.name for n in traced.graph.nodes], round(Quantized(traced).run(image).sum().item(), 3))
for node in traced.graph.nodes:
    if node.target is F.relu:
        node.target, node.kwargs = F.leaky_relu, {"negative_slope": 0.1}
traced.graph.lint()
traced.recompile()
print(traced.code, round(traced(image).sum().item(), 3))
