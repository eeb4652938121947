#include "tenon/native/argmax.h"

#include "aten/meta/reduce.h"
#include "tenon/native/argmin.h"

namespace tenon {
namespace {

void check(const char* op, const Tensor& self, const std::optional<int64_t>& dim) {
  TENON_CHECK_TYPE(!self.is_complex(), "[", op, "] does not support complex input, got ",
                   self.scalar_type());
  if (dim) return native::check_not_empty(op, self, *dim);
  TENON_CHECK_INDEX(self.numel() > 0, "[", op,
                    "] Expected reduction dim to be specified for input.numel() == 0.");
}

}  // namespace

void native::argmax_check(const Tensor& self, std::optional<int64_t> dim, bool) {
  check("argmax", self, dim);
}

void native::argmin_check(const Tensor& self, std::optional<int64_t> dim, bool) {
  check("argmin", self, dim);
}

}  // namespace tenon
