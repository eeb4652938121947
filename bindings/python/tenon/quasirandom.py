"""Points that fill a cube evenly: Sobol sequences, also scrambled. The numbers are PyTorch's."""

import functools

import tenon
from tenon._sobol_numbers import TABLE

__all__ = ["SobolEngine"]

_BITS = 30


@functools.cache
def _directions(dimension):
    """For each of the dimensions _BITS numbers of _BITS bits, the first for the highest bit."""
    rows = [[1] * _BITS]
    for entry in TABLE.split()[: dimension - 1]:
        polynomial, _, start = entry.partition(":")
        polynomial, row = int(polynomial), [int(number) for number in start.split(",")]
        degree = len(row)
        for j in range(degree, _BITS):
            value = row[j - degree]
            for k in range(degree):
                if polynomial >> (degree - 1 - k) & 1:
                    value ^= row[j - k - 1] << (k + 1)
            row.append(value)
        rows.append(row)
    return [[number << (_BITS - 1 - j) for j, number in enumerate(row)] for row in rows]


def _scrambled(state, matrices):
    """The numbers of each dimension times its lower triangular matrix of bits: [D, _BITS], [D, _BITS, _BITS] -> [D, _BITS]"""
    places = tenon.arange(_BITS - 1, -1, -1)
    bits = (state.unsqueeze(-1) >> places) & 1
    matrices.diagonal(dim1=-2, dim2=-1).fill_(1)
    products = (matrices.unsqueeze(1) * bits.unsqueeze(-2)).sum(-1) % 2
    return (products << places).sum(-1)


class SobolEngine:
    """A Sobol sequence in [0, 1)^dimension.

    scramble: by a random linear map and a random shift of the bits, drawn from the default generator, or from one with this seed.
    """

    MAXBIT = _BITS
    MAXDIM = len(TABLE.split()) + 1

    def __init__(self, dimension, scramble=False, seed=None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}], got {dimension}"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = tenon.tensor(_directions(dimension), dtype=tenon.int64, device="cpu")
        self.shift = tenon.zeros(dimension, dtype=tenon.int64, device="cpu")
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scramble(self):
        options = {"device": "cpu", "generator": None}
        if self.seed is not None:
            options["generator"] = tenon.Generator().manual_seed(self.seed)
        shifts = tenon.randint(2, (self.dimension, _BITS), **options)
        self.shift = (shifts << tenon.arange(_BITS)).sum(-1)
        matrices = tenon.randint(2, (self.dimension, _BITS, _BITS), **options).tril()
        self.sobolstate = _scrambled(self.sobolstate, matrices)

    def _numbers(self, first, count):
        """The points of these numbers as integers: [count, dimension]"""
        number = tenon.arange(first, first + count).unsqueeze(-1)
        gray = number ^ (number >> 1)
        points = self.shift.expand(count, -1).clone()
        for bit in range((first + count).bit_length()):
            points ^= ((gray >> bit) & 1) * self.sobolstate[:, bit]
        return points

    def draw(self, n=1, out=None, dtype=None):
        """The next n points: [n, dimension], of the default dtype unless another is given."""
        dtype = tenon.get_default_dtype() if dtype is None else dtype
        points = self._numbers(self.num_generated, n)
        self.num_generated += n
        if n:
            self.quasi = points[-1].clone()
        result = points.to(dtype) * 2.0**-_BITS
        return result if out is None else out.resize_(result.shape).copy_(result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2^m points. ValueError unless all points together are a power of 2, which keeps the balance."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self):
        """Begins anew."""
        self.quasi, self.num_generated = self.shift.clone(), 0
        return self

    def fast_forward(self, n):
        """Leaves out the next n points."""
        self.num_generated += n
        if self.num_generated:
            self.quasi = self._numbers(self.num_generated - 1, 1)[0]
        return self

    def __repr__(self):
        text = [f"dimension={self.dimension}"]
        text += ["scramble=True"] if self.scramble else []
        text += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(text)})"
