#include "aten/core/sparse/sparse_value.h"

namespace tenon {

void destroy_sparse_value(SparseValue* value) noexcept { delete value; }

}  // namespace tenon
