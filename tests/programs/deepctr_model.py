"""DeepFM of deepctr-torch."""

import contextlib
import io

import numpy as np
from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
from deepctr_torch.models import DeepFM

random = np.random.RandomState(0)
columns = [SparseFeat("a", 10, embedding_dim=4), SparseFeat("b", 5, embedding_dim=4), DenseFeat("d", 1)]
data = {"a": random.randint(0, 10, 64), "b": random.randint(0, 5, 64), "d": random.rand(64)}
y = (data["a"] > 4).astype(float)
said = contextlib.redirect_stdout(io.StringIO())
said.__enter__()
model = DeepFM(columns, columns, task="binary", device="cpu", seed=0, dnn_hidden_units=(8,))
model.compile("adam", "binary_crossentropy", metrics=["auc"])
history = model.fit(
    {n: data[n] for n in get_feature_names(columns)}, y, batch_size=32, epochs=2, verbose=0, shuffle=False
)
said.__exit__(None, None, None)
print("loss", history.history["loss"][-1])
