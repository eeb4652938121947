#include "aten/sparse/sparse_kernels.h"

#include "aten/sparse/sparse_products.h"
#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_sparse_addmm.h"
#include "tenon/native/_sparse_mm.h"
#include "tenon/native/_sparse_sparse_matmul.h"
#include "tenon/native/hspmm.h"
#include "tenon/native/mm_mat1_sparse_backward.h"
#include "tenon/native/smm.h"
#include "tenon/native/sparse_sampled_addmm.h"
#include "tenon/ops/_sparse_addmm.h"
#include "tenon/ops/_sparse_sparse_matmul.h"
#include "tenon/ops/add.h"
#include "tenon/ops/bmm.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sparse_mask.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/t.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

bool is_strided(const Tensor& t) { return t.layout() == kStrided; }

void check_matrices(const char* op, const Tensor& a, const Tensor& b) {
  TENON_CHECK(a.dim() == 2 && b.dim() == 2, op, ": expected matrices, got shapes ", a.sizes(),
              " and ", b.sizes());
  TENON_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  TENON_CHECK(a.scalar_type() == b.scalar_type(), op,
              ": expected both matrices to have the same "
              "dtype, got ",
              a.scalar_type(), " and ", b.scalar_type());
}

/// A product of which one matrix is strided, and so is the result.
Tensor strided_product(const Tensor& a, const Tensor& b) {
  if (is_strided(b)) return sparse::multiply(sparse::rows_of(a), a.size(0), b);
  const Tensor columns = sparse::transposed(b, 0, 1);
  return sparse::multiply(sparse::rows_of(columns), b.size(1), a.t()).t().contiguous();
}

bool is_one(const Scalar& s) { return s.equal(1); }

}  // namespace

namespace sparse {

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_matrices("mm", self, mat2);
  if (is_strided(self) || is_strided(mat2)) return strided_product(self, mat2);
  const Rows product = multiply_rows(rows_of(self), self.size(0), rows_of(mat2), mat2.size(1));
  const Tensor csr = make_compressed(kSparseCsr, {self.size(0), mat2.size(1)}, product.starts,
                                     product.columns, product.values);
  if (self.layout() == kSparse && mat2.layout() == kSparse)
    return make_coo(csr.sizes(), 2, indices_of(coo_of_compressed(csr)), product.values, true);
  return is_compressed(self.layout()) && !has_blocks(self.layout()) && self.layout() != kSparseCsr
             ? Tensor(csr.to_sparse_csc())
             : csr;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& self_factor,
             const Scalar& product_factor) {
  // Beside integers the fractions of the factors are cut off.
  const bool whole = is_integral(self.scalar_type(), true);
  const Scalar beta = whole ? Scalar(self_factor.toLong()) : self_factor;
  const Scalar alpha = whole ? Scalar(product_factor.toLong()) : product_factor;
  const bool strided = is_strided(mat1) && is_strided(mat2);
  const Tensor product = strided ? ops::mm::call(mat1, mat2) : sparse::mm(mat1, mat2);
  TENON_CHECK(is_strided(self) == is_strided(product),
              "addmm: expected self to have the layout of the product, ", product.layout(),
              ", got ", self.layout());
  TENON_CHECK(self.scalar_type() == product.scalar_type(),
              "addmm: expected self and the matrices to have the same dtype, got ",
              self.scalar_type(), " and ", product.scalar_type());
  const Tensor scaled = is_one(alpha) ? product : product * alpha;
  if (beta.equal(0)) return scaled;
  const Tensor start = is_one(beta) ? self : self * beta;
  return is_strided(self) ? scaled.add(start) : start.add(scaled);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  TENON_CHECK(self.dim() == 2 && vec.dim() == 1 && is_strided(vec) && self.size(1) == vec.size(0),
              "mv: expected a matrix and a strided vector, got ", self.layout(), self.sizes(),
              " and ", vec.layout(), vec.sizes());
  return ops::reshape::call(sparse::mm(self, ops::unsqueeze::call(vec, 1)), {self.size(0)});
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  TENON_CHECK(self.dim() == 3 && mat2.dim() == 3 && self.size(0) == mat2.size(0) &&
                  self.size(2) == mat2.size(1),
              "bmm: expected [B, N, M] and [B, M, P], got ", self.sizes(), " and ", mat2.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kSparse && is_strided(mat2),
                              "bmm: expected a sparse_coo and a strided tensor, got ",
                              self.layout(), " and ", mat2.layout());
  std::vector<Tensor> products;
  for (int64_t b = 0; b < self.size(0); ++b)
    products.push_back(sparse::mm(selected(self, 0, b), mat2.select(0, b)));
  if (products.empty()) return tenon::zeros({0, self.size(1), mat2.size(2)}, mat2.scalar_type());
  return ops::stack::call(products, 0);
}

}  // namespace sparse

Tensor native::_sparse_mm(const Tensor& sparse, const Tensor& dense) {
  if (!is_strided(sparse) && !is_strided(dense))
    return ops::_sparse_sparse_matmul::call(sparse, dense);
  // PyTorch's: one of them is sparse.
  check_matrices("_sparse_mm", sparse, dense);
  const Tensor start =
      tenon::zeros({1, 1}, dense.scalar_type()).expand({sparse.size(0), dense.size(1)});
  if (is_strided(sparse) && is_strided(dense)) return ops::mm::call(sparse, dense);
  return ops::_sparse_addmm::call(start, sparse, dense, 0, 1);
}

