"""Language models that are not in the other programs: transformers."""

import torch
import transformers as tr

torch.manual_seed(0)
tokens = torch.randint(3, 60, (2, 9))
small = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
}
grouped = {**small, "num_key_value_heads": 2}
configs = [
    tr.MistralConfig(**grouped, sliding_window=4),
    tr.GemmaConfig(**grouped, head_dim=8),
    tr.Gemma2Config(**grouped, head_dim=8),
    tr.Qwen2Config(**grouped),
    tr.Qwen3Config(**grouped, head_dim=8),
    tr.PhiConfig(**small),
    tr.GPTNeoXConfig(**small),
    tr.MixtralConfig(**grouped, num_local_experts=3, num_experts_per_tok=2),
    tr.OPTConfig(vocab_size=64, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=32, word_embed_proj_dim=32, dropout=0.0),
    tr.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4),
    tr.FalconConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4),
    tr.Olmo2Config(**grouped),
]  # fmt: skip
for config in configs:
    config.pad_token_id = config.bos_token_id = 0
    config.eos_token_id = None
    torch.manual_seed(1)
    model = tr.AutoModelForCausalLM.from_config(config)
    out = model(tokens, labels=tokens)
    out.loss.backward()
    norm = sum(p.grad.norm().item() for p in model.parameters() if p.grad is not None)
    with torch.no_grad():
        made = model.eval().generate(tokens[:, :4], max_new_tokens=4, do_sample=False, pad_token_id=0)
    print(type(model).__name__, round(out.loss.item(), 3), round(norm, 2), made[0].tolist())
