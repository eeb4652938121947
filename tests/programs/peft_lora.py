"""LoRA of peft on a small GPT-2, merged at the end."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
)
model = get_peft_model(
    GPT2LMHeadModel(config), LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], fan_in_fan_out=True)
)
print("trainable", sum(p.numel() for p in model.parameters() if p.requires_grad))
ids = torch.randint(1, 50, (2, 10))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(5):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
merged = model.merge_and_unload()
print("merged", merged(input_ids=ids, labels=ids).loss.item())
