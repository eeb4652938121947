"""rearrange: patterns beside permute and reshape, and messages; beside PyTorch where it is installed."""

import pytest

PATTERNS = [
    ("a b c -> b (a c)", {}, lambda x: x.permute(1, 0, 2).reshape(3, 8)),
    ("a b (c d) -> a d b c", {"c": 2}, lambda x: x.reshape(2, 3, 2, 2).permute(0, 3, 1, 2)),
    ("a b (c d) -> (d a) b c", {"d": 4}, lambda x: x.reshape(2, 3, 1, 4).permute(3, 0, 1, 2).reshape(8, 3, 1)),
    ("a ... -> ... a", {}, lambda x: x.movedim(0, -1)),
    ("... a -> (...) a", {}, lambda x: x.reshape(6, 4)),
    ("a ... c -> c a ...", {}, lambda x: x.permute(2, 0, 1)),
    ("a b c -> a b c 1", {}, lambda x: x.unsqueeze(-1)),
    ("a b c -> a () b c", {}, lambda x: x.unsqueeze(1)),
]
REFUSED = [
    ("a b c -> a b", {}, "Identifiers only on one side of rearrange expression"),
    (
        "a b -> b a",
        {},
        r"Number of dimensions in pattern \(2\) must be equal to the number of dimensions in the tensor \(3\)",
    ),
    ("a b c", {}, "Pattern must contain a single '->' separator"),
    ("a a c -> a c", {}, "contains duplicate dimension 'a'"),
    ("a b c -> a b c", {"d": 3}, "Identifiers not found in rearrange expression: {'d'}"),
    ("a (b (d) c -> a b c", {}, "Axis composition is one-level"),
    ("a (... b) -> b ... a", {"b": 3}, "Ellipsis is parenthesis in the left side is not allowed"),
    ("a b c -> a b ... c", {}, "Ellipsis found in right side, but not left side"),
    ("a 2 c -> a c", {}, "unnamed axes of size 1"),
]


@pytest.mark.parametrize(("pattern", "sizes", "wanted"), PATTERNS, ids=[p for p, _, _ in PATTERNS])
def test_patterns(lib, pattern, sizes, wanted):
    x = lib.arange(24.0).reshape(2, 3, 4)
    assert lib.func.rearrange(x, pattern, **sizes).tolist() == wanted(x).tolist()


def test_lists_are_stacked(lib):
    x = lib.arange(6.0).reshape(2, 3)
    assert lib.func.rearrange([x, -x], "k ... -> ... k").tolist() == lib.stack([x, -x], -1).tolist()


@pytest.mark.parametrize(("pattern", "sizes", "message"), REFUSED, ids=[p for p, _, _ in REFUSED])
def test_messages(lib, pattern, sizes, message):
    with pytest.raises(ValueError, match=message):
        lib.func.rearrange(lib.zeros(2, 3, 4), pattern, **sizes)


@pytest.mark.parametrize("sizes", [{}, {"c": 3}])
def test_sizes_that_do_not_fit(lib, sizes):
    with pytest.raises(Exception, match="infer"):
        lib.func.rearrange(lib.zeros(2, 3, 4), "a b (c d) -> a d b c", **sizes)
