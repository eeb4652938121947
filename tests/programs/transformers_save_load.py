"""save_pretrained and from_pretrained, with safetensors."""

import tempfile

import torch
from transformers import AutoModel, DistilBertConfig, DistilBertModel

torch.manual_seed(0)
model = DistilBertModel(
    DistilBertConfig(vocab_size=40, dim=32, n_layers=1, n_heads=2, hidden_dim=64, dropout=0.0, attention_dropout=0.0)
)
ids = torch.randint(1, 40, (2, 7))
with tempfile.TemporaryDirectory() as folder:
    model.eval().save_pretrained(folder)
    again = AutoModel.from_pretrained(folder).eval()
with torch.no_grad():
    a, b = model(ids).last_hidden_state, again(ids).last_hidden_state
print("same", bool(torch.equal(a, b)), a.sum().item(), a.std().item())
