"""torch.ao, of which programs ask questions."""