/// Each row: the sum, mean, largest or smallest of the products of its elements.
Tensor native::_sparse_mm_reduce(const Tensor& sparse, const Tensor& dense,
                                 std::string_view reduce) {
  TENON_CHECK(sparse.layout() == kSparseCsr && is_strided(dense),
              "sparse_mm_reduce: expected a sparse_csr and a strided matrix, got ", sparse.layout(),
              " and ", dense.layout());
  check_matrices("sparse_mm_reduce", sparse, dense);
  TENON_CHECK(reduce == "sum" || reduce == "mean" || reduce == "amax" || reduce == "amin",
              "sparse_mm_reduce: reduce must be sum, mean, amax or amin, got ", reduce);
  const Tensor places = sparse::indices_of(sparse::coo_of_compressed(sparse));
  const Tensor products = ops::index_select::call(dense, 0, places.select(0, 1)) *
                          ops::unsqueeze::call(sparse.values(), 1);
  const Tensor start = tenon::zeros({sparse.size(0), dense.size(1)}, dense.scalar_type());
  const Tensor rows = places.select(0, 0);
  return reduce == "sum" ? start.index_add(0, rows, products)
                         : start.index_reduce(0, rows, products, reduce, false);
}

Tensor native::_sparse_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                             const Scalar& beta, const Scalar& alpha) {
  return sparse::addmm(self, mat1, mat2, beta, alpha);
}

Tensor native::_sparse_sparse_matmul(const Tensor& self, const Tensor& other) {
  TENON_CHECK(!is_strided(self) && !is_strided(other),
              "[_sparse_sparse_matmul] expected sparse matrices, got ", self.layout(), " and ",
              other.layout());
  return sparse::mm(self, other);
}

Tensor native::smm(const Tensor& self, const Tensor& mat2) {
  return Tensor(sparse::mm(self, mat2).to_sparse());
}

Tensor native::hspmm(const Tensor& mat1, const Tensor& mat2) {
  return Tensor(sparse::mm(mat1, mat2).to_sparse(1));
}

Tensor native::mm_mat1_sparse_backward(const Tensor& grad, const Tensor& mat1, const Tensor& mat2,
                                       const Scalar& alpha) {
  const Tensor other = ops::conj::call(ops::t::call(mat2));
  const Tensor mask = mat1.layout() == kSparse ? ops::coalesce::call(mat1) : mat1;
  if (is_strided(mat1)) return ops::mm::call(grad, other) * alpha.conj();
  if (!is_strided(grad) || !is_strided(mat2) || grad.requires_grad() || mat2.requires_grad())
    return ops::sparse_mask::call(ops::mm::call(grad, other), mask) * alpha.conj();
  check_matrices("mm_mat1_sparse_backward", grad, other);
  TENON_CHECK(mat1.dim() == 2 && mat1.size(0) == grad.size(0) && mat1.size(1) == other.size(1),
              "mm_mat1_sparse_backward: a matrix of sizes ", mat1.sizes(),
              " has no gradient of sizes ", grad.sizes(), " and ", other.sizes());
  const bool coo = mask.layout() == kSparse;
  const Tensor places = sparse::indices_of(coo ? mask : sparse::coo_of_compressed(mask));
  const Tensor products = sparse::sampled_product(places, grad, other);
  return sparse::with_values(mask, ops::reshape::call(products, sparse::values_of(mask).sizes())) *
         alpha.conj();
}

Tensor native::sparse_sampled_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                                    const Scalar& beta, const Scalar& alpha) {
  TENON_CHECK(self.layout() == kSparseCsr,
              "sampled_addmm: Expected self to have sparse csr layout, but got ", self.layout());
  TENON_CHECK(is_strided(mat1), "sampled_addmm: Expected mat1 to have strided layout, but got ",
              mat1.layout());
  TENON_CHECK(is_strided(mat2), "sampled_addmm: Expected mat2 to have strided layout, but got ",
              mat2.layout());
  TENON_CHECK(mat1.dim() == 2 && mat2.dim() == 2 && self.dim() == 2,
              "sampled_addmm: expected matrices, got shapes ", self.sizes(), ", ", mat1.sizes(),
              " and ", mat2.sizes());
  check_matrices("sampled_addmm", mat1, mat2);
  TENON_CHECK(self.scalar_type() == mat1.scalar_type(),
              "sampled_addmm: Expected mat1 and self to have the same dtype, but got ",
              mat1.scalar_type(), " and ", self.scalar_type());
  TENON_CHECK(self.size(0) == mat1.size(0) && self.size(1) == mat2.size(1),
              "sampled_addmm: self.shape must be that of mat1 @ mat2, got ", self.sizes(), " for ",
              mat1.sizes(), " and ", mat2.sizes());
  const Tensor places = sparse::indices_of(sparse::coo_of_compressed(self));
  const Tensor products = sparse::sampled_product(places, mat1, mat2) * alpha;
  return sparse::with_values(self,
                             beta.equal(0) ? products : products + sparse::values_of(self) * beta);
}

}  // namespace tenon
