#include "runtime/tools/ckpt/numbers.h"

#include <cstring>

#include "tenon/ops/contiguous.h"

namespace tenon::ckpt {
namespace {

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
  const Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return x.nbytes() == y.nbytes() &&
         (x.nbytes() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0);
}

}  // namespace tenon::ckpt
