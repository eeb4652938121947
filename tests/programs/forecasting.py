"""gluonts' networks for torch, pytorch-forecasting's metrics and layers, and pytorch-tcn."""

import logging
import warnings

import numpy as np
import pandas as pd
import torch

warnings.filterwarnings("ignore")
logging.disable()
from gluonts.torch.distributions import NegativeBinomialOutput, NormalOutput, StudentTOutput
from gluonts.torch.model.deepar.module import DeepARModel
from gluonts.torch.model.simple_feedforward.module import SimpleFeedForwardModel
from gluonts.torch.scaler import MeanScaler, StdScaler
from pytorch_forecasting import TimeSeriesDataSet
from pytorch_forecasting.data import GroupNormalizer
from pytorch_forecasting.metrics import MAE, SMAPE, NormalDistributionLoss, QuantileLoss
from pytorch_forecasting.models.temporal_fusion_transformer import TemporalFusionTransformer
from pytorch_tcn import TCN

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)


def filled(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return module.eval()


series = torch.rand(2, 12, generator=generator) + 1
scaled, location, scale = MeanScaler(dim=-1, keepdim=True)(series, torch.ones_like(series))
print("scalers", scale.tolist(), StdScaler(dim=-1, keepdim=True)(series, torch.ones_like(series))[2].tolist())
for output in (NormalOutput(), StudentTOutput(), NegativeBinomialOutput()):
    arguments = filled(output.get_args_proj(4))(torch.randn(2, 3, 4, generator=generator))
    distribution = output.distribution(arguments, scale=scale)
    print(type(output).__name__, distribution.mean.shape, distribution.log_prob(torch.ones(2, 3)).sum().item())
forward = filled(SimpleFeedForwardModel(prediction_length=3, context_length=12, hidden_dimensions=[8]))
arguments, location, scale = forward(series)
print("feed forward", [part.sum().item() for part in arguments], scale.flatten().tolist())
recurrent = filled(
    DeepARModel(
        freq="D", context_length=4, prediction_length=3, num_feat_dynamic_real=1, num_feat_static_real=1, num_feat_static_cat=1,
        cardinality=[2], lags_seq=[1, 2], hidden_size=8, num_parallel_samples=5,
    )
)  # fmt: skip
with torch.no_grad():
    samples = recurrent(
        feat_static_cat=torch.zeros(2, 1, dtype=torch.long), feat_static_real=torch.ones(2, 1), past_time_feat=torch.rand(2, 6, 1, generator=generator),
        past_target=series[:, :6], past_observed_values=torch.ones(2, 6), future_time_feat=torch.rand(2, 3, 1, generator=generator),
    )  # fmt: skip
print("recurrent", samples.shape)

frame = pd.DataFrame(
    {"group": np.repeat(["a", "b"], 20), "time": np.tile(np.arange(20), 2), "value": np.sin(np.arange(40) / 3) + 2}
)
data = TimeSeriesDataSet(
    frame, time_idx="time", target="value", group_ids=["group"], max_encoder_length=6, max_prediction_length=2,
    time_varying_unknown_reals=["value"], time_varying_known_reals=["time"], static_categoricals=["group"],
    target_normalizer=GroupNormalizer(groups=["group"]),
)  # fmt: skip
batch = next(iter(data.to_dataloader(train=False, batch_size=4)))
print("data", len(data), batch[0]["encoder_cont"].shape, batch[0]["encoder_cont"].sum().item(), batch[1][0].tolist()[0])
fusion = filled(
    TemporalFusionTransformer.from_dataset(
        data, hidden_size=8, attention_head_size=2, loss=QuantileLoss([0.1, 0.5, 0.9]), hidden_continuous_size=4
    )
)
prediction = fusion(batch[0])["prediction"]
print("fusion", prediction.shape, prediction.sum().item(), fusion.loss(prediction, batch[1]).item())
print(
    "metrics",
    MAE()(prediction[..., 1:2], batch[1]).item(),
    SMAPE()(prediction[..., 1:2], batch[1]).item(),
    type(NormalDistributionLoss()).__name__,
)
tcn = filled(TCN(num_inputs=3, num_channels=[4, 4], kernel_size=3, causal=True, use_skip_connections=True))
print("tcn", tcn(torch.randn(2, 3, 10, generator=generator)).square().mean().item())
