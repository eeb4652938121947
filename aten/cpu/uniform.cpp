#include "tenon/native/uniform.h"

#include <cmath>
#include <limits>

#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"

namespace tenon {

/// PyTorch's stream: 24 bits of one word for float and the half types, 53 bits of two words for
/// double.
Tensor& native::uniform_cpu_(Tensor& self, double from, double to,
                             std::optional<Generator> generator) {
  const ScalarType real = to_real(self.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(real), "[uniform_] is not implemented for ", real);
  const double largest = real == kDouble ? std::numeric_limits<double>::max()
                         : real == kHalf ? 65504.0
                                         : static_cast<double>(std::numeric_limits<float>::max());
  TENON_CHECK(std::fabs(from) <= largest, "[uniform_] from is out of bounds for ", real, ", got ",
              from);
  TENON_CHECK(std::fabs(to) <= largest, "[uniform_] to is out of bounds for ", real, ", got ", to);
  TENON_CHECK(from <= to,
              "[uniform_] uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  TENON_CHECK(to - from <= largest, "[uniform_] uniform_ expects to-from <= std::numeric_limits<",
              real, ">::max(), but found to=", to, " and from=", from);
  const LockedGenerator source("uniform_", generator);
  const int64_t parts = self.is_complex() ? 2 : 1;
  if (real == kDouble) {
    fill_in_order<double>(
        self, [&](double* out, int64_t n) { draw_uniform(*source, out, n * parts, from, to); });
  } else if (real == kFloat) {
    fill_in_order<float>(self, [&](float* out, int64_t n) {
      draw_uniform(*source, out, n * parts, static_cast<float>(from), static_cast<float>(to));
    });
  } else {
    const auto convert = [&]<class H>(H* out, int64_t n) {
      const auto a = static_cast<float>(from), b = static_cast<float>(to);
      for (int64_t i = 0; i < n; ++i) out[i] = H(std::fma(uniform_float(*source), b - a, a));
    };
    real == kHalf ? fill_in_order<Half>(self, convert) : fill_in_order<BFloat16>(self, convert);
  }
  return self;
}

}  // namespace tenon
