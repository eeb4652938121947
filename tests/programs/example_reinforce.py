"""In the style of PyTorch's examples: actor and critic with torch.distributions."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal, kl_divergence

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine, self.action, self.value = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, x):
        x = torch.relu(self.affine(x))
        return torch.softmax(self.action(x), dim=-1), self.value(x)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-2)
for _ in range(4):
    state, log_probs, values, rewards = torch.ones(4), [], [], []
    for _ in range(10):
        probs, value = policy(state)
        m = Categorical(probs)
        action = m.sample()
        state = torch.tanh(state + 0.1 * (action.item() * 2 - 1) * torch.tensor([1.0, -1.0, 0.5, 0.2]))
        log_probs.append(m.log_prob(action)), values.append(value), rewards.append(state[0].item())
    returns, R = [], 0.0
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    losses = [
        -lp * (R - v.item()) + nn.functional.smooth_l1_loss(v, R.view(1))
        for lp, v, R in zip(log_probs, values, returns)
    ]
    optimizer.zero_grad()
    loss = torch.stack(losses).sum()
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), sum(rewards))
print("kl", kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0)).item())
