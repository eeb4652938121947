#include "tenon/native/combinations.h"

#include <vector>

#include "tenon/ops/empty.h"

namespace tenon {

/// [n] -> [count, r]: every choice of r elements, in the order of their places, with_replacement
/// also of the same element several times.
Tensor native::combinations(const Tensor& self, int64_t r, bool with_replacement) {
  TENON_CHECK(self.dim() == 1, "[combinations] Expect a 1D vector, but got shape ", self.sizes());
  TENON_CHECK(r >= 0, "[combinations] Expect a non-negative number, but got ", r);
  if (r == 0) return self.new_empty({0});
  const int64_t n = self.size(0);
  std::vector<int64_t> places;
  std::vector<int64_t> chosen(static_cast<size_t>(r));
  // The first choice, then each time the last place that can still move does.
  for (int64_t i = 0; i < r; ++i) chosen[static_cast<size_t>(i)] = with_replacement ? 0 : i;
  const auto limit = [&](int64_t i) { return with_replacement ? n - 1 : n - r + i; };
  int64_t moved = n > 0 && (with_replacement || r <= n) ? 0 : -1;
  while (moved >= 0) {
    places.insert(places.end(), chosen.begin(), chosen.end());
    moved = r - 1;
    while (moved >= 0 && chosen[static_cast<size_t>(moved)] == limit(moved)) --moved;
    if (moved < 0) break;
    const int64_t next = ++chosen[static_cast<size_t>(moved)];
    for (int64_t i = moved + 1; i < r; ++i)
      chosen[static_cast<size_t>(i)] = with_replacement ? next : next + i - moved;
  }
  const auto count = static_cast<int64_t>(places.size());
  const Tensor index = empty({count}, TensorOptions().dtype(kLong));
  std::copy(places.begin(), places.end(), index.mutable_data_ptr<int64_t>());
  return self.index_select(0, index.to(self.device())).view({count / r, r});
}

}  // namespace tenon
