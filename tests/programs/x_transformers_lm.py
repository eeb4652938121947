"""x-transformers: a language model and a generator."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

torch.manual_seed(0)
model = TransformerWrapper(
    num_tokens=32, max_seq_len=16, attn_layers=Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True)
)
model = AutoregressiveWrapper(model)
ids = torch.randint(0, 32, (2, 17))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(4):
    loss = model(ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
print("generated", model.generate(ids[:, :4], 5, temperature=0.0).tolist())
