"""Sobol sequences: PyTorch's numbers."""

import pytest


def test_the_first_points(lib):
    engine = lib.quasirandom.SobolEngine(3)
    assert engine.draw(5).tolist() == [
        [0, 0, 0],
        [0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25],
        [0.25, 0.75, 0.75],
        [0.375, 0.375, 0.625],
    ]
    assert engine.draw(2).tolist() == [[0.875, 0.875, 0.125], [0.625, 0.125, 0.875]]
    assert engine.reset().fast_forward(4).draw().tolist() == [[0.375, 0.375, 0.625]]
    assert engine.num_generated == 5 and repr(engine) == "SobolEngine(dimension=3)"


def test_they_are_pytorchs():
    torch, tenon = pytest.importorskip("torch"), pytest.importorskip("tenon")
    for dimension in (1, 7, 256):
        for options in ({}, {"scramble": True, "seed": 3}):
            ours, theirs = (lib.quasirandom.SobolEngine(dimension, **options) for lib in (tenon, torch))
            for n in (1, 5, 3):
                assert ours.draw(n).tolist() == theirs.draw(n).tolist()
            assert (
                ours.fast_forward(100).draw(2, dtype=tenon.float64).tolist()
                == theirs.fast_forward(100).draw(2, dtype=torch.float64).tolist()
            )
            assert ours.quasi.tolist() == theirs.quasi.tolist()
    tenon.manual_seed(4), torch.manual_seed(4)
    ours, theirs = (lib.quasirandom.SobolEngine(2, scramble=True) for lib in (tenon, torch))
    assert ours.draw_base2(3).tolist() == theirs.draw_base2(3).tolist()


def test_what_is_refused(lib):
    engine = lib.quasirandom.SobolEngine(2)
    engine.draw(1)
    with pytest.raises(ValueError, match="The balance properties of Sobol' points require n to be a power of 2"):
        engine.draw_base2(2)
    with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, "):
        lib.quasirandom.SobolEngine(0)
