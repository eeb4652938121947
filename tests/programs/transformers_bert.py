"""BERT of transformers: classification with an attention mask."""

import torch
from transformers import BertConfig, BertForSequenceClassification

torch.manual_seed(0)
model = BertForSequenceClassification(BertConfig(
    vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
))  # fmt: skip
ids = torch.randint(1, 60, (4, 10))
mask = torch.ones(4, 10, dtype=torch.long)
mask[1, 7:] = 0
labels = torch.tensor([0, 1, 2, 1])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(5):
    out = model(input_ids=ids, attention_mask=mask, labels=labels)
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", out.loss.item())
print("logits", model(input_ids=ids, attention_mask=mask).logits[0].tolist())
