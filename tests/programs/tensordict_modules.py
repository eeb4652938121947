"""tensordict: dictionaries of tensors, modules over them."""

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential

torch.manual_seed(0)
data = TensorDict({"x": torch.randn(4, 3), "nested": {"y": torch.ones(4, 2)}}, batch_size=[4])
print(sorted(data.keys()), data["nested", "y"].sum().item(), data[:2].batch_size, torch.stack([data, data]).batch_size)
net = TensorDictSequential(
    TensorDictModule(torch.nn.Linear(3, 5), in_keys=["x"], out_keys=["h"]),
    TensorDictModule(torch.nn.Tanh(), in_keys=["h"], out_keys=["out"]),
)
net(data)
print("out", data["out"].sum().item(), data.apply(lambda t: t * 2)["x"].sum().item())
