"""Metrics of torchmetrics, as classes and functions."""

import torch
import torchmetrics
from torchmetrics.functional import accuracy, auroc, pearson_corrcoef, structural_similarity_index_measure

torch.manual_seed(0)
scores, target = torch.rand(50, 4).softmax(-1), torch.randint(0, 4, (50,))
collection = torchmetrics.MetricCollection({
    "acc": torchmetrics.Accuracy(task="multiclass", num_classes=4),
    "f1": torchmetrics.F1Score(task="multiclass", num_classes=4, average="macro"),
    "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=4),
})  # fmt: skip
for part in range(5):
    collection.update(scores[part * 10 : part * 10 + 10], target[part * 10 : part * 10 + 10])
result = collection.compute()
print(result["acc"].item(), result["f1"].item(), result["confusion"].tolist())
print(
    "auroc",
    auroc(scores, target, task="multiclass", num_classes=4).item(),
    accuracy(scores, target, task="multiclass", num_classes=4).item(),
)
a, b = torch.rand(2, 1, 16, 16), torch.rand(2, 1, 16, 16)
print(
    "ssim",
    structural_similarity_index_measure(a, b, data_range=1.0).item(),
    pearson_corrcoef(a.flatten(), b.flatten()).item(),
)
