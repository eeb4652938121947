"""torch-kmeans, fast-pytorch-kmeans and grad-cam's explanations of a network."""

import contextlib
import io

import numpy as np
import torch
from fast_pytorch_kmeans import KMeans as FastKMeans
from pytorch_grad_cam import EigenCAM, GradCAM, GradCAMPlusPlus, HiResCAM, LayerCAM, XGradCAM
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch_kmeans import ConstrainedKMeans, KMeans
from torch_kmeans.utils.distances import CosineSimilarity

torch.manual_seed(0)
points = torch.cat([torch.randn(10, 3) * 0.1 + i for i in range(3)])[None]
found = KMeans(n_clusters=3, verbose=False, seed=1)(points)
print("kmeans", found.labels.tolist(), found.centers.sort(1).values.tolist(), found.inertia.tolist())
print("cosine", KMeans(n_clusters=2, verbose=False, distance=CosineSimilarity, seed=1)(points).labels.shape)
constrained = ConstrainedKMeans(n_clusters=3, verbose=False, seed=1)(points, weights=torch.full((1, 30), 0.09))
print(
    "constrained",
    constrained.labels.bincount().tolist()
    if constrained.labels.dim() == 1
    else constrained.labels[0].bincount().tolist(),
)
with contextlib.redirect_stdout(io.StringIO()):
    np.random.seed(0)
    labels = FastKMeans(n_clusters=3, mode="euclidean").fit_predict(points[0])
print("fast", labels.shape, labels.max().item())

network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 6, 3, padding=1), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(6, 3),
).eval()  # fmt: skip
image = torch.rand(1, 3, 12, 12)
for kind in (GradCAM, HiResCAM, GradCAMPlusPlus, XGradCAM, LayerCAM, EigenCAM):
    with kind(model=network, target_layers=[network[2]]) as explanation:
        heat = explanation(input_tensor=image, targets=[ClassifierOutputTarget(1)])
    print(kind.__name__, heat.shape, float(heat.mean()))
