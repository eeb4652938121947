"""In the style of PyTorch's examples: a DCGAN and a variational autoencoder."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        torch.nn.init.normal_(m.weight, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        torch.nn.init.normal_(m.weight, 1.0, 0.02)
        torch.nn.init.zeros_(m.bias)


G = nn.Sequential(
    nn.ConvTranspose2d(4, 8, 4, 1, 0, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)
D = nn.Sequential(
    nn.Conv2d(1, 8, 4, 2, 1, bias=False),
    nn.LeakyReLU(0.2, inplace=True),
    nn.Conv2d(8, 1, 4, 1, 0, bias=False),
    nn.Sigmoid(),
)
G.apply(weights_init), D.apply(weights_init)
criterion = nn.BCELoss()
optimizers = [torch.optim.Adam(m.parameters(), lr=2e-3, betas=(0.5, 0.999)) for m in (D, G)]
real = torch.rand(4, 1, 8, 8)
for _ in range(3):
    D.zero_grad()
    fake = G(torch.randn(4, 4, 1, 1))
    error = criterion(D(real).view(-1), torch.ones(4)) + criterion(D(fake.detach()).view(-1), torch.zeros(4))
    error.backward()
    optimizers[0].step()
    G.zero_grad()
    loss = criterion(D(fake).view(-1), torch.ones(4))
    loss.backward()
    optimizers[1].step()
    print("gan", error.item(), loss.item())


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.mu, self.logvar, self.out = (
            nn.Linear(64, 16),
            nn.Linear(16, 4),
            nn.Linear(16, 4),
            nn.Linear(4, 64),
        )

    def forward(self, x):
        h = F.relu(self.fc1(x.view(-1, 64)))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return torch.sigmoid(self.out(z)), mu, logvar


vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-2)
for _ in range(3):
    recon, mu, logvar = vae(real)
    loss = F.binary_cross_entropy(recon, real.view(-1, 64), reduction="sum") - 0.5 * torch.sum(
        1 + logvar - mu.pow(2) - logvar.exp()
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("vae", loss.item())
