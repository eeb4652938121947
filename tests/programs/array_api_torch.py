"""The array API: array_api_compat's namespace of torch, and estimators of scikit-learn on tensors."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import array_api_compat
import numpy as np
import sklearn
import torch
from array_api_compat import torch as xp
from scipy import special
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

x = torch.tensor(np.random.default_rng(0).normal(size=(30, 4)))
y = (x[:, 0] > 0).long()
print(
    "namespace",
    array_api_compat.array_namespace(x) is xp,
    array_api_compat.is_torch_array(x),
    array_api_compat.device(x),
    array_api_compat.size(x),
)
print(
    "types",
    xp.result_type(xp.int8, xp.uint8),
    xp.isdtype(xp.float32, "real floating"),
    xp.finfo(xp.float32).eps,
    xp.astype(x, xp.float32).dtype,
)
print(
    "set",
    xp.unique_values(y).tolist(),
    xp.unique_counts(y).counts.tolist(),
    xp.unique_inverse(y).inverse_indices[:4].tolist(),
)
print(
    "statistics",
    xp.std(x, axis=0, correction=1).tolist(),
    xp.var(x).item(),
    xp.prod(x[:3], axis=1).tolist(),
    xp.sum(y).dtype,
)
print(
    "shape",
    xp.permute_dims(x, (1, 0)).shape,
    xp.concat([x, x]).shape,
    xp.broadcast_arrays(x[:1], x[:, :1])[0].shape,
    xp.roll(y[:5], 2).tolist(),
)
print(
    "linear",
    xp.linalg.svd(x, full_matrices=False).S.tolist(),
    xp.linalg.matrix_norm(x).item(),
    xp.vecdot(x[0], x[1]).item(),
)
print(
    "search",
    xp.searchsorted(xp.sort(x[:, 0]), x[:3, 0]).tolist(),
    xp.argsort(x[:4, 0]).tolist(),
    xp.clip(x, -1, 1).sum().item(),
)
print("special", special.logsumexp(x).item(), special.expit(x[0]).tolist(), special.softmax(x[0]).tolist())
with sklearn.config_context(array_api_dispatch=True):
    for scaler in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer()):
        print("scaler", type(scaler).__name__, scaler.fit_transform(x).abs().sum().item())
    pca = PCA(n_components=2, svd_solver="full").fit(x)
    print("pca", type(pca.components_).__name__, pca.explained_variance_.tolist())
    lda = LinearDiscriminantAnalysis().fit(x, y)
    print("lda", accuracy_score(y, lda.predict(x)))
    ridge = Ridge(solver="svd").fit(x, x[:, 0] * 2)
    print("ridge", r2_score(x[:, 0] * 2, ridge.predict(x)), mean_absolute_error(x[:, 0] * 2, ridge.predict(x)))
