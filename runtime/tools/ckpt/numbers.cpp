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

std::optional<std::vector<double>> numbers_of(const Tensor& tensor) {
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
