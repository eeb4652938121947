"""Mistral, Qwen and a mixture of experts of transformers, sampling."""

import torch
from transformers import (
    MistralConfig,
    MistralForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)

for C, M in ((MistralConfig, MistralForCausalLM), (Qwen2Config, Qwen2ForCausalLM)):
    set_seed(0)
    m = M(
        C(
            vocab_size=50,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=4,
            num_key_value_heads=2,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
        )
    ).eval()
    ids = torch.randint(3, 50, (2, 5))
    print(C.__name__, m.generate(ids, max_new_tokens=5, do_sample=True, top_k=10, top_p=0.9, temperature=0.8).tolist())
m = MixtralForCausalLM(
    MixtralConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_local_experts=2,
    )
)
l = m(input_ids=ids, labels=ids).loss
l.backward()
print("mixtral", l.item())
