#include "aten/composite/index_values.h"

#include "aten/batching/examples.h"
#include "aten/core/python_object.h"

namespace tenon {

void native::check_index_values(const char* op, const Tensor& index, int64_t d,
                                const Tensor& self) {
  if (!index.is_cpu() || index.numel() == 0 || python_takes(index.key_set())) return;
  const int64_t size = self.dim() == 0 ? 1 : self.size(d);
  const int64_t least = batching::least_of_examples(index).toLong(),
                most = batching::most_of_examples(index).toLong();
  TENON_CHECK_INDEX(least >= 0 && most < size, "[", op, "] index ", least < 0 ? least : most,
                    " is out of bounds for dimension ", d, " with size ", size);
}

}  // namespace tenon
