"""Learning without labels: lightly."""

import torch
from lightly.loss import BarlowTwinsLoss, DINOLoss, NegativeCosineSimilarity, NTXentLoss, VICRegLoss
from lightly.models.modules import BYOLProjectionHead, SimCLRProjectionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum

torch.manual_seed(0)
a, b = torch.randn(8, 16, requires_grad=True), torch.randn(8, 16)
for loss in (NTXentLoss(), BarlowTwinsLoss(), NegativeCosineSimilarity(), VICRegLoss()):
    a.grad = None
    value = loss(a, b)
    value.backward()
    print(type(loss).__name__, round(value.item(), 4), round(a.grad.abs().sum().item(), 4))
print("DINO", round(DINOLoss(output_dim=16)([a, b], [b, a, a], epoch=0).item(), 4))
head, other = SimCLRProjectionHead(16, 8, 4), SimCLRProjectionHead(16, 8, 4)
update_momentum(head, other, m=0.9)
deactivate_requires_grad(other)
print(
    tuple(head(a).shape), any(p.requires_grad for p in other.parameters()), tuple(BYOLProjectionHead(16, 8, 4)(a).shape)
)
