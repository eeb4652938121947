"""PyTorch's side of checkpoint.cpp: the same blocks, the same cases, one JSON line for each."""

import torch
import torch_side
from torch.utils.checkpoint import checkpoint

BLOCKS, BATCH, STEPS, WIDTH, HEADS = 24, 4, 128, 256, 4


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH)
        self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.up = torch.nn.Linear(WIDTH, 4 * WIDTH)
        self.down = torch.nn.Linear(4 * WIDTH, WIDTH)
        self.norm1 = torch.nn.LayerNorm(WIDTH)
        self.norm2 = torch.nn.LayerNorm(WIDTH)

    def forward(self, x):
        parts = self.qkv(self.norm1(x)).view(BATCH, STEPS, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        scores = torch.matmul(q, k.transpose(2, 3)) * 0.125
        mixed = torch.matmul(torch.softmax(scores, -1), v)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, STEPS, WIDTH))
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def main():
    options = torch_side.parse_options()
    torch.manual_seed(0)
    blocks = [Block() for _ in range(BLOCKS)]
    x = (torch.rand(BATCH, STEPS, WIDTH) * 2 - 1).requires_grad_()

    def plain():
        y = x
        for block in blocks:
            y = block(y)
        y.sum().backward()

    def each():
        y = x
        for block in blocks:
            y = checkpoint(block, y, use_reentrant=False)
        y.sum().backward()

    torch_side.run({"checkpoint/plain": plain, "checkpoint/each": each}, options)


if __name__ == "__main__":
    main()
