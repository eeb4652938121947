"""Models of images and sounds: transformers."""

import torch
import transformers as tr

torch.manual_seed(0)
image = torch.randn(1, 3, 32, 32)
for config in (
    tr.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=3),
    tr.SwinConfig(image_size=32, patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4, num_labels=3),
    tr.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, num_labels=3),
    tr.BeitConfig(image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=3),
    tr.Dinov2Config(image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_labels=3),
    tr.MobileViTConfig(image_size=32, patch_size=2, hidden_sizes=[16, 20, 24], neck_hidden_sizes=[8, 8, 16, 16, 16, 16, 32], num_labels=3),
    tr.SegformerConfig(depths=[1, 1], num_encoder_blocks=2, sr_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[3, 3], strides=[2, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], num_labels=3),
):  # fmt: skip
    torch.manual_seed(1)
    model = tr.AutoModelForImageClassification.from_config(config).eval()
    logits = model(image).logits
    logits.sum().backward()
    print(type(model).__name__, [round(v, 4) for v in logits[0].tolist()])
mae = tr.ViTMAEForPreTraining(tr.ViTMAEConfig(image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, decoder_hidden_size=16, decoder_num_hidden_layers=1, decoder_num_attention_heads=2, decoder_intermediate_size=32))  # fmt: skip
print("mae", round(mae.eval()(image, noise=torch.linspace(0, 1, 16)[None]).loss.item(), 4))
wave = torch.randn(1, 1600)
config = tr.Wav2Vec2Config(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, conv_dim=(8, 8), conv_stride=(5, 4), conv_kernel=(10, 8), num_feat_extract_layers=2, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, vocab_size=10)  # fmt: skip
speech = tr.Wav2Vec2ForCTC(config).eval()
print("wav2vec", tuple(speech(wave).logits.shape), round(speech(wave, labels=torch.tensor([[1, 2, 3]])).loss.item(), 3))
ast = tr.ASTForAudioClassification(tr.ASTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_length=32, num_mel_bins=16, num_labels=2))  # fmt: skip
print("ast", [round(v, 4) for v in ast.eval()(torch.randn(1, 32, 16)).logits[0].tolist()])
series = tr.TimeSeriesTransformerForPrediction(tr.TimeSeriesTransformerConfig(prediction_length=4, context_length=8, lags_sequence=[1, 2], num_time_features=1, d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8))  # fmt: skip
given = {"past_values": torch.rand(2, 10), "past_time_features": torch.rand(2, 10, 1), "past_observed_mask": torch.ones(2, 10), "future_values": torch.rand(2, 4), "future_time_features": torch.rand(2, 4, 1)}  # fmt: skip
print("series", round(series.eval()(**given).loss.item(), 4))
