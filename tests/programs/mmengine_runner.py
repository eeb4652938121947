"""mmengine: its runner, hooks, registries, configurations, and modules with weights by rules."""

import logging
import os

import torch
from mmengine.config import Config
from mmengine.evaluator import BaseMetric
from mmengine.hooks import Hook
from mmengine.model import BaseModel, BaseModule, ExponentialMovingAverage, Sequential
from mmengine.registry import HOOKS, METRICS, MODELS
from mmengine.runner import Runner, load_state_dict
from mmengine.structures import BaseDataElement, InstanceData
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 5)
data = TensorDataset(x, (x.sum(1) > 0).long())


@MODELS.register_module()
class Classifier(BaseModel):
    def __init__(self, width):
        super().__init__(init_cfg=dict(type="Normal", layer="Linear", std=0.3))
        self.net = torch.nn.Sequential(torch.nn.Linear(5, width), torch.nn.ReLU(), torch.nn.Linear(width, 2))

    def forward(self, inputs, labels, mode="tensor"):
        scores = self.net(inputs)
        if mode == "loss":
            return {"loss": torch.nn.functional.cross_entropy(scores, labels)}
        return (scores, labels) if mode == "predict" else scores


@METRICS.register_module()
class Accuracy(BaseMetric):
    def process(self, data_batch, data_samples):
        scores, labels = data_samples
        self.results.append({"size": len(labels), "correct": (scores.argmax(1) == labels).sum().item()})

    def compute_metrics(self, results):
        return {"accuracy": sum(r["correct"] for r in results) / sum(r["size"] for r in results)}


losses = []


@HOOKS.register_module()
class Losses(Hook):
    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        losses.append(outputs["loss"].item())


runner = Runner(
    model=dict(type="Classifier", width=8),
    work_dir=os.path.join(os.getcwd(), "work"),
    train_dataloader=DataLoader(data, batch_size=16),
    val_dataloader=DataLoader(data, batch_size=16),
    val_evaluator=dict(type="Accuracy"),
    val_cfg=dict(),
    train_cfg=dict(by_epoch=True, max_epochs=3, val_interval=1),
    optim_wrapper=dict(optimizer=dict(type="AdamW", lr=0.02), clip_grad=dict(max_norm=1.0)),
    param_scheduler=[
        dict(type="LinearLR", start_factor=0.1, begin=0, end=3, by_epoch=False),
        dict(type="CosineAnnealingLR", T_max=6, begin=3, end=9, by_epoch=False),
    ],
    custom_hooks=[dict(type="Losses"), dict(type="EMAHook")],
    default_hooks=dict(checkpoint=dict(type="CheckpointHook", interval=1, max_keep_ckpts=1)),
    randomness=dict(seed=0),
    log_level=logging.ERROR,
)
model = runner.train()
print("losses", losses)
print("validated", runner.val_evaluator.metrics[0].prefix, runner.message_hub.get_scalar("val/accuracy").current())
checkpoint = torch.load(os.path.join("work", "epoch_3.pth"), weights_only=False)
print("checkpoint", sorted(checkpoint), checkpoint["meta"]["epoch"], checkpoint["meta"]["iter"])
again = MODELS.build(dict(type="Classifier", width=8))
load_state_dict(again, checkpoint["state_dict"])
print("loaded", again(x, None).abs().mean().item())
found = InstanceData(scores=torch.tensor([0.9, 0.2, 0.7]), boxes=torch.arange(12.0).reshape(3, 4))
kept = found[found.scores > 0.5]
print("instances", len(kept), kept.boxes.tolist(), InstanceData.cat([kept, found]).scores.tolist())
sample = BaseDataElement(metainfo=dict(size=(3, 4)), heat=torch.ones(2))
print("element", sample.to_dict()["heat"].tolist(), sample.metainfo, sample.numpy().heat.sum())
average = ExponentialMovingAverage(torch.nn.Linear(2, 1), momentum=0.1)
average.update_parameters(torch.nn.Linear(2, 1))
average.update_parameters(torch.nn.Linear(2, 1))
print("average", average.steps.item(), [tuple(p.shape) for p in average.module.parameters()])
config = Config(dict(model=dict(type="Classifier", width=4), lr=0.1))
config.merge_from_dict({"model.width": 6})
print("config", config.model.width, Sequential(MODELS.build(config.model)).children().__next__().net[0].out_features)
print("module", BaseModule(init_cfg=None).is_init)
