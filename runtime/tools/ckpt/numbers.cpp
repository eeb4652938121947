#include "runtime/tools/ckpt/numbers.h"

#include <algorithm>
#include <cstring>

#include "tenon/ops/contiguous.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/select.h"

namespace tenon::ckpt {
namespace {

/// Elements of a part: as doubles half a MiB.
constexpr int64_t kPart = 1 << 16;

/// How often a tensor may show an element of its storage, and what any tensor may have.
constexpr int64_t kOften = 16;
constexpr int64_t kFew = 1 << 20;

template <class T>
std::vector<double> converted(const Tensor& tensor) {
  const T* data = tensor.data_ptr<T>();
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(tensor.numel()));
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    if constexpr (is_complex(scalar_type_of<T>)) {
      numbers.push_back(static_cast<double>(data[i].real()));
      numbers.push_back(static_cast<double>(data[i].imag()));
    } else {
      numbers.push_back(static_cast<double>(data[i]));
    }
  }
  return numbers;
}

}  // namespace

bool each_part(const std::vector<Tensor>& tensors,
               const std::function<bool(const std::vector<Tensor>& parts)>& f) {
  const auto part_of = [&](auto&& cut) {
    std::vector<Tensor> parts;
    parts.reserve(tensors.size());
    for (const Tensor& t : tensors) parts.push_back(cut(t.detach()));
    return parts;
  };
  const Tensor& t = tensors.at(0);
  if (t.numel() == 0) return true;
  if (t.numel() <= kPart) return f(part_of([](const Tensor& whole) { return whole.contiguous(); }));
  const int64_t rows = t.size(0), row = t.numel() / rows, count = std::max<int64_t>(kPart / row, 1);
  for (int64_t i = 0; i < rows; i += count) {
    const auto some = part_of([&](const Tensor& whole) {
      return row > kPart ? whole.select(0, i) : whole.narrow(0, i, std::min(count, rows - i));
    });
    if (!each_part(some, f)) return false;
  }
  return true;
}

int64_t drop_repeats(std::vector<Tensor>& tensors) {
  int64_t count = 1;
  for (int64_t d = 0; d < tensors.at(0).dim(); ++d) {
    const int64_t size = tensors[0].size(d);
    const bool repeated = size > 1 && std::all_of(tensors.begin(), tensors.end(),
                                                  [&](const auto& t) { return t.stride(d) == 0; });
    if (!repeated) continue;
    count *= size;
    for (Tensor& t : tensors) t = t.detach().narrow(d, 0, 1);
  }
  const int64_t numel = tensors[0].numel();
  int64_t stored = 0;
  for (const Tensor& t : tensors)
    stored = std::max(stored, static_cast<int64_t>(t.storage().nbytes() / t.element_size()));
  TENON_CHECK(numel / kOften <= stored || numel <= kFew, "[tenon-ckpt] a tensor shows ", stored,
              " elements as ", numel, ", which is too often to go through all of them");
  return count;
}

std::vector<double> first_numbers(const Tensor& tensor, size_t count) {
  std::vector<double> first;
  for (int64_t i = 0; i < tensor.numel() && first.size() < count; ++i) {
    Tensor element = tensor.detach();
    int64_t below = tensor.numel(), rest = i;
    for (const int64_t size : tensor.sizes()) {
      below /= size;
      element = element.select(0, rest / below);
      rest %= below;
    }
    const auto numbers = numbers_of(element);
    if (!numbers) break;
    first.insert(first.end(), numbers->begin(), numbers->end());
  }
  first.resize(std::min(first.size(), count));
  return first;
}

std::optional<std::vector<double>> numbers_of(const Tensor& tensor) {
  if (tensor.is_meta()) return std::nullopt;
  const Tensor t = tensor.detach().contiguous();
  switch (t.dtype()) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return converted<T>(t);
    TENON_FORALL_TYPES(TENON_CASE)
#undef TENON_CASE
  default: return std::nullopt;
  }
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return each_part({a, b}, [](const std::vector<Tensor>& parts) {
    return std::memcmp(parts[0].data_ptr(), parts[1].data_ptr(), parts[0].nbytes()) == 0;
  });
}

}  // namespace tenon::ckpt
