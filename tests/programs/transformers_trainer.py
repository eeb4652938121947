"""The Trainer of transformers on a small BERT, with evaluation and a checkpoint."""

import contextlib
import io
import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

torch.manual_seed(0)
ids = torch.randint(1, 60, (32, 10))
data = [
    {"input_ids": ids[i], "attention_mask": torch.ones(10, dtype=torch.long), "labels": int(ids[i, 0] > 30)}
    for i in range(32)
]
model = BertForSequenceClassification(BertConfig(
    vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=64, num_labels=2,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
))  # fmt: skip
with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(
        output_dir=folder, max_steps=10, per_device_train_batch_size=8, learning_rate=1e-3, logging_steps=2, report_to=[],
        use_cpu=True, save_steps=5, seed=1, disable_tqdm=True,
    )  # fmt: skip
    trainer = Trainer(model=model, args=args, train_dataset=data, eval_dataset=data)
    with contextlib.redirect_stdout(io.StringIO()):
        result, evaluated = trainer.train(), trainer.evaluate()
    print("train", result.training_loss)
    print("eval", evaluated["eval_loss"])
