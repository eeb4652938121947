"""Survival analysis: torchsurv, pycox."""

import numpy as np
import torch
import torchtuples as tt
from pycox.models import CoxPH, LogisticHazard
from torchsurv.loss.cox import neg_partial_log_likelihood
from torchsurv.metrics.cindex import ConcordanceIndex

torch.manual_seed(0)
np.random.seed(0)
hazard = torch.randn(16, requires_grad=True)
event, time = torch.randint(0, 2, (16,)).bool(), torch.rand(16) * 10 + 0.1
loss = neg_partial_log_likelihood(hazard, event, time)
loss.backward()
print("cox", round(loss.item(), 4), round(hazard.grad.abs().sum().item(), 4))
print("cindex", round(ConcordanceIndex()(hazard.detach(), event, time).item(), 4))
features = np.random.randn(64, 3).astype("float32")
durations, events = np.random.exponential(5, 64).astype("float32"), (np.random.rand(64) > 0.3).astype("float32")
for model, target in (
    (
        CoxPH(tt.practical.MLPVanilla(3, [8], 1, batch_norm=False, dropout=0.0), tt.optim.Adam(0.01)),
        (durations, events),
    ),
    (
        LogisticHazard(
            tt.practical.MLPVanilla(3, [8], 5, batch_norm=False),
            tt.optim.Adam(0.01),
            duration_index=np.linspace(0, 20, 5),
        ),
        ((durations // 5).clip(0, 4).astype("int64"), events),
    ),
):
    log = model.fit(features, target, batch_size=64, epochs=3, verbose=False, shuffle=False)
    print(type(model).__name__, [round(v, 4) for v in log.to_pandas()["train_loss"]])
