#include "tenon/native/combinations.h"

#include <algorithm>
#include <vector>

#include "tenon/ops/empty.h"

namespace tenon {
namespace {

/// How many choices of r of n elements there are: n (n - 1) ... / r!, or as many of n + r - 1.
int64_t choices(int64_t n, int64_t r, bool with_replacement) {
  if (n == 0) return 0;
  const int64_t of = with_replacement ? n + r - 1 : n;
  if (r > of) return 0;
  int64_t count = 1;
  for (int64_t i = 1; i <= std::min(r, of - r); ++i) {
    TENON_CHECK(!__builtin_mul_overflow(count, of - i + 1, &count), "[combinations] of ", n,
                " elements there are more choices of ", r, " than can be counted");
    count /= i;
  }
  return count;
}

}  // namespace

/// [n] -> [count, r]: every choice of r elements, in the order of their places, with_replacement
/// also of the same element several times.
Tensor native::combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TENON_CHECK(self.dim() == 1, "[combinations] Expect a 1D vector, but got shape ", self.sizes());
  TENON_CHECK(r >= 0, "[combinations] Expect a non-negative number, but got ", r);
  if (r == 0) return self.new_empty({0});
  const int64_t n = self.size(0);
  const int64_t count = choices(n, r, with_replacement);
  const Tensor index = empty({count, r}, TensorOptions().dtype(kLong));
  auto* places = index.mutable_data_ptr<int64_t>();
  std::vector<int64_t> chosen(static_cast<size_t>(r));
  // The first choice, then each time the last place that can still move does.
  for (int64_t i = 0; i < r; ++i) chosen[static_cast<size_t>(i)] = with_replacement ? 0 : i;
  const auto limit = [&](int64_t i) { return with_replacement ? n - 1 : n - r + i; };
  for (int64_t at = 0; at < count; ++at) {
    places = std::copy(chosen.begin(), chosen.end(), places);
    int64_t moved = r - 1;
    while (moved >= 0 && chosen[static_cast<size_t>(moved)] == limit(moved)) --moved;
    if (moved < 0) break;
    const int64_t next = ++chosen[static_cast<size_t>(moved)];
    for (int64_t i = moved + 1; i < r; ++i)
      chosen[static_cast<size_t>(i)] = with_replacement ? next : next + i - moved;
  }
  return self.index_select(0, index.view({-1}).to(self.device())).view({count, r});
}

}  // namespace tenon
