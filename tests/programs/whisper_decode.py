"""openai-whisper: features of sound, a small model, and decoding by beams."""

import numpy as np
import torch
import whisper
from whisper.decoding import DecodingOptions
from whisper.model import ModelDimensions, Whisper

torch.manual_seed(0)
seconds = np.arange(16000 * 2, dtype=np.float32) / 16000
sound = (0.5 * np.sin(2 * np.pi * 440 * seconds)).astype(np.float32)
mel = whisper.log_mel_spectrogram(torch.from_numpy(sound))
print("mel", mel.shape, mel.mean().item(), mel.std().item())
mel = whisper.pad_or_trim(mel, 200)
dimensions = ModelDimensions(
    n_mels=80, n_audio_ctx=100, n_audio_state=32, n_audio_head=4, n_audio_layer=2,
    n_vocab=51865, n_text_ctx=24, n_text_state=32, n_text_head=4, n_text_layer=2,
)  # fmt: skip
model = Whisper(dimensions)
generator = torch.Generator().manual_seed(0)
with torch.no_grad():
    for parameter in model.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
model.eval()
features = model.embed_audio(mel[None])
print("features", features.shape, features.square().mean().item())
tokens = torch.tensor([[50258, 50259, 50359, 50363]])
logits = model.logits(tokens, features)
print("logits", logits.shape, logits[0, -1].topk(3).indices.tolist(), logits.logsumexp(-1).tolist())
language, probabilities = model.detect_language(mel[None])
print("language", language.tolist(), len(probabilities[0]), max(probabilities[0].values()))
for options in ({}, {"beam_size": 3}, {"without_timestamps": True, "suppress_tokens": ""}):
    result = whisper.decode(model, mel, DecodingOptions(language="en", fp16=False, sample_len=6, **options))
    print("decoded", result.tokens, result.avg_logprob, result.no_speech_prob)
with torch.no_grad():
    cache, hooks = model.install_kv_cache_hooks()
    first = model.decoder(tokens, features, kv_cache=cache)
    second = model.decoder(torch.tensor([[7]]), features, kv_cache=cache)
    for hook in hooks:
        hook.remove()
print("cache", len(cache), first.shape, second[0, -1].topk(2).indices.tolist())
