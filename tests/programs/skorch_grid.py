"""skorch in scikit-learn's search."""

import numpy as np
import torch
from skorch import NeuralNetClassifier, NeuralNetRegressor

torch.manual_seed(0)
x = np.random.RandomState(0).randn(60, 5).astype(np.float32)
y = (x.sum(1) > 0).astype(np.int64)


class Net(torch.nn.Module):
    def __init__(self, hidden=8):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(5, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 2), torch.nn.Softmax(dim=-1)
        )

    def forward(self, x):
        return self.net(x)


net = NeuralNetClassifier(Net, max_epochs=5, lr=0.1, verbose=0, train_split=None)
net.fit(x, y)
print("score", net.score(x, y), net.history[-1, "train_loss"], net.predict_proba(x[:2]).tolist())
regressor = NeuralNetRegressor(torch.nn.Linear(5, 1), max_epochs=3, lr=0.05, verbose=0, train_split=None)
regressor.fit(x, x[:, :1])
print("loss", regressor.history[-1, "train_loss"])
