"""Losses, miners and samplers of pytorch-metric-learning."""

import torch
from pytorch_metric_learning import distances, losses, miners

torch.manual_seed(0)
embeddings, labels = torch.randn(16, 8, requires_grad=True), torch.arange(16) % 4
for name, loss in (
    ("triplet", losses.TripletMarginLoss(distance=distances.CosineSimilarity())),
    ("ntxent", losses.NTXentLoss()),
    ("contrastive", losses.ContrastiveLoss()),
    ("supcon", losses.SupConLoss()),
    ("arcface", losses.ArcFaceLoss(4, 8)),
):
    value = loss(embeddings, labels)
    (gradient,) = torch.autograd.grad(value, embeddings)
    print(name, value.item(), gradient.abs().sum().item())
print("mined", [len(i) for i in miners.MultiSimilarityMiner()(embeddings, labels)])
