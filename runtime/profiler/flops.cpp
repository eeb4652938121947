#include <functional>
#include <numeric>

#include "runtime/profiler/profiler.h"

namespace tenon::profiler {
namespace {

using Shape = std::vector<int64_t>;

int64_t elements(const Shape& shape, size_t from = 0) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end(), int64_t{1},
                         std::multiplies<>());
}

}  // namespace

int64_t flops(std::string_view name, const std::vector<Shape>& shapes, const Shape& result) {
  const std::string_view operation = name.substr(0, name.find('.'));
  const auto argument = [&](size_t i) -> const Shape& {
    static const Shape none;
    return i < shapes.size() ? shapes[i] : none;
  };
  // Of a product, every element of the result is a sum over the first factor's last dimension.
  const auto product = [&](size_t factor) {
    const Shape& f = argument(factor);
    return f.empty() ? 0 : 2 * elements(result) * f.back();
  };
  if (operation == "aten::mm" || operation == "aten::bmm" || operation == "aten::matmul" ||
      operation == "aten::mv" || operation == "aten::dot" || operation == "aten::linear")
    return product(0);
  if (operation == "aten::addmm" || operation == "aten::baddbmm") return product(1);
  // A weight is [out, in / groups, sizes of the kernel...].
  const Shape& weight = argument(1);
  if (operation == "aten::convolution" || operation == "aten::conv1d" ||
      operation == "aten::conv2d" || operation == "aten::conv3d")
    return weight.empty() ? 0 : 2 * elements(result) * elements(weight, 1);
  // Transposed, each element of the input goes to as many results.
  if (operation == "aten::conv_transpose1d" || operation == "aten::conv_transpose2d")
    return weight.empty() ? 0 : 2 * elements(argument(0)) * elements(weight, 1);
  return 0;
}

}  // namespace tenon::profiler
