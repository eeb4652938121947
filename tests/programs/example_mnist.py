"""In the style of PyTorch's examples: a convolutional network with a schedule, an evaluation and a state dict."""

import io

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, 1), nn.Conv2d(8, 16, 3, 1)
        self.fc1, self.fc2 = nn.Linear(16 * 25, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        return F.log_softmax(self.fc2(F.relu(self.fc1(torch.flatten(x, 1)))), dim=1)


use_cuda = torch.cuda.is_available()
use_mps = torch.backends.mps.is_available()
torch.manual_seed(1)
device = torch.device("cuda" if use_cuda else "mps" if use_mps else "cpu")
images = torch.randn(64, 1, 14, 14)
train, test = random_split(TensorDataset(images, (images.mean((1, 2, 3)) * 50).long().clamp(-4, 5) + 4), [48, 16])
model = Net().to(device)
optimizer = optim.Adadelta(model.parameters(), lr=1.0)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
for epoch in range(2):
    model.train()
    for data, target in DataLoader(train, batch_size=16, shuffle=True):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        correct = sum(model(d.to(device)).argmax(dim=1).eq(t).sum().item() for d, t in DataLoader(test, batch_size=8))
    scheduler.step()
    print("epoch", epoch, loss.item(), correct)
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
print(model.load_state_dict(torch.load(file, weights_only=True)))
print(model)
