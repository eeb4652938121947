"""trl: supervised fine-tuning, preferences and rewards of a small language model."""

import os

os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

words = "<pad> <s> </s> <unk> the cat dog sat ran on a mat far good bad".split()
base = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
base.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=base, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
)
generator = torch.Generator().manual_seed(0)


def model():
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    made = LlamaForCausalLM(config)
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
    return made


common = dict(
    output_dir="out", max_steps=3, per_device_train_batch_size=2, learning_rate=1e-2, logging_steps=1, report_to=[],
    use_cpu=True, save_strategy="no", disable_tqdm=True, bf16=False, gradient_checkpointing=False, log_level="error",
)  # fmt: skip


def losses(trainer, keys):
    return [{key: round(entry[key], 4) for key in keys} for entry in trainer.state.log_history if keys[0] in entry]


texts = Dataset.from_dict(
    {"text": ["the cat sat on a mat", "the dog ran far", "a good cat", "a bad dog ran on the mat"]}
)
trainer = SFTTrainer(model(), SFTConfig(max_length=16, **common), train_dataset=texts, processing_class=tokenizer)
trainer.remove_callback(PrinterCallback)
trainer.train()
print("supervised", losses(trainer, ["loss", "grad_norm"]))
pairs = Dataset.from_dict(
    {
        "prompt": ["the cat", "the dog"] * 2,
        "chosen": [" sat on a mat", " ran far"] * 2,
        "rejected": [" ran far", " bad"] * 2,
    }
)
trainer = DPOTrainer(
    model(), ref_model=model(), args=DPOConfig(beta=0.1, **common), train_dataset=pairs, processing_class=tokenizer
)
trainer.remove_callback(PrinterCallback)
trainer.train()
print("preferences", losses(trainer, ["loss", "rewards/margins"]))
prompts = Dataset.from_dict({"prompt": ["the cat", "the dog"] * 2})
trainer = GRPOTrainer(
    model(),
    reward_funcs=lambda completions, **_: [float(len(text.split())) for text in completions],
    args=GRPOConfig(num_generations=2, max_completion_length=4, temperature=0.7, **common),
    train_dataset=prompts,
    processing_class=tokenizer,
)
trainer.remove_callback(PrinterCallback)
trainer.train()
print("rewards", len(losses(trainer, ["reward"])), trainer.state.global_step)
