#include "runtime/fusion/shapes.h"

#include <algorithm>

namespace tenon::fusion {

std::optional<std::vector<int64_t>> sizes_in_shape(IntArrayRef sizes, IntArrayRef shape,
                                                   IntArrayRef source) {
  if (sizes.size() > shape.size()) return std::nullopt;
  std::vector<int64_t> aligned(shape.size() - sizes.size(), 1);
  aligned.insert(aligned.end(), sizes.begin(), sizes.end());
  std::vector<int64_t> made;
  // Blocks of dimensions that have as many elements in either shape.
  for (size_t i = 0, j = 0; i < shape.size() || j < source.size();) {
    const size_t first = i, from = j;
    int64_t in_shape = i < shape.size() ? shape[i++] : 1;
    int64_t in_source = j < source.size() ? source[j++] : 1;
    while (in_shape != in_source) {
      if (in_shape < in_source ? i == shape.size() : j == source.size()) return std::nullopt;
      (in_shape < in_source ? in_shape : in_source) *=
          in_shape < in_source ? shape[i++] : source[j++];
    }
    const auto begin = aligned.begin() + static_cast<ptrdiff_t>(first);
    const auto end = aligned.begin() + static_cast<ptrdiff_t>(i);
    if (std::all_of(begin, end, [](int64_t size) { return size == 1; })) {
      made.insert(made.end(), j - from, 1);
    } else if (std::equal(begin, end, shape.begin() + static_cast<ptrdiff_t>(first))) {
      made.insert(made.end(), source.begin() + static_cast<ptrdiff_t>(from),
                  source.begin() + static_cast<ptrdiff_t>(j));
    } else {
      return std::nullopt;
    }
  }
  made.erase(made.begin(),
             std::find_if(made.begin(), made.end(), [](int64_t n) { return n != 1; }));
  return made;
}

}  // namespace tenon::fusion
