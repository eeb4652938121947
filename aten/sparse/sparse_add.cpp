#include "aten/sparse/sparse_kernels.h"

#include "aten/iterator/plan.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/ops/add.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/rsub.h"
#include "tenon/ops/to.h"

namespace tenon::sparse {
namespace {

ScalarType promoted(const Tensor& a, const Tensor& b) {
  const TensorBase* const both[] = {&a, &b};
  return native::result_type(both, {});
}

void check_same_sizes(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.sizes() == other.sizes(),
              "add: expected 'self' and 'other' to have same sizes, but ", self.sizes(),
              " != ", other.sizes());
}

Tensor scaled(const Tensor& values, const Scalar& alpha) {
  return alpha.equal(1) ? values : values * alpha;
}

Tensor add_coo(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_same_sizes(self, other);
  const SparseValue &a = content_of(self), &b = content_of(other);
  TENON_CHECK(a.sparse_dim == b.sparse_dim,
              "add: expected 'self' and 'other' to have same number of sparse dimensions, but ",
              a.sparse_dim, " != ", b.sparse_dim);
  const ScalarType dtype = promoted(self, other);
  const Tensor places[] = {indices_of(self), indices_of(other)};
  const Tensor elements[] = {values_of(self).to(dtype), scaled(values_of(other).to(dtype), alpha)};
  const Tensor sum = make_coo(self.sizes(), a.sparse_dim, ops::cat::call(places, 1),
                              ops::cat::call(elements, 0), false);
  return a.coalesced && b.coalesced ? ops::coalesce::call(sum) : sum;
}

Tensor as_coo(const Tensor& t) { return is_compressed(t.layout()) ? coo_of_compressed(t) : t; }

/// `to`, strided and of its memory alone, plus a sparse tensor.
void add_into(const Tensor& to, const Tensor& other, const Scalar& alpha) {
  const Tensor coo = as_coo(other);
  const auto n = static_cast<size_t>(content_of(coo).sparse_dim);
  int64_t count = 1;
  for (const int64_t size : to.sizes().slice(0, n)) count *= size;
  DimVector sizes;
  sizes.push_back(count);
  for (const int64_t size : to.sizes().slice(n)) sizes.push_back(size);
  Tensor rows = to.view(sizes);
  rows.index_add_(0, flat_positions(indices_of(coo), to.sizes().slice(0, n)),
                  values_of(coo).to(to.scalar_type()), alpha);
}

bool is_dense_memory(const Tensor& t) { return t.is_contiguous(); }

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const bool strided = self.layout() == kStrided, other_strided = other.layout() == kStrided;
  if (!strided && other_strided) {
    TENON_CHECK(is_compressed(self.layout()),
                "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
    return sparse::add(other * alpha, self, 1);
  }
  if (strided) {
    check_same_sizes(self, other);
    const ScalarType dtype = promoted(self, other);
    const Tensor result = self.to(dtype).clone(MemoryFormat::Contiguous);
    add_into(result, other, alpha);
    return result;
  }
  if (self.layout() == kSparse && other.layout() == kSparse) return add_coo(self, other, alpha);
  TENON_CHECK(self.layout() == other.layout(),
              "add: expected 'self' and 'other' to have the same "
              "sparse layout, got ",
              self.layout(), " and ", other.layout());
  check_same_sizes(self, other);
  TENON_CHECK(!has_blocks(self.layout()), "add: is not implemented for layout ", self.layout());
  const Tensor sum = ops::coalesce::call(add_coo(as_coo(self), as_coo(other), alpha));
  return Tensor(sum.to_sparse(self.layout()));
}

Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (self.layout() != kStrided) {
    become(self, sparse::add(self, other, alpha));
    return self;
  }
  check_same_sizes(self, other);
  const ScalarType dtype = promoted(self, other);
  TENON_CHECK(can_cast(dtype, self.scalar_type()), "result type ", dtype,
              " can't be cast to the desired output type ", self.scalar_type());
  if (is_dense_memory(self)) {
    add_into(self, other, alpha);
  } else {
    Tensor sum = self.clone(MemoryFormat::Contiguous);
    add_into(sum, other, alpha);
    self.copy_(sum);
  }
  return self;
}

Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sparse::add(self, other, -alpha);
}

Tensor& sub_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return sparse::add_(self, other, -alpha);
}

Tensor add_scalar(const Tensor& self, const Scalar&, const Scalar&) {
  detail::raise<Error>("add(sparse, dense) is not supported. Use add(dense, sparse) instead, got a "
                       "tensor of layout ",
                       self.layout(), " and a number");
}

}  // namespace tenon::sparse
