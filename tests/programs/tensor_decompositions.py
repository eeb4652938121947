"""tensorly with its backend for PyTorch."""

import numpy as np
import tensorly as tl
import torch
from tensorly.cp_tensor import cp_norm, cp_to_tensor
from tensorly.decomposition import non_negative_parafac, parafac, robust_pca, tensor_train, tucker
from tensorly.metrics import RMSE
from tensorly.regression import CPRegressor
from tensorly.tenalg import khatri_rao, mode_dot, multi_mode_dot

tl.set_backend("pytorch")
rng = np.random.default_rng(0)
tensor = tl.tensor(rng.random((4, 5, 6)))
factors = parafac(tensor, rank=3, init="svd", n_iter_max=20, tol=1e-9)
print("parafac", cp_norm(factors).item(), RMSE(tensor, cp_to_tensor(factors)).item())
core, matrices = tucker(tensor, rank=[2, 3, 3], n_iter_max=10)
print("tucker", core.norm().item(), [tuple(matrix.shape) for matrix in matrices])
print("train", [tuple(factor.shape) for factor in tensor_train(tensor, rank=[1, 3, 4, 1])])
positive = non_negative_parafac(tensor, rank=2, init="svd", n_iter_max=20)
print("positive", tl.norm(tensor - cp_to_tensor(positive)).item(), bool((positive.factors[0] >= 0).all()))
low, sparse = robust_pca(tensor, n_iter_max=10)
print("robust", low.norm().item(), (sparse.abs() > 1e-8).sum().item())
matrix = tl.tensor(rng.random((3, 5)), requires_grad=True)
loss = mode_dot(tensor, matrix, mode=1).square().sum()
loss.backward()
print("mode", loss.item(), matrix.grad.norm().item())
print("khatri-rao", khatri_rao([matrix.detach().T, torch.ones(2, 3, dtype=torch.float64)]).shape)
print(
    "modes",
    multi_mode_dot(
        tensor, [torch.ones(2, 4, dtype=torch.float64), torch.ones(6, dtype=torch.float64)], modes=[0, 2]
    ).tolist(),
)
regressor = CPRegressor(weight_rank=2, n_iter_max=5, reg_W=1.0, random_state=0, verbose=0)
regressor.fit(tl.tensor(rng.random((12, 4, 3))), tl.tensor(rng.random(12)))
print("regression", tuple(regressor.weight_tensor_.shape))
left, values, right = tl.truncated_svd(tl.unfold(tensor, 0), n_eigenvecs=2)
print(
    "svd",
    values.tolist(),
    tl.partial_tensor_to_vec(tensor, skip_begin=1).shape,
    tl.kron(matrix.detach(), torch.eye(2, dtype=torch.float64)).shape,
)
