"""T5 of transformers: an encoder and a decoder."""

import torch
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
model = T5ForConditionalGeneration(T5Config(
    vocab_size=60, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0, decoder_start_token_id=0,
))  # fmt: skip
ids, labels = torch.randint(2, 60, (2, 9)), torch.randint(2, 60, (2, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for _ in range(5):
    loss = model(input_ids=ids, labels=labels).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
model.eval()
print("out", model.generate(ids, max_new_tokens=5, do_sample=False).tolist())
