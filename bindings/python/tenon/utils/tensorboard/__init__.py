"""Values of a run, for TensorBoard. The package `tensorboard` writes the files."""

from tenon.utils.tensorboard.writer import SummaryWriter

__all__ = ["SummaryWriter"]
