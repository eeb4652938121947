"""torcheval: metrics as functions and as objects with states."""

import torch
from torcheval.metrics import (
    BinaryAUROC,
    Mean,
    MeanSquaredError,
    MulticlassAccuracy,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
    Perplexity,
    R2Score,
    RetrievalPrecision,
    Throughput,
    TopKMultilabelAccuracy,
    WordErrorRate,
    functional as F,
)
from torcheval.metrics.toolkit import clone_metric, reset_metrics

torch.manual_seed(0)
scores, target = torch.rand(40, 4), torch.randint(0, 4, (40,))
accuracy, f1 = MulticlassAccuracy(average="macro", num_classes=4), MulticlassF1Score(num_classes=4, average="weighted")
confusion = MulticlassConfusionMatrix(4, normalize="true")
for part in range(4):
    for metric in (accuracy, f1, confusion):
        metric.update(scores[part * 10 : part * 10 + 10], target[part * 10 : part * 10 + 10])
print("accuracy", accuracy.compute().item(), f1.compute().item(), confusion.compute().tolist())
other = clone_metric(accuracy)
accuracy.merge_state([other])
print("merged", accuracy.compute().item(), sorted(accuracy.state_dict()))
binary = torch.randint(0, 2, (40,))
print("auroc", BinaryAUROC().update(scores[:, 0], binary).compute().item(), F.binary_auprc(scores[:, 0], binary).item())
print("curve", [len(part) for part in F.binary_precision_recall_curve(scores[:, 0], binary)])
print(
    "regression",
    MeanSquaredError().update(scores, scores.flip(0)).compute().item(),
    R2Score().update(scores, scores + 0.1).compute().item(),
)
print(
    "words",
    WordErrorRate().update(["a b c"], ["a c c d"]).compute().item(),
    F.bleu_score(["a b c d e"], ["a b c d f"], n_gram=2).item(),
)
print("perplexity", Perplexity().update(torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))).compute().item())
print("top", TopKMultilabelAccuracy(k=2).update(scores, (scores > 0.5).long()).compute().item())
print("retrieval", RetrievalPrecision(k=2).update(scores[:5, 0], binary[:5]).compute().item())
mean = Mean()
mean.update(scores, weight=2.0)
print("mean", mean.compute().item(), reset_metrics([mean])[0].compute().item())
print("hit", F.hit_rate(scores, target, k=2).mean().item(), F.reciprocal_rank(scores, target).mean().item())
print(
    "auc",
    F.auc(torch.arange(5.0), torch.arange(5.0) ** 2).item(),
    F.topk_multilabel_accuracy(scores, (scores > 0.3).long(), k=2).item(),
)
print("throughput", Throughput().update(64, 2.0).compute())
