"""More of lightning and torchmetrics: a data module, schedulers, metrics of text and images."""

import warnings

import pytorch_lightning as pl
import torch
import torchmetrics
from pytorch_lightning.callbacks import EarlyStopping, LearningRateMonitor, StochasticWeightAveraging
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")


class Data(pl.LightningDataModule):
    def setup(self, stage):
        x = torch.linspace(-1, 1, 64)[:, None]
        self.data = TensorDataset(x, (x > 0).float())

    def train_dataloader(self):
        return DataLoader(self.data, batch_size=16)

    val_dataloader = train_dataloader


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        self.scores = torchmetrics.MetricCollection([torchmetrics.Accuracy("binary"), torchmetrics.AUROC("binary")])

    def training_step(self, batch, index):
        return nn.functional.binary_cross_entropy_with_logits(self.net(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.scores.update(self.net(batch[0]).sigmoid().flatten(), batch[1].flatten().int())
        self.log("loss", self.training_step(batch, index))

    def on_validation_epoch_end(self):
        print({name: round(value.item(), 4) for name, value in self.scores.compute().items()})
        self.scores.reset()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.05)
        return {
            "optimizer": optimizer,
            "lr_scheduler": torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=16),
        }


pl.seed_everything(0)
model = Model()
trainer = pl.Trainer(
    max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    callbacks=[EarlyStopping("loss", patience=3), StochasticWeightAveraging(swa_lrs=0.01)], gradient_clip_val=1.0, accumulate_grad_batches=2,
)  # fmt: skip
trainer.fit(model, datamodule=Data())
print(trainer.current_epoch, round(trainer.callback_metrics["loss"].item(), 4), LearningRateMonitor.__name__)
print("bleu", round(torchmetrics.text.BLEUScore()(["the cat sat on the mat"], [["a cat sat on the mat"]]).item(), 4))
print(
    "psnr",
    round(
        torchmetrics.image.PeakSignalNoiseRatio(data_range=1.0)(
            torch.zeros(1, 3, 8, 8) + 0.1, torch.zeros(1, 3, 8, 8)
        ).item(),
        3,
    ),
)
