"""SummaryWriter: numbers, texts and histograms into a folder that TensorBoard shows.

Example:

    with SummaryWriter("runs/first") as writer:
        writer.add_scalar("loss", loss, step)
"""

import datetime
import os
import socket
import time

import tenon


def _number(value):
    return float(value.item() if isinstance(value, tenon.Tensor) else value)


class SummaryWriter:
    """Writes into log_dir, by default into a folder of its own below `runs`. ImportError without the package `tensorboard`."""

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        if not log_dir:
            name = datetime.datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment
            log_dir = os.path.join("runs", name)
        self.log_dir, self.purge_step = str(log_dir), purge_step
        self._options = (max_queue, flush_secs, filename_suffix)
        self._make = EventFileWriter
        self.file_writer = EventFileWriter(self.log_dir, *self._options)
        self._parts = {}

    def get_logdir(self):
        """The folder."""
        return self.log_dir

    def _add(self, value, global_step, walltime, writer=None):
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        event = Event(wall_time=time.time() if walltime is None else walltime, summary=Summary(value=[value]))
        if global_step is not None:
            event.step = int(global_step)
        (self.file_writer if writer is None else writer).add_event(event)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """A number."""
        self._add(self._scalar(tag, scalar_value), global_step, walltime)

    @staticmethod
    def _scalar(tag, number):
        from tensorboard.compat.proto.summary_pb2 import Summary

        return Summary.Value(tag=tag, simple_value=_number(number))

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Numbers for one picture: each has a folder of its own."""
        for tag, number in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, main_tag.replace("/", "_") + "_" + tag)
            if folder not in self._parts:
                self._parts[folder] = self._make(folder, *self._options)
            self._add(self._scalar(main_tag, number), global_step, walltime, self._parts[folder])

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text, in Markdown."""
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.plugins.text.metadata import create_summary_metadata
        from tensorboard.util.tensor_util import make_tensor_proto

        metadata = create_summary_metadata(display_name=tag, description="")
        proto = make_tensor_proto([str(text_string).encode()], shape=(1,))
        self._add(Summary.Value(tag=f"{tag}/text_summary", metadata=metadata, tensor=proto), global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """A picture of bytes, or of numbers from 0 to 1, with one, three or four channels. ImportError without the package `pillow`."""
        import io

        from PIL import Image
        from tensorboard.compat.proto.summary_pb2 import Summary

        image = tenon.as_tensor(img_tensor).detach().cpu()
        if sorted(dataformats) not in (["C", "H", "W"], ["H", "W"]) or image.dim() != len(dataformats):
            raise ValueError(f"add_image: dataformats {dataformats!r} do not fit a tensor of sizes {list(image.shape)}")
        if image.is_floating_point():
            image = (image * 255).clamp(0, 255)
        image = image.to(tenon.uint8)
        if image.dim() == 3:
            image = image.permute([dataformats.index(letter) for letter in "HWC"])
            image = image.squeeze(-1) if image.shape[-1] == 1 else image
        file = io.BytesIO()
        Image.fromarray(image.contiguous().numpy()).save(file, format="PNG")
        channels = image.shape[2] if image.dim() == 3 else 1
        picture = Summary.Image(
            height=image.shape[0], width=image.shape[1], colorspace=channels, encoded_image_string=file.getvalue()
        )
        self._add(Summary.Value(tag=tag, image=picture), global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """Settings of a run and what came of them, in a folder of its own."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        folder = os.path.join(self.log_dir, run_name or str(time.time()))
        writer = self._parts.setdefault(folder, self._make(folder, *self._options))
        settings = {
            name: value.item() if isinstance(value, tenon.Tensor) else value for name, value in hparam_dict.items()
        }
        for value in hparams_pb(settings).value:
            self._add(value, global_step, None, writer)
        for name, number in metric_dict.items():
            self._add(self._scalar(name, number), global_step, None, writer)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """How the elements are spread, over 30 intervals of the same width."""
        from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary

        values = tenon.as_tensor(values).detach().to(tenon.float64).flatten().cpu()
        low, high = (values.min().item(), values.max().item()) if values.numel() else (0.0, 0.0)
        counts = tenon.histc(values, 30, low, high)
        width = (high - low) / 30
        histogram = HistogramProto(
            min=low, max=high, num=values.numel(), sum=values.sum().item(), sum_squares=values.square().sum().item(),
            bucket_limit=[low + width * (i + 1) for i in range(30)], bucket=counts.tolist(),
        )  # fmt: skip
        self._add(Summary.Value(tag=tag, histo=histogram), global_step, walltime)

    def flush(self):
        """Writes what was added so far."""
        for writer in (self.file_writer, *self._parts.values()):
            writer.flush()

    def close(self):
        """Writes all of it and ends."""
        for writer in (self.file_writer, *self._parts.values()):
            writer.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
