"""The base of dropouts."""

from tenon.as_torch.extra.nn.modules import bases

bases(globals(), _DropoutNd=("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"))
