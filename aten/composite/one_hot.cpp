#include "tenon/native/one_hot.h"

#include "tenon/ops/zeros.h"

namespace tenon {

/// A new last dimension of num_classes with 1 at the class and 0 elsewhere, int64; by default as
/// many as the largest class asks for.
Tensor native::one_hot(const Tensor& self, int64_t num_classes) {
  TENON_CHECK(self.scalar_type() == kLong,
              "[one_hot] one_hot is only applicable to index tensor of type LongTensor, got ",
              self.scalar_type());
  DimVector sizes(self.sizes());
  if (self.numel() == 0) {
    TENON_CHECK(num_classes > 0,
                "[one_hot] Can not infer total number of classes from empty tensor.");
    sizes.push_back(num_classes);
    return zeros(sizes, self.options());
  }
  if (!self.is_meta()) {
    TENON_CHECK(self.min().item().toLong() >= 0, "[one_hot] Class values must be non-negative.");
    const int64_t needed = self.max().item().toLong() + 1;
    if (num_classes == -1) num_classes = needed;
    TENON_CHECK(num_classes > 0, "[one_hot] num_classes should be positive, got ", num_classes);
    TENON_CHECK(needed <= num_classes,
                "[one_hot] Class values must be smaller than num_classes, got ", needed - 1,
                " and ", num_classes);
  }
  TENON_CHECK(num_classes > 0, "[one_hot] num_classes must be given for a meta tensor, got ",
              num_classes);
  sizes.push_back(num_classes);
  return zeros(sizes, self.options()).scatter_(-1, self.unsqueeze(-1), 1);
}

}  // namespace tenon
