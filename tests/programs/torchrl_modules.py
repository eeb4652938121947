"""Actors and values of torchrl."""

import torch
from tensordict import TensorDict
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torchrl.modules import MLP, ProbabilisticActor, TanhNormal, ValueOperator

torch.manual_seed(0)
actor = ProbabilisticActor(
    TensorDictModule(
        torch.nn.Sequential(MLP(in_features=3, out_features=4, num_cells=[8]), NormalParamExtractor()),
        in_keys=["observation"],
        out_keys=["loc", "scale"],
    ),
    in_keys=["loc", "scale"],
    distribution_class=TanhNormal,
    return_log_prob=True,
)
value = ValueOperator(MLP(in_features=3, out_features=1, num_cells=[8]), in_keys=["observation"])
data = TensorDict({"observation": torch.randn(5, 3)}, [5])
actor(data)
print(tuple(data["action"].shape), value(data)["state_value"].shape)
