"""Data sets of datasets in a loader."""

import datasets
import torch

d = datasets.Dataset.from_dict({"x": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1]}).with_format("torch")
print(d[0]["x"].sum().item(), [b["y"].tolist() for b in torch.utils.data.DataLoader(d, batch_size=2)])
