"""TabNet on arrays."""

import numpy as np
import torch
from pytorch_tabnet.tab_model import TabNetClassifier

x = np.random.RandomState(0).randn(128, 6).astype(np.float32)
y = (x[:, 0] > 0).astype(int)
model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, seed=0, verbose=0, optimizer_fn=torch.optim.Adam, device_name="cpu")
model.fit(x, y, max_epochs=3, batch_size=64, virtual_batch_size=32, drop_last=False)
print("loss", model.history["loss"][-1], model.predict_proba(x[:2]).tolist())
