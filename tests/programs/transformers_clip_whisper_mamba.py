"""CLIP, Whisper and Mamba of transformers."""

import torch
from transformers import (
    CLIPConfig,
    CLIPModel,
    CLIPTextConfig,
    CLIPVisionConfig,
    MambaConfig,
    MambaForCausalLM,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

torch.manual_seed(0)
c = CLIPConfig(
    text_config=CLIPTextConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=8,
        projection_dim=8,
        eos_token_id=2,
    ).to_dict(),
    vision_config=CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        image_size=16,
        patch_size=8,
        projection_dim=8,
    ).to_dict(),
    projection_dim=8,
)
m = CLIPModel(c)
out = m(input_ids=torch.randint(3, 50, (2, 6)), pixel_values=torch.randn(2, 3, 16, 16), return_loss=True)
out.loss.backward()
print("clip", out.loss.item())
w = WhisperForConditionalGeneration(
    WhisperConfig(
        vocab_size=50,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        num_mel_bins=8,
        max_source_positions=20,
        max_target_positions=20,
        dropout=0.0,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
).eval()
f = torch.randn(1, 8, 40)
print("whisper", w(input_features=f, labels=torch.randint(3, 50, (1, 5))).loss.item())
mm = MambaForCausalLM(MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, state_size=4))
ids = torch.randint(3, 50, (1, 7))
l = mm(input_ids=ids, labels=ids).loss
l.backward()
print("mamba", l.item())
