#include "tenon/native/linalg_norm.h"

#include <cmath>

#include "tenon/native/linalg_matrix_norm.h"
#include "tenon/ops/linalg_matrix_norm.h"
#include "tenon/ops/linalg_vector_norm.h"

namespace tenon {
namespace {

/// The two dimensions of the matrices, both counted from the front.
DimVector matrix_dims(const char* op, const Tensor& self, IntArrayRef dim) {
  TENON_CHECK(self.dim() >= 2, "[", op,
              "] The input tensor A must have at least 2 dimensions, got ", self.dim());
  TENON_CHECK(dim.size() == 2, "[", op, "] dim must be a 2-tuple. Got ", dim);
  const DimVector dims{wrap_dim(dim[0], self.dim()), wrap_dim(dim[1], self.dim())};
  TENON_CHECK(dims[0] != dims[1], "[", op, "] dims must be different. Got ", dim);
  return dims;
}

}  // namespace

/// ord 1 and -1: the largest and the smallest sum of |A| over a column; inf and -inf: over a row.
/// The norms by singular values (2, -2) are not implemented.
Tensor native::linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim,
                                  bool keepdim, std::optional<ScalarType> dtype) {
  const DimVector dims = matrix_dims("linalg.matrix_norm", self, dim);
  const double order = ord.toDouble(), size = std::abs(order);
  TENON_CHECK_NOT_IMPLEMENTED(size != 2, "[linalg.matrix_norm] order ", ord,
                              " is not implemented for want of singular values");
  TENON_CHECK(size == 1 || std::isinf(size), "[linalg.matrix_norm] Order ", ord, " not supported.");
  const int64_t inner = size == 1 ? dims[0] : dims[1];
  int64_t outer = size == 1 ? dims[1] : dims[0];
  const Tensor sums = linalg_vector_norm(self, 1, inner, keepdim, dtype);
  if (!keepdim && outer > inner) --outer;
  return order > 0 ? sums.amax(outer, keepdim) : sums.amin(outer, keepdim);
}

/// 'fro': the root of the sum of |A|^2. The nuclear norm is not implemented.
Tensor native::linalg_matrix_norm_str_ord(const Tensor& self, std::string_view ord, IntArrayRef dim,
                                          bool keepdim, std::optional<ScalarType> dtype) {
  const DimVector dims = matrix_dims("linalg.matrix_norm", self, dim);
  TENON_CHECK_NOT_IMPLEMENTED(
      ord != "nuc",
      "[linalg.matrix_norm] order nuc is not implemented for want of singular values");
  TENON_CHECK(ord == "fro", "[linalg.matrix_norm] Order ", ord, " not supported.");
  return linalg_vector_norm(self, 2, IntArrayRef(dims), keepdim, dtype);
}

/// Of one dimension a vector's norm, of two a matrix'; without ord the 2-norm over `dim`, or over
/// all elements.
Tensor native::linalg_norm(const Tensor& self, const std::optional<Scalar>& ord,
                           OptionalIntArrayRef dim, bool keepdim, std::optional<ScalarType> dtype) {
  TENON_CHECK(!dim || dim->size() == 1 || dim->size() == 2,
              "[linalg.norm] If dim is specified, it must be of length 1 or 2. Got ", *dim);
  TENON_CHECK(!ord || dim || self.dim() == 1 || self.dim() == 2,
              "[linalg.norm] If dim is not specified but ord is, the input must be 1D or 2D. Got ",
              self.dim(), "D.");
  if (ord && (dim ? dim->size() == 2 : self.dim() == 2)) {
    const DimVector dims = dim ? DimVector(*dim) : DimVector{0, 1};
    return ops::linalg_matrix_norm::call(self, *ord, dims, keepdim, dtype);
  }
  return linalg_vector_norm(self, ord.value_or(2), dim, keepdim, dtype);
}

Tensor native::linalg_norm_ord_str(const Tensor& self, std::string_view ord,
                                   OptionalIntArrayRef dim, bool keepdim,
                                   std::optional<ScalarType> dtype) {
  TENON_CHECK(!dim || dim->size() == 1 || dim->size() == 2,
              "[linalg.norm] If dim is specified, it must be of length 1 or 2. Got ", *dim);
  TENON_CHECK(dim || self.dim() == 1 || self.dim() == 2,
              "[linalg.norm] If dim is not specified but ord is, the input must be 1D or 2D. Got ",
              self.dim(), "D.");
  const DimVector dims = dim ? DimVector(*dim) : DimVector{0, 1};
  return ops::linalg_matrix_norm_str_ord::call(self, ord, dims, keepdim, dtype);
}

}  // namespace tenon
