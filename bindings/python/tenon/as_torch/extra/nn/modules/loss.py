"""Bases of losses."""

from tenon.as_torch.extra.nn.modules import bases

bases(
    globals(), _Loss=("MSELoss", "L1Loss", "CrossEntropyLoss"), _WeightedLoss=("NLLLoss", "BCELoss", "CrossEntropyLoss")
)
