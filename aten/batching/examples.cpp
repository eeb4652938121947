#include "aten/batching/examples.h"

#include "aten/batching/batched_tensor.h"
#include "tenon/ops/all.h"
#include "tenon/ops/any.h"
#include "tenon/ops/item.h"
#include "tenon/ops/max.h"
#include "tenon/ops/min.h"

namespace tenon::batching {

bool any_of_examples(const Tensor& t) { return value_of_all_levels(t).any().item().toBool(); }
bool all_of_examples(const Tensor& t) { return value_of_all_levels(t).all().item().toBool(); }
Scalar least_of_examples(const Tensor& t) { return value_of_all_levels(t).min().item(); }
Scalar most_of_examples(const Tensor& t) { return value_of_all_levels(t).max().item(); }

}  // namespace tenon::batching
