#include "tenon/native/linalg_matrix_norm.h"

#include <cmath>

#include "aten/meta/norm_dtype.h"
#include "tenon/native/nuclear_norm.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/amin.h"
#include "tenon/ops/linalg_matrix_norm.h"
#include "tenon/ops/linalg_svdvals.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/movedim.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// The two dimensions of the matrices, both counted from the front. `dtype` is what is computed in.
/// Singular values are none of half types.
DimVector matrix_dims(const char* op, const Tensor& self, IntArrayRef dim,
                      std::optional<ScalarType> dtype, bool of_singular_values) {
  TENON_CHECK(self.dim() >= 2, "[", op,
              "] The input tensor A must have at least 2 dimensions, got ", self.dim());
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(self.scalar_type()), "[", op,
                              "] Expected a floating point or complex tensor as input. Got ",
                              self.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(!of_singular_values || !is_reduced_floating_point(self.scalar_type()),
                              "[", op, "] Low precision dtypes not supported. Got ",
                              self.scalar_type());
  TENON_CHECK(dim.size() == 2, "[", op, "] dim must be a 2-tuple. Got ", dim);
  const DimVector dims{wrap_dim(dim[0], self.dim()), wrap_dim(dim[1], self.dim())};
  TENON_CHECK(dims[0] != dims[1], "[", op, "] dims must be different. Got ", dim);
  if (dtype) native::check_norm_dtype(op, self.scalar_type(), *dtype);
  return dims;
}

/// Of the matrices in `dims`, [..., k].
Tensor singular_values(const Tensor& self, const DimVector& dims, std::optional<ScalarType> dtype) {
  const Tensor x = dtype ? self.to(*dtype) : self;
  return linalg_svdvals(movedim(x, dims, {-2, -1}), std::nullopt);
}

/// One value per matrix, with dimensions of size 1 where the matrices were if they are kept.
Tensor in_place_of(const Tensor& self, const DimVector& dims, bool keepdim, const Tensor& values) {
  if (!keepdim) return values;
  DimVector sizes(self.sizes());
  for (const int64_t d : dims) sizes[static_cast<size_t>(d)] = 1;
  return values.reshape(sizes);
}

}  // namespace

/// ord 1 and -1: the largest and the smallest sum of |A| over a column; inf and -inf: over a row; 2
/// and -2: the largest and the smallest singular value. The largest of none is 0.
Tensor native::linalg_matrix_norm(const Tensor& self, const Scalar& ord, IntArrayRef dim,
                                  bool keepdim, std::optional<ScalarType> dtype) {
  TENON_CHECK(!ord.is_complex(),
              "[linalg.matrix_norm] Expected a non-complex scalar as the order of norm, got ", ord);
  const double order = ord.toDouble(), size = std::abs(order);
  TENON_CHECK(size == 1 || size == 2 || std::isinf(size), "[linalg.matrix_norm] Order ", ord,
              " not supported.");
  const DimVector dims = matrix_dims("linalg.matrix_norm", self, dim, dtype, size == 2);
  const auto extreme = [&](const Tensor& values, int64_t d, bool keep) {
    if (order < 0) return values.amin(d, keep);
    return values.size(d) == 0 ? values.sum(IntArrayRef(d), keep) : values.amax(d, keep);
  };
  if (size == 2) {
    return in_place_of(self, dims, keepdim, extreme(singular_values(self, dims, dtype), -1, false));
  }
  const int64_t inner = size == 1 ? dims[0] : dims[1];
  int64_t outer = size == 1 ? dims[1] : dims[0];
  const Tensor sums = linalg_vector_norm(self, 1, inner, keepdim, dtype);
  if (!keepdim && outer > inner) --outer;
  return extreme(sums, outer, keepdim);
}

/// 'fro': the root of the sum of |A|^2; 'nuc': the sum of the singular values.
Tensor native::linalg_matrix_norm_str_ord(const Tensor& self, std::string_view ord, IntArrayRef dim,
                                          bool keepdim, std::optional<ScalarType> dtype) {
  TENON_CHECK(ord == "nuc" || ord == "fro", "[linalg.matrix_norm] Order ", ord, " not supported.");
  const DimVector dims = matrix_dims("linalg.matrix_norm", self, dim, dtype, ord == "nuc");
  if (ord == "nuc") {
    return in_place_of(self, dims, keepdim,
                       singular_values(self, dims, dtype).sum(IntArrayRef(-1), false));
  }
  return linalg_vector_norm(self, 2, IntArrayRef(dims), keepdim, dtype);
}

Tensor native::nuclear_norm(const Tensor& self, bool keepdim) {
  return native::linalg_matrix_norm_str_ord(self, "nuc", {-2, -1}, keepdim, std::nullopt);
}

Tensor native::nuclear_norm_dim(const Tensor& self, IntArrayRef dim, bool keepdim) {
  return native::linalg_matrix_norm_str_ord(self, "nuc", dim, keepdim, std::nullopt);
}

}  // namespace tenon
