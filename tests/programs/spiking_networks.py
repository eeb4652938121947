"""Neurons that fire, and weights with distributions: snntorch, torchbnn, blitz."""

import snntorch as snn
import torch
import torchbnn as bnn
from blitz.modules import BayesianLinear
from snntorch import functional as SF, spikegen, surrogate
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
lif = snn.Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid())
membrane, spikes = lif.init_leaky(), []
for step in range(5):
    spike, membrane = lif(net(torch.ones(2, 4) * (step + 1)), membrane)
    spikes.append(spike)
record = torch.stack(spikes)
loss = SF.ce_rate_loss()(record, torch.tensor([0, 2]))
loss.backward()
print(
    "leaky",
    record.sum().item(),
    round(membrane.sum().item(), 4),
    round(loss.item(), 4),
    round(net.weight.grad.abs().sum().item(), 4),
)
synaptic = snn.Synaptic(alpha=0.9, beta=0.8)
syn, mem = synaptic.init_synaptic()
spike, syn, mem = synaptic(torch.ones(1, 3), syn, mem)
print("synaptic", spike.tolist(), [round(v, 3) for v in mem[0].tolist()])
print("latency", spikegen.latency(torch.tensor([0.1, 0.5, 0.9]), num_steps=5, normalize=True, linear=True).sum().item())
layer = bnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=3, out_features=2)
print("kl", round(bnn.BKLLoss(reduction="mean")(layer).item(), 4))
bayesian = BayesianLinear(3, 2)
print("blitz", tuple(bayesian(torch.ones(1, 3)).shape), round(bayesian.weight_mu.std().item(), 3) > 0)
