"""Passes that PyTorch keeps here."""
