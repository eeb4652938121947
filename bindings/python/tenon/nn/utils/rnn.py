"""Sequences of different lengths as one tensor: padded, or packed step by step."""

from collections import namedtuple

import tenon


class PackedSequence(namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """data [sum of lengths, *]: the first step of every sequence, the longest first, then the second step of those that have
    one, and so on. batch_sizes: how many have it. sorted_indices: the places that the sequences had before; unsorted_indices leads
    back; None where the order is as it was."""

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(f"batch_sizes should always be on CPU. Instead got device={batch_sizes.device}")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        moved = [None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices)]
        return self if data is self.data else type(self)(data, self.batch_sizes, *moved)

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def is_pinned(self):
        return self.data.is_pinned()

    def pin_memory(self):
        pinned = [None if t is None else t.pin_memory() for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *pinned)

    def cpu(self, *args, **kwargs):
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args, **kwargs):
        return self.to(*args, device="cuda", **kwargs)

    def double(self):
        return self.to(dtype=tenon.double)

    def float(self):
        return self.to(dtype=tenon.float)

    def half(self):
        return self.to(dtype=tenon.half)

    def long(self):
        return self.to(dtype=tenon.long)

    def int(self):
        return self.to(dtype=tenon.int)

    def short(self):
        return self.to(dtype=tenon.short)

    def char(self):
        return self.to(dtype=tenon.int8)

    def byte(self):
        return self.to(dtype=tenon.uint8)


def invert_permutation(permutation):
    """The permutation that leads back, of None None."""
    if permutation is None:
        return None
    return tenon.empty_like(permutation).scatter_(
        0, permutation, tenon.arange(permutation.numel(), device=permutation.device)
    )


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs [L, N, *], or [N, L, *], of which `lengths` steps count. Unless enforce_sorted is False lengths must descend."""
    lengths = lengths if isinstance(lengths, tenon.Tensor) else tenon.tensor(lengths, dtype=tenon.int64)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    numbers = lengths.tolist()
    order = None
    if not enforce_sorted:
        order = tenon.argsort(lengths, descending=True, stable=True).to(input.device)
        numbers = [numbers[i] for i in order.tolist()]
        input = input.index_select(0 if batch_first else 1, order)
    steps = input.transpose(0, 1) if batch_first else input
    if len(numbers) != steps.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(numbers)} (batch_size={steps.shape[1]})"
        )
    if not numbers or min(numbers) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(numbers, numbers[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement"
        )
    if numbers[0] > steps.shape[0]:
        raise RuntimeError(
            f"Expected no length to be larger than the {steps.shape[0]} steps of input, got {numbers[0]}"
        )
    sizes = [sum(n > t for n in numbers) for t in range(numbers[0])]
    data = tenon.cat([steps[t].narrow(0, 0, size) for t, size in enumerate(sizes)])
    return PackedSequence(data, tenon.tensor(sizes, dtype=tenon.int64), order, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The inverse: (padded [L, N, *] or [N, L, *], lengths [N])."""
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
    rows = []
    for part in sequence.data.split(sizes):
        missing = sizes[0] - part.shape[0]
        if missing:
            part = tenon.cat([part, part.new_full((missing, *part.shape[1:]), padding_value)])
        rows.append(part)
    empty = sequence.data.new_full((sizes[0], *sequence.data.shape[1:]), padding_value)
    rows.extend([empty] * ((total_length or steps) - steps))
    padded = tenon.stack(rows, 1 if batch_first else 0)
    lengths = tenon.tensor([sum(size > i for size in sizes) for i in range(sizes[0])], dtype=tenon.int64)
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors [L_i, *] as one, [L, N, *] or [N, L, *]."""
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"padding_side must be either 'right' or 'left', got {padding_side}")
    if not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: " + str(type(sequences))
        )
    longest, parts = max(s.shape[0] for s in sequences), []
    for s in sequences:
        if s.shape[0] < longest:
            filling = s.new_full((longest - s.shape[0], *s.shape[1:]), padding_value)
            s = tenon.cat([s, filling] if padding_side == "right" else [filling, s])
        parts.append(s)
    return tenon.stack(parts, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors that pad_sequence() was given."""
    each = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [sequence[:n] for sequence, n in zip(each, lengths.tolist())]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs tensors [L_i, *]."""
    return pack_padded_sequence(
        pad_sequence(sequences), tenon.tensor([s.shape[0] for s in sequences]), enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
