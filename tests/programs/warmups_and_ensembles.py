"""pytorch-warmup, warmup-scheduler, torchensemble."""

import pytorch_warmup
import torch
from warmup_scheduler import GradualWarmupScheduler

torch.manual_seed(0)
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
warmup = pytorch_warmup.LinearWarmup(optimizer, 5)
for _ in range(6):
    net(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    with warmup.dampening():
        schedule.step()
    print("lr", optimizer.param_groups[0]["lr"])
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
gradual = GradualWarmupScheduler(
    sgd, multiplier=1, total_epoch=3, after_scheduler=torch.optim.lr_scheduler.StepLR(sgd, 2)
)
for epoch in range(1, 6):
    sgd.step()
    gradual.step(epoch)
    print("gradual", sgd.param_groups[0]["lr"])
