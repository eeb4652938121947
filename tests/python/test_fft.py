"""tenon.fft, stft and istft, against their definitions."""

import math

import pytest
import tenon
from tenon import fft


def noise(*sizes, dtype=tenon.complex128):
    return tenon.randn(sizes, dtype=dtype, generator=tenon.Generator().manual_seed(math.prod(sizes)))


def by_definition(x):
    """The sums that fft stands for, over the last dimension."""
    n = x.shape[-1]
    places = tenon.arange(n)
    angles = (places[:, None] * places % n).double() * (-2 * math.pi / n)
    return x @ tenon.complex(angles.cos(), angles.sin())


def distance(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def test_names():
    assert len(fft.__all__) == 22 and all(callable(getattr(fft, name)) for name in fft.__all__)
    assert tenon.fft is fft


# Short ones, powers of two, products, and primes beyond what is transformed directly.
@pytest.mark.parametrize(
    "n", [1, 2, 3, 4, 5, 7, 8, 11, 13, 60, 64, 97, 101, 127, 131, 240, 300, 304, 512, 1000, 1009, 1024]
)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 16, 19])
def test_sizes(n, rows):
    x = noise(rows, n)
    expected = by_definition(x)
    assert distance(fft.fft(x), expected) < 1e-13
    assert distance(fft.ifft(expected), x) < 1e-13
    assert distance(fft.fft(x.to(tenon.complex64)).to(tenon.complex128), expected) < 2e-6
    real = x.real.contiguous()
    half = by_definition(real.to(tenon.complex128))[:, : n // 2 + 1]
    assert distance(fft.rfft(real), half) < 1e-13
    assert distance(fft.rfft(real.float()).to(tenon.complex128), half) < 2e-6
    assert distance(fft.irfft(half, n=n), real) < 1e-13
    assert distance(fft.fft(real), by_definition(real.to(tenon.complex128))) < 1e-13


def test_one_long_signal():
    n = 1 << 18
    x = noise(n)
    # A delta at k is a wave.
    k = 12345
    delta = tenon.zeros(n, dtype=tenon.complex128)
    delta[k] = 1
    angles = (tenon.arange(n) * k % n).double() * (-2 * math.pi / n)
    assert distance(fft.fft(delta), tenon.complex(angles.cos(), angles.sin())) < 1e-13
    assert distance(fft.ifft(fft.fft(x)), x) < 1e-13
    assert distance(fft.irfft(fft.rfft(x.real.contiguous())), x.real) < 1e-13


def test_several_dimensions_are_one_after_the_other():
    x = noise(4, 6, 5)
    assert distance(fft.fftn(x), fft.fft(fft.fft(fft.fft(x, dim=0), dim=1), dim=2)) < 1e-14
    assert distance(fft.fft2(x, dim=(0, 2)), fft.fft(fft.fft(x, dim=0), dim=2)) < 1e-14
    real = x.real.contiguous()
    assert distance(fft.rfftn(real), fft.fftn(real)[:, :, :3]) < 1e-14
    assert distance(fft.irfftn(fft.rfftn(real), s=real.shape), real) < 1e-14
    assert distance(fft.hfftn(fft.ihfftn(real), s=real.shape), real) < 1e-14


def test_memory_of_any_order():
    x = noise(6, 5, 4)
    for t in (x.transpose(0, 2), x[:, ::2], x.permute(2, 0, 1), x[1:, 1:], x.expand(2, 6, 5, 4)):
        for dim in range(t.dim()):
            assert distance(fft.fft(t, dim=dim), fft.fft(t.contiguous(), dim=dim)) < 1e-14


def test_threads_change_no_bit():
    x, count = noise(64, 1024), tenon.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            tenon.set_num_threads(threads)
            results.append((fft.fft(x), fft.fft2(x), fft.rfft(x.real.contiguous()), fft.fft(x[0])))
    finally:
        tenon.set_num_threads(count)
    for one, other in zip(results[0], results[1]):
        assert tenon.equal(one, other)
    assert all(distance(one, other) < 1e-13 for one, other in zip(results[0], results[2]))


def test_out():
    x, out = noise(3, 4), tenon.empty(0, dtype=tenon.complex128)
    assert fft.fft(x, out=out) is out and tenon.equal(out, fft.fft(x))


def test_gradients():
    for function, x in (
        (fft.fft, noise(3, 5)),
        (fft.rfft, noise(3, 6).real),
        (fft.irfft, noise(3, 4)),
        (fft.hfftn, noise(3, 4)),
    ):
        x = x.detach().clone().requires_grad_()
        # |F x|^2 is n |x|^2 if all of the spectrum is there.
        y = function(x)
        (grad,) = tenon.autograd.grad((y.abs() ** 2).sum(), x, create_graph=True)
        step = noise(*x.shape).to(x.dtype) if x.is_complex() else noise(*x.shape).real
        exact = ((grad.conj() * step).real if x.is_complex() else grad * step).sum()
        eps = 1e-6
        with tenon.no_grad():
            near = [(function(x + sign * eps * step).abs() ** 2).sum() for sign in (1, -1)]
        assert abs(exact.item() - ((near[0] - near[1]) / (2 * eps)).item()) < 1e-6 * abs(exact.item()) + 1e-6


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("window", [None, "hann_window", "hamming_window"])
def test_istft_undoes_stft(center, window):
    signal = noise(2, 50).real.contiguous()
    weights = window and getattr(tenon, window)(8, False, dtype=tenon.float64) + 0.1
    spectrum = tenon.stft(signal, 8, 2, window=weights, center=center, return_complex=True)
    assert spectrum.shape == (2, 5, 26 if center else 22)
    back = spectrum.istft(8, 2, window=weights, center=center, length=50)
    assert distance(back, signal) < 1e-13
    pairs = signal.stft(8, 2, window=weights, center=center, return_complex=False)
    assert tenon.equal(tenon.view_as_complex(pairs), spectrum)


def test_messages():
    with pytest.raises(RuntimeError, match=r"Invalid number of data points \(0\) specified"):
        fft.fft(noise(3), n=0)
    with pytest.raises(TypeError, match="rfft expects a real input tensor, but got ComplexDouble"):
        fft.rfft(noise(3))
    with pytest.raises(NotImplementedError, match="Unsupported dtype Half"):
        fft.fft(tenon.ones(3, dtype=tenon.float16))
    with pytest.raises(RuntimeError, match='Invalid normalization mode: "no"'):
        fft.fft(noise(3), norm="no")
    with pytest.raises(RuntimeError, match="return_complex"):
        tenon.stft(tenon.ones(9), 4)
