// Matrix products, by products of batches of matrices.

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/add.h"
#include "tenon/ops/baddbmm.h"
#include "tenon/ops/bmm.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/unflatten.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::batching {
namespace {

void check_dims(const Call& call, std::string_view name, int64_t wanted) {
  const int64_t dim = call.tensor(name).dim();
  TENON_CHECK(dim == wanted, "[", call.name(), "] expected ", name, " to have ", wanted,
              " dimensions, got ", dim);
}

Values mm_rule(const Call& call) {
  check_dims(call, "self", 2);
  check_dims(call, "mat2", 2);
  return {matmul(call.value("self"), call.value("mat2"))};
}

Values bmm_rule(const Call& call) {
  check_dims(call, "self", 3);
  check_dims(call, "mat2", 3);
  return {matmul(call.in_front("self"), call.in_front("mat2"))};
}

Values mv_rule(const Call& call) {
  check_dims(call, "self", 2);
  check_dims(call, "vec", 1);
  // One matrix for all examples: the vectors are the rows of another one.
  if (!call.is_batched("self")) return {matmul(call.value("vec"), call.tensor("self").t())};
  return {matmul(call.value("self"), call.in_front("vec").unsqueeze(-1)).squeeze(-1)};
}

/// Whether the products and `self` are added as they are; else beta and alpha have their own rules.
bool are_plain(const Call& call) {
  return call["beta"].to_scalar().equal(1) && call["alpha"].to_scalar().equal(1);
}

Values addmm_rule(const Call& call) {
  check_dims(call, "mat1", 2);
  check_dims(call, "mat2", 2);
  const Tensor self = call.aligned(call.tensor("self"), 2);
  if (are_plain(call)) return {self + matmul(call.value("mat1"), call.value("mat2"))};
  return {baddbmm(self, call.in_front("mat1"), call.in_front("mat2"), call["beta"].to_scalar(),
                  call["alpha"].to_scalar())};
}

Values baddbmm_rule(const Call& call) {
  check_dims(call, "batch1", 3);
  check_dims(call, "batch2", 3);
  const Tensor first = call.in_front("batch1"), second = call.in_front("batch2");
  const int64_t count = first.size(1);
  const Tensor self = call.aligned(call.tensor("self"), 3)
                          .expand({call.batch(), count, first.size(2), second.size(3)});
  return {baddbmm(self.flatten(0, 1), first.flatten(0, 1), second.flatten(0, 1),
                  call["beta"].to_scalar(), call["alpha"].to_scalar())
              .unflatten(0, {call.batch(), count})};
}

Values linear_rule(const Call& call) {
  const Tensor input = call.tensor("input"), weight = call.tensor("weight");
  const Tensor bias = call.tensor("bias");
  if (weight.dim() == 1 && call.is_batched(weight)) {
    const Tensor product =
        matmul(call.in_front(input).unsqueeze(-2), call.aligned(weight, input.dim()).unsqueeze(-1))
            .flatten(-3, -1);
    const Tensor result = input.dim() == 1 ? product.squeeze(-1) : product;
    return {bias.defined() ? result + call.aligned(bias, input.dim() - 1) : result};
  }
  TENON_CHECK(input.dim() > 0, "[linear] expected input to have a dimension at least, got none");
  if (!call.is_batched(weight)) {
    const bool plain = !bias.defined() || !call.is_batched(bias);
    const Tensor product = linear(call.value(input), weight, plain ? bias : Tensor());
    return {plain ? product : product + call.aligned(bias, input.dim())};
  }
  const Tensor columns = value_of(weight).transpose(1, 2);
  // Without the batch [..., in], as rows [1 or B, rows, in].
  Tensor rows = call.in_front(input);
  if (input.dim() == 1) {
    rows = rows.unsqueeze(1);
  } else if (input.dim() > 2) {
    rows = rows.flatten(1, -2);
  }
  Tensor product;
  if (bias.defined()) {
    const Tensor row = call.is_batched(bias) ? value_of(bias).unsqueeze(1) : bias;
    product = baddbmm(row, rows, columns);
  } else {
    product = bmm(rows, columns);
  }
  if (input.dim() == 2) return {product};
  DimVector sizes;
  sizes.push_back(call.batch());
  for (const int64_t size : input.sizes().slice(0, input.sizes().size() - 1)) sizes.push_back(size);
  sizes.push_back(product.size(-1));
  return {product.reshape(sizes)};
}

/// By products alone: linear_backward(self, grad_output, weight, output_mask).
Values linear_backward_rule(const Call& call) {
  const Tensor self = call.tensor("self"), grad = call.tensor("grad_output");
  const Value::Bools wanted = call["output_mask"].to_bools();
  Values results(3);
  if (call.tensor("weight").dim() == 1) {  // one output, without a dimension
    const Tensor column = call.in_front(grad).unsqueeze(-1), front = call.in_front(self);
    const Tensor row = call.aligned(call.tensor("weight"), self.dim());
    if (wanted[0]) results[0] = (column * row.conj()).expand(front.sizes());
    const Tensor products = column * front.conj();
    if (wanted[1])
      results[1] = self.dim() == 1 ? products : products.flatten(1, -2).sum(IntArrayRef({1}));
    if (wanted[2]) results[2] = column.flatten(1).sum(IntArrayRef({1}));
    return results;
  }
  const auto rows = [&](const Tensor& t) {
    const Tensor front = call.in_front(t);
    return t.dim() == 1 ? front.unsqueeze(1) : t.dim() > 2 ? front.flatten(1, -2) : front;
  };
  const Tensor grad_rows = rows(grad);
  if (wanted[0]) {
    DimVector sizes;
    sizes.push_back(call.batch());
    for (const int64_t size : self.sizes()) sizes.push_back(size);
    results[0] = matmul(grad_rows, call.value("weight").conj()).reshape(sizes);
  }
  if (wanted[1]) results[1] = matmul(grad_rows.transpose(1, 2), rows(self).conj());
  if (wanted[2]) results[2] = grad_rows.sum(1);
  return results;
}

}  // namespace

void add_product_rules(RuleTable& table) {
  table.insert({
      {"aten::mm", below<mm_rule>},
      {"aten::bmm", below<bmm_rule>},
      {"aten::mv", below<mv_rule>},
      {"aten::addmm", below<addmm_rule>},
      {"aten::baddbmm", below<baddbmm_rule>},
      {"aten::linear", below<linear_rule>},
      {"aten::linear_backward", below<linear_backward_rule>},
  });
}

}  // namespace tenon::batching
