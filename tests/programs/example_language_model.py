"""In the style of PyTorch's examples: a language model with nn.TransformerEncoder, scripted and compiled."""

import math

import torch
from torch import nn

torch.manual_seed(0)


class Positions(nn.Module):
    def __init__(self, d, length=50):
        super().__init__()
        pe, position = torch.zeros(length, d), torch.arange(length).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div), torch.cos(position * div)
        self.register_buffer("pe", pe.unsqueeze(1))

    def forward(self, x):
        return x + self.pe[: x.size(0)]


class Model(nn.Module):
    def __init__(self, tokens=20, d=16):
        super().__init__()
        self.positions, self.embedding, self.d = Positions(d), nn.Embedding(tokens, d), d
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 2, 32, 0.0), 2)
        self.linear = nn.Linear(d, tokens)

    @torch.jit.export
    def mask(self, n: int) -> torch.Tensor:
        return nn.Transformer.generate_square_subsequent_mask(n)

    def forward(self, src):
        return self.linear(self.encoder(self.positions(self.embedding(src) * math.sqrt(self.d)), self.mask(len(src))))


@torch.jit.script
def perplexity(loss: torch.Tensor) -> torch.Tensor:
    return torch.exp(loss)


model = torch.compile(Model())
data = torch.randint(0, 20, (11, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.95)
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(data[:-1]).view(-1, 20), data[1:].reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    scheduler.step()
    print("loss", loss.item(), perplexity(loss).item(), scheduler.get_last_lr())
print(torch.jit.is_scripting(), torch.compiler.is_compiling(), torch.cuda.is_available())
