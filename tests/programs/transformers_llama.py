"""Llama of transformers: training with a schedule, beam search."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup

torch.manual_seed(0)
model = LlamaForCausalLM(LlamaConfig(
    vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
))  # fmt: skip
ids = torch.randint(3, 64, (2, 12))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
schedule = get_cosine_schedule_with_warmup(optimizer, 2, 10)
for _ in range(10):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    print("loss", loss.item(), schedule.get_last_lr()[0])
model.eval()
print("beams", model.generate(ids[:, :4], max_new_tokens=6, num_beams=3, do_sample=False).tolist())
