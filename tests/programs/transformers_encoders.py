"""Encoders and pairs of them that are not in the other programs: transformers."""

import torch
import transformers as tr

torch.manual_seed(0)
tokens = torch.randint(3, 60, (2, 9))
mask = torch.ones_like(tokens)
mask[1, 6:] = 0
small = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 32,
}
for config in (
    tr.RobertaConfig(**small, pad_token_id=1),
    tr.DebertaV2Config(**small, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8),
    tr.ElectraConfig(**small, embedding_size=16),
    tr.AlbertConfig(**small, embedding_size=16),
    tr.DistilBertConfig(vocab_size=64, dim=32, hidden_dim=48, n_layers=2, n_heads=4, max_position_embeddings=32),
    tr.ModernBertConfig(**small, pad_token_id=0, local_attention=4),
    tr.FNetConfig(**small),
):  # fmt: skip
    torch.manual_seed(1)
    model = tr.AutoModel.from_config(config).eval()
    options = {} if "FNet" in type(model).__name__ else {"attention_mask": mask}
    hidden = model(tokens, **options).last_hidden_state
    hidden[0].pow(2).sum().backward()
    norm = sum(p.grad.norm().item() for p in model.parameters() if p.grad is not None)
    print(type(model).__name__, tuple(hidden.shape), round(hidden[0].abs().mean().item(), 4), round(norm, 1))
for config in (
    tr.BartConfig(vocab_size=64, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32),
    tr.MT5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=1, num_heads=4, decoder_start_token_id=0),
    tr.PegasusConfig(vocab_size=64, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=32),
):  # fmt: skip
    torch.manual_seed(1)
    model = tr.AutoModelForSeq2SeqLM.from_config(config).eval()
    loss = model(tokens, attention_mask=mask, labels=tokens[:, :5].contiguous()).loss
    made = model.generate(tokens, attention_mask=mask, max_new_tokens=4, num_beams=2, do_sample=False)
    print(type(model).__name__, round(loss.item(), 3), made.shape[0])
