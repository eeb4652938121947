#include "tenon/native/random.h"

#include <algorithm>

#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"
#include "aten/iterator/number_fits.h"

namespace tenon {
namespace {

template <class T>
T from_integer(int64_t value) {
  if constexpr (std::is_class_v<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

constexpr int64_t kWordsAtOnce = 2048;

/// r mod d by two multiplications (Lemire, Kaser and Kurz, 2019).
class FastRemainder {
 public:
  explicit FastRemainder(uint32_t d) : inverse_(~uint64_t{0} / d + 1), d_(d) {}
  uint32_t operator()(uint32_t r) const {
    // For d = 1 the inverse wraps to 0, and so does the remainder.
    return static_cast<uint32_t>((static_cast<unsigned __int128>(inverse_ * r) * d_) >> 64);
  }

 private:
  uint64_t inverse_;
  uint32_t d_;
};

/// f(i, word) for n words, drawn in bulk where that pays.
template <class F>
void for_each_word(GeneratorImpl& generator, int64_t n, F&& f) {
  if (n < native::kFewWords) {
    for (int64_t i = 0; i < n; ++i) f(i, generator.random());
    return;
  }
  native::RandomWords source(generator.engine);
  uint32_t words[kWordsAtOnce];
  for (int64_t begin = 0; begin < n; begin += kWordsAtOnce) {
    const int64_t m = std::min(kWordsAtOnce, n - begin);
    source.draw(words, m);
    for (int64_t i = 0; i < m; ++i) f(begin + i, words[i]);
  }
}

/// base + r mod range, r of 64 bits for ranges of 2^28 and more; range 0 stands for 2^64.
void fill_range(const Tensor& self, GeneratorImpl& generator, uint64_t range, int64_t base) {
  TENON_DISPATCH_REAL(self.scalar_type(), "random_", {
    native::fill_in_order<scalar_t>(self, [&](scalar_t* out, int64_t n) {
      if (range != 0 && range < (uint64_t{1} << 28)) {
        const FastRemainder remainder(static_cast<uint32_t>(range));
        for_each_word(generator, n, [&](int64_t i, uint32_t word) {
          out[i] = from_integer<scalar_t>(static_cast<int64_t>(remainder(word)) + base);
        });
        return;
      }
      for (int64_t i = 0; i < n; ++i) {
        uint64_t r = generator.random64();
        if (range != 0) r %= range;
        out[i] = from_integer<scalar_t>(static_cast<int64_t>(r + static_cast<uint64_t>(base)));
      }
    });
  });
}

double largest(ScalarType t) {
  switch (t) {
  case kHalf: return 65504.0;
  case kBFloat16:
  case kFloat:
  case kDouble: return 0x1p127;
  default: return static_cast<double>(native::largest_exact(t));
  }
}

double smallest(ScalarType t) {
  if (t == kByte || t == kBool) return 0;
  return is_floating_point(t) ? -largest(t) : -largest(t) - 1;
}

}  // namespace

/// Integers in [0, 2^31) and so on: all that the dtype holds exactly, from 0.
Tensor& native::random_cpu_(Tensor& self, std::optional<Generator> generator) {
  const LockedGenerator source("random_", generator);
  const ScalarType t = self.scalar_type();
  const uint64_t range = static_cast<uint64_t>(native::largest_exact(t)) + 1;
  TENON_DISPATCH_REAL(t, "random_", {
    fill_in_order<scalar_t>(self, [&](scalar_t* out, int64_t n) {
      const bool wide = t == kLong || t == kDouble;
      for (int64_t i = 0; i < n; ++i) {
        const uint64_t r = wide ? source->random64() : source->random();
        out[i] = from_integer<scalar_t>(static_cast<int64_t>(r % range));
      }
    });
  });
  return self;
}

Tensor& native::random_from_cpu_(Tensor& self, int64_t from, std::optional<int64_t> to,
                                 std::optional<Generator> generator) {
  const ScalarType t = self.scalar_type();
  TENON_CHECK(!to || from < *to,
              "[random_] random_ expects 'from' to be less than 'to', but got from=", from,
              " >= to=", to.value_or(0));
  TENON_CHECK(static_cast<double>(from) >= smallest(t) && static_cast<double>(from) <= largest(t),
              "[random_] from is out of bounds for ", t, ", got ", from);
  TENON_CHECK(!to || (static_cast<double>(*to - 1) >= smallest(t) &&
                      static_cast<double>(*to - 1) <= largest(t)),
              "[random_] to - 1 is out of bounds for ", t, ", got to=", to.value_or(0));
  const LockedGenerator source("random_", generator);
  // Without `to` up to the largest value; from the smallest int64 on that is all 2^64.
  const int64_t last = to ? *to - 1 : native::largest_exact(t);
  fill_range(self, *source, static_cast<uint64_t>(last) - static_cast<uint64_t>(from) + 1, from);
  return self;
}

Tensor& native::random_to_cpu_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return native::random_from_cpu_(self, 0, to, generator);
}

}  // namespace tenon
