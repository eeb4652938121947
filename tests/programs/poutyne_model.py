"""poutyne: a model with metrics and callbacks; torch-lr-finder beside it."""

import torch
from poutyne import Callback, EarlyStopping, Model, ReduceLROnPlateau, TensorDataset
from torch import nn

torch.manual_seed(0)
x = torch.randn(80, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
model = Model(
    network,
    torch.optim.Adam(network.parameters(), lr=1e-2),
    "cross_entropy",
    batch_metrics=["accuracy"],
    epoch_metrics=["f1"],
)


class Count(Callback):
    batches = 0

    def on_train_batch_end(self, batch_number, logs):
        self.batches += 1


count = Count()
logs = model.fit_dataset(
    TensorDataset(x, y),
    TensorDataset(x[:20], y[:20]),
    epochs=4,
    batch_size=16,
    progress_options={"coloring": False},
    verbose=False,
    callbacks=[count, EarlyStopping(patience=2), ReduceLROnPlateau(monitor="loss", patience=1)],
)
print("logs", [{k: v for k, v in log.items() if k != "time"} for log in logs])
print("batches", count.batches, model.evaluate(x, y, batch_size=32, verbose=False))
loss, accuracy, *_ = model.evaluate_on_batch(x[:8], y[:8])
print("evaluated", loss, accuracy)
print("predicted", model.predict(x[:4], verbose=False).tolist())
