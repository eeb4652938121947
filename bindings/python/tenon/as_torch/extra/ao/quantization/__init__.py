"""torch.ao.quantization, of which programs ask questions."""
