"""In the style of PyTorch's examples: a run for TensorBoard, read again."""

import tempfile

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

with tempfile.TemporaryDirectory() as folder:
    with SummaryWriter(folder) as writer:
        for step in range(3):
            writer.add_scalar("loss", torch.tensor(1.0 / (step + 1)), step)
        writer.add_histogram("weights", torch.linspace(-1, 1, 100), 0)
        writer.add_image("image", torch.zeros(3, 4, 5), 0)
        writer.add_text("note", "words", 0)
    events = EventAccumulator(folder)
    events.Reload()
    print("scalars", [(event.step, event.value) for event in events.Scalars("loss")])
    histogram = events.Histograms("weights")[0].histogram_value
    print("histogram", histogram.min, histogram.max, histogram.num, histogram.sum)
    image = events.Images("image")[0]
    print("image", image.width, image.height, sorted(events.Tags()["images"]), sorted(events.Tags()["tensors"]))
