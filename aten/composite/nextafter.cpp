#include "tenon/native/nextafter.h"

#include "aten/iterator/plan.h"
#include "tenon/ops/_nextafter.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/logical_xor.h"
#include "tenon/ops/where.h"

namespace tenon {

/// The neighbour of self on other's side; other itself where they are equal. Of half types it is
/// found among their bits, of which one more leads away from zero.
Tensor native::nextafter(const Tensor& self, const Tensor& other) {
  const TensorBase* operands[] = {&self, &other};
  const ScalarType type = result_type(operands, {});
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(type), "[nextafter] is not implemented for '", type,
                              "'");
  if (!is_reduced_floating_point(type)) return tenon::_nextafter(self, other);
  const DimVector sizes = broadcast_shape(operands);
  const Tensor from = self.to(type).expand(sizes), to = other.to(type).expand(sizes);
  const Tensor bits = from.contiguous().view(kShort);
  const Tensor inwards = tenon::logical_xor(from<to, from> 0);
  const Tensor next = tenon::where(inwards, bits - 1, bits + 1).view(type);
  const Tensor smallest = bits.new_ones({}).view(type);
  const Tensor stepped = tenon::where(from == 0, tenon::where(to < 0, -smallest, smallest), next);
  // A sum with NaN is NaN.
  return tenon::where(from == to, to,
                      tenon::where(from.isnan().logical_or(to.isnan()), from + to, stepped));
}

}  // namespace tenon
