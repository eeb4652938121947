"""The prior of dalle2-pytorch."""

import warnings

import torch

warnings.simplefilter("ignore")
from dalle2_pytorch import DiffusionPrior, DiffusionPriorNetwork

torch.manual_seed(0)
net = DiffusionPriorNetwork(dim=16, depth=1, dim_head=8, heads=2)
prior = DiffusionPrior(net=net, image_embed_dim=16, timesteps=5, cond_drop_prob=0.0, condition_on_text_encodings=False)
loss = prior(text_embed=torch.randn(2, 16), image_embed=torch.randn(2, 16))
loss.backward()
print("prior", loss.item())
