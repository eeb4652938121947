#include "aten/batching/examples.h"

#include "aten/batching/batched_tensor.h"
#include "tenon/ops/all.h"
#include "tenon/ops/any.h"
#include "tenon/ops/item.h"
#include "tenon/ops/max.h"
#include "tenon/ops/min.h"

namespace tenon::batching {
namespace {

Tensor all_examples(const Tensor& t) {
  Tensor value = t;
  while (is_batched(value)) value = value_of(value);
  return value;
}

}  // namespace

bool any_of_examples(const Tensor& t) { return all_examples(t).any().item().toBool(); }
bool all_of_examples(const Tensor& t) { return all_examples(t).all().item().toBool(); }
Scalar least_of_examples(const Tensor& t) { return all_examples(t).min().item(); }
Scalar most_of_examples(const Tensor& t) { return all_examples(t).max().item(); }

}  // namespace tenon::batching
