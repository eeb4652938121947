"""GPT-2 of transformers: ten steps of training, then generation."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
)
config.bos_token_id = config.eos_token_id = 0
model = GPT2LMHeadModel(config)
ids = torch.randint(1, 50, (4, 16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(10):
    loss = model(input_ids=ids, labels=ids).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
model.eval()
out = model.generate(ids[:1, :4], max_new_tokens=8, do_sample=False, pad_token_id=0)
print("generated", out[0].tolist())
