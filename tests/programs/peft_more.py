"""IA3, prefixes and DoRA of peft."""

import torch
from peft import IA3Config, LoraConfig, PrefixTuningConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

for cfg in (
    IA3Config(
        target_modules=["k_proj", "v_proj", "down_proj"], feedforward_modules=["down_proj"], task_type="CAUSAL_LM"
    ),
    PrefixTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM"),
    LoraConfig(r=2, use_dora=True, target_modules=["q_proj"], task_type="CAUSAL_LM"),
):
    torch.manual_seed(0)
    m = get_peft_model(
        LlamaForCausalLM(
            LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4)
        ),
        cfg,
    )
    ids = torch.randint(3, 50, (2, 6))
    l = m(input_ids=ids, labels=ids).loss
    l.backward()
    print(type(cfg).__name__, l.item())
