"""Batches of an operator's sample: which arguments are batched along which dimension, and rows that the operator accepts."""

import itertools

ROWS = 3
# Where the batch is put: in front, and behind the last dimension.
FRONT, BACK = "front", "back"
PAIRS = 6  # pairs of arguments of one sample


def leaves_of(value, is_tensor):
    """The tensors within a value, in order, and a function that puts others in their places."""
    if is_tensor(value):
        return [value], lambda found: next(found)
    if isinstance(value, dict):
        parts = {key: leaves_of(v, is_tensor) for key, v in value.items()}
        return [t for found, _ in parts.values() for t in found], lambda found: {
            k: p[1](found) for k, p in parts.items()
        }
    if isinstance(value, (list, tuple)):
        items = [leaves_of(v, is_tensor) for v in value]

        def rebuilt(found):
            new = [build(found) for _, build in items]
            return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)

        return [t for found, _ in items for t in found], rebuilt
    return [], lambda found: value


def variants(count):
    """[{number of a tensor: FRONT or BACK}]: each tensor alone, both ways, pairs of them, and all together."""
    if not count:
        return []
    found = [{i: place} for i in range(min(count, 4)) for place in (FRONT, BACK)]
    pairs = list(itertools.combinations(range(count), 2))[:PAIRS]
    found += [{i: FRONT, j: FRONT} for i, j in pairs]
    found += [{i: FRONT, j: BACK} for i, j in pairs]
    if count > 2:
        found.append(dict.fromkeys(range(count), FRONT))
    return found


def text(variant):
    return ", ".join(f"argument {i} in {place}" for i, place in sorted(variant.items()))


def _rolled(tenon, t, row):
    flat = t.reshape(-1)
    return tenon.roll(flat, row).reshape(t.shape) if row and t.numel() > 1 else t


def _scaled(t, row):
    return t * (1, 0.75, 1.25)[row % 3] if t.is_floating_point() or t.is_complex() else t


def candidates(tenon, tensors):
    """Rows of tensors that differ, most of all first; the last ones are copies. The first row is always the sample."""
    yield "mixed", [[_scaled(_rolled(tenon, t, row), row) for t in tensors] for row in range(ROWS)]
    if any(not (t.is_floating_point() or t.is_complex()) for t in tensors):
        yield (
            "scaled and rolled where there are integers",
            [
                [
                    _scaled(t, row) if t.is_floating_point() or t.is_complex() else _rolled(tenon, t, row)
                    for t in tensors
                ]
                for row in range(ROWS)
            ],
        )
    yield "scaled", [[_scaled(t, row) for t in tensors] for row in range(ROWS)]
    yield "copies", [list(tensors) for _ in range(ROWS)]
