"""Examples as a batch."""

import tenon


def _is_array(value):
    return hasattr(value, "__array__") and not isinstance(value, tenon.Tensor)


def default_convert(data):
    """Numpy's arrays in nested containers as tensors; everything else stays."""
    if isinstance(data, tenon.Tensor):
        return data
    if _is_array(data):
        return tenon.tensor(data) if getattr(data, "ndim", 0) == 0 else tenon.from_numpy(data)
    return _mapped(default_convert, data)


def _mapped(function, data):
    if isinstance(data, dict):
        return {key: function(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(function(value) for value in data))
    if isinstance(data, tuple):
        return [function(value) for value in data]
    if isinstance(data, list):
        return type(data)(function(value) for value in data)
    return data


def default_collate(batch):
    """Stacks tensors, arrays and numbers along a new dimension 0; of containers, each place by itself. Texts stay
    the list or tuple that they came in."""
    first = batch[0]
    if isinstance(first, tenon.Tensor):
        return tenon.stack(list(batch), 0)
    if _is_array(first):
        if getattr(first, "ndim", 0) == 0:
            return tenon.tensor([value.item() for value in batch], dtype=tenon.tensor(first).dtype)
        return tenon.stack([tenon.from_numpy(value) for value in batch], 0)
    if isinstance(first, float):
        return tenon.tensor(batch, dtype=tenon.float64)
    if isinstance(first, int):
        return tenon.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, dict):
        return {key: default_collate([example[key] for example in batch]) for key in first}
    if isinstance(first, (list, tuple)):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        places = [default_collate(values) for values in zip(*batch)]
        return type(first)(*places) if hasattr(first, "_fields") else places
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )
