"""transformer_lens: hooks by name on modules, and matrices in factors."""

import torch
from transformer_lens import FactoredMatrix, HookedRootModule, utilities
from transformer_lens.hook_points import HookPoint

torch.manual_seed(0)


class Attention(HookedRootModule):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.queries = torch.nn.Linear(width, 3 * width)
        self.output = torch.nn.Linear(width, width)
        self.hook_pattern, self.hook_z = HookPoint(), HookPoint()
        self.setup()

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.queries(x).view(batch, length, 3, self.heads, self.size).unbind(2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.size**0.5
        mask = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
        pattern = self.hook_pattern(scores.masked_fill(mask, -torch.inf).softmax(-1))
        z = self.hook_z(torch.einsum("bhqk,bkhd->bqhd", pattern, v))
        return self.output(z.reshape(batch, length, width))


model = Attention(16, 4)
x = torch.randn(2, 5, 16)
output, cache = model.run_with_cache(x)
print("cache", {name: tuple(value.shape) for name, value in cache.items()})
print("pattern", cache["hook_pattern"].sum(-1).mean().item(), model.hook_dict.keys())


def ablate(value, hook):
    value[:, :, 1] = 0.0
    return value


ablated = model.run_with_hooks(x, fwd_hooks=[("hook_z", ablate)])
print("ablated", (ablated - output).abs().max().item())
gradients = {}
model.add_hook("hook_z", lambda value, hook: gradients.update({hook.name: value.detach().clone()}), dir="bwd")
model(x).square().sum().backward()
print("gradients", {name: value.norm().item() for name, value in gradients.items()})
model.reset_hooks()
print("all", len(model.run_with_cache(x, names_filter=lambda name: name.endswith("z"))[1]))
product = FactoredMatrix(torch.randn(6, 2), torch.randn(2, 6))
print(
    "factors",
    product.shape,
    product.norm().item(),
    product.S.tolist(),
    product.eigenvalues.abs().sort().values.tolist(),
)
print(
    "parts",
    (product @ torch.eye(6)).norm().item(),
    product.T.shape,
    product.collapse_l().shape,
    product[0].norm().item() > 0,
)
loss = utilities.lm_cross_entropy_loss(torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5)))
print("utilities", loss.item(), utilities.gelu_new(x).sum().item(), utilities.get_act_name("z", 1))
