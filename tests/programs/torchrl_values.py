"""torchrl: value estimates and a replay buffer."""

import logging

import torch
from torchrl.data import LazyTensorStorage, ReplayBuffer
from torchrl.objectives.value.functional import generalized_advantage_estimate

logging.disable()
torch.manual_seed(0)
reward, value, following = torch.rand(1, 6, 1), torch.rand(1, 6, 1), torch.rand(1, 6, 1)
done = torch.zeros(1, 6, 1, dtype=torch.bool)
done[0, -1] = True
advantage, target = generalized_advantage_estimate(0.99, 0.95, value, following, reward, done)
print("gae", advantage.flatten().tolist(), target.sum().item())
buffer = ReplayBuffer(storage=LazyTensorStorage(10), batch_size=4)
buffer.extend(torch.arange(10))
print("buffer", len(buffer), buffer.sample().shape)
