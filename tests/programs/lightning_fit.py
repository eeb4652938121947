"""Lightning's Trainer fits, validates and writes a checkpoint."""

import tempfile

import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

    def training_step(self, batch, index):
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2)]


L.seed_everything(0)
x = torch.randn(64, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))
model = Regression()
with tempfile.TemporaryDirectory() as folder:
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                        default_root_dir=folder, gradient_clip_val=1.0)  # fmt: skip
    trainer.fit(model, DataLoader(data, batch_size=16, shuffle=True), DataLoader(data, batch_size=32))
    print("val", trainer.callback_metrics["val_loss"].item())
    again = Regression.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
    print("again", again.net(x).sum().item())
