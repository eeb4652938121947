"""torch.ao.quantization.pt2e, of which programs ask questions."""
