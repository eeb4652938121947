"""Lightning under its old name: early stopping, accumulation, a summary."""

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.l1 = torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.l1(x)

    def training_step(self, batch, _):
        loss = torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


pl.seed_everything(1)
x = torch.randn(40, 8)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, (x[:, 0] > 0).long()), batch_size=10)
net = Net()
trainer = pl.Trainer(max_epochs=4, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                     accumulate_grad_batches=2, callbacks=[EarlyStopping("loss", patience=2)])  # fmt: skip
trainer.fit(net, loader)
print("loss", trainer.callback_metrics["loss"].item(), net.l1.weight.sum().item())
