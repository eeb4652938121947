#include "aten/sparse/sparse_kernels.h"

#include "aten/iterator/plan.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/div.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/floor_divide.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros.h"

namespace tenon::sparse {
namespace {

/// A 0-dim tensor as a factor that promotes as a number does.
bool is_number(const Tensor& t) { return t.layout() == kStrided && t.dim() == 0; }

/// The places that both have, with their products.
Tensor mul_coo(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.sizes() == other.sizes(),
              "mul operands have incompatible sizes, expected sizes ", self.sizes(), " got ",
              other.sizes());
  const Tensor a = ops::coalesce::call(self), b = ops::coalesce::call(other);
  const SparseValue& content = content_of(a);
  TENON_CHECK(content.sparse_dim == content_of(b).sparse_dim,
              "mul operands have incompatible sparse dimensions, ", content.sparse_dim, " and ",
              content_of(b).sparse_dim);
  const IntArrayRef sizes = a.sizes().slice(0, static_cast<size_t>(content.sparse_dim));
  const Tensor a_keys = flat_positions(indices_of(a), sizes);
  const Tensor b_keys = flat_positions(indices_of(b), sizes);
  const auto* const x = a_keys.const_data_ptr<int64_t>();
  const auto* const y = b_keys.const_data_ptr<int64_t>();
  std::vector<int64_t> from_a, from_b;
  for (int64_t i = 0, j = 0; i < a_keys.numel() && j < b_keys.numel();) {
    if (x[i] == y[j]) {
      from_a.push_back(i++);
      from_b.push_back(j++);
    } else if (x[i] < y[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  const auto tensor_of = [](const std::vector<int64_t>& list) {
    const Tensor t = tenon::zeros({static_cast<int64_t>(list.size())}, kLong);
    std::copy(list.begin(), list.end(), t.mutable_data_ptr<int64_t>());
    return t;
  };
  const Tensor of_a = tensor_of(from_a), of_b = tensor_of(from_b);
  return make_coo(a.sizes(), content.sparse_dim, ops::index_select::call(indices_of(a), 1, of_a),
                  ops::mul_Tensor::call(ops::index_select::call(values_of(a), 0, of_a),
                                        ops::index_select::call(values_of(b), 0, of_b)),
                  true);
}

/// A sparse tensor with the elements of a strided one at its places.
Tensor mul_strided(const Tensor& self, const Tensor& dense) {
  const TensorBase* const both[] = {&self, &dense};
  TENON_CHECK(native::broadcast_shape(both) == DimVector(self.sizes()),
              "mul: a strided operand of shape ", dense.sizes(),
              " must broadcast to the sizes of the sparse one, ", self.sizes());
  const bool coo = self.layout() == kSparse;
  const Tensor places = indices_of(coo ? self : coo_of_compressed(self));
  const Tensor values = values_of(self);
  const Tensor factors = elements_at(dense.expand(self.sizes()), places);
  return with_values(self,
                     ops::mul_Tensor::call(values, ops::reshape::call(factors, values.sizes())));
}

Tensor on_values(const Tensor& self, const Tensor& values) { return with_values(self, values); }

void check_divisor(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.layout() != kStrided && is_number(other),
              "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ",
              other.sizes(), " for divisor)");
}

}  // namespace

Tensor mul(const Tensor& self, const Tensor& other) {
  if (is_number(other)) return on_values(self, ops::mul_Tensor::call(values_of(self), other));
  if (is_number(self)) return on_values(other, ops::mul_Tensor::call(self, values_of(other)));
  if (other.layout() == kStrided) return mul_strided(self, other);
  if (self.layout() == kStrided) return mul_strided(other, self);
  if (self.layout() == kSparse && other.layout() == kSparse) return mul_coo(self, other);
  TENON_CHECK(self.layout() == other.layout() && !has_blocks(self.layout()),
              "mul: expected operands of the same sparse layout without blocks, got ",
              self.layout(), " and ", other.layout());
  const Tensor product = mul_coo(coo_of_compressed(self), coo_of_compressed(other));
  return Tensor(product.to_sparse(self.layout()));
}

Tensor& mul_(Tensor& self, const Tensor& other) {
  const Tensor product = sparse::mul(self, other);
  if (self.layout() == kStrided) {
    self.copy_(product.to_dense());
  } else {
    become(self, product);
  }
  return self;
}

Tensor mul_scalar(const Tensor& self, const Scalar& other) {
  return on_values(self, ops::mul_Scalar::call(values_of(self), other));
}

Tensor div(const Tensor& self, const Tensor& other) {
  check_divisor(self, other);
  return on_values(self, ops::div_Tensor::call(values_of(self), other));
}

Tensor div_mode(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  check_divisor(self, other);
  const Tensor t = self.layout() == kSparse && mode ? Tensor(ops::coalesce::call(self)) : self;
  return on_values(t, ops::div_Tensor_mode::call(values_of(t), other, mode));
}

Tensor floor_divide(const Tensor& self, const Tensor& other) {
  check_divisor(self, other);
  const Tensor t = self.layout() == kSparse ? ops::coalesce::call(self) : self;
  return on_values(t, ops::floor_divide::call(values_of(t), other));
}

Tensor pow_scalar(const Tensor& self, const Scalar& exponent) {
  TENON_CHECK(!exponent.equal(0), "pow: cannot raise to zeroth power on sparse tensor; it would "
                                  "make the result tensor dense");
  const Tensor t = self.layout() == kSparse ? ops::coalesce::call(self) : self;
  return on_values(t, ops::pow_Tensor_Scalar::call(values_of(t), exponent));
}

Tensor neg(const Tensor& self) { return on_values(self, ops::neg::call(values_of(self))); }

}  // namespace tenon::sparse
