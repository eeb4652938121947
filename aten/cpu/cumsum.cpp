#include "tenon/native/cumsum.h"

#include "aten/cpu/scan.h"

namespace tenon {

void native::cumsum_cpu(const Tensor& self, int64_t dim, std::optional<ScalarType>,
                        const Tensor& out) {
  accumulate("cumsum", self, dim, out, 0, [](auto a, auto b) { return a + b; });
}

}  // namespace tenon
