#include "aten/iterator/element_copy.h"
#include "aten/meta/structured.h"
#include "tenon/native/cross.h"
#include "tenon/native/cumprod.h"
#include "tenon/native/isin.h"
#include "tenon/native/linalg_cross.h"
#include "tenon/native/log_softmax.h"
#include "tenon/native/softmax.h"
#include "tenon/ops/cross.h"
#include "tenon/ops/cumprod.h"
#include "tenon/ops/isin.h"
#include "tenon/ops/linalg_cross.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/softmax.h"

/// Forms with `out` of compositions that PyTorch's take only in the result's dtype.
namespace tenon {
namespace {

Tensor& write_exact(const char* op, Tensor& out, const Tensor& result) {
  structured::check_out_dtype(op, out, result.scalar_type());
  structured::resize_out(op, out, result.sizes(), result.scalar_type());
  native::copy(out, result);
  out.unsafe_impl()->bump_version();
  return out;
}

}  // namespace

Tensor& native::isin_Tensor_Tensor_out(const Tensor& elements, const Tensor& test_elements,
                                       bool assume_unique, bool invert, Tensor& out) {
  return write_exact("isin", out,
                     ops::isin_Tensor_Tensor::call(elements, test_elements, assume_unique, invert));
}

Tensor& native::isin_Tensor_Scalar_out(const Tensor& elements, const Scalar& test_element,
                                       bool assume_unique, bool invert, Tensor& out) {
  return write_exact("isin", out,
                     ops::isin_Tensor_Scalar::call(elements, test_element, assume_unique, invert));
}

Tensor& native::isin_Scalar_Tensor_out(const Scalar& element, const Tensor& test_elements,
                                       bool assume_unique, bool invert, Tensor& out) {
  return write_exact("isin", out,
                     ops::isin_Scalar_Tensor::call(element, test_elements, assume_unique, invert));
}

Tensor& native::cross_out(const Tensor& self, const Tensor& other, std::optional<int64_t> dim,
                          Tensor& out) {
  return write_exact("cross", out, ops::cross::call(self, other, dim));
}

Tensor& native::linalg_cross_out(const Tensor& self, const Tensor& other, int64_t dim,
                                 Tensor& out) {
  return write_exact("linalg.cross", out, ops::linalg_cross::call(self, other, dim));
}

/// Without `dtype` the result is cast.
Tensor& native::cumprod_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype,
                            Tensor& out) {
  if (dtype) structured::check_out_dtype("cumprod", out, *dtype);
  const Tensor result = ops::cumprod::call(self, dim, dtype);
  structured::resize_out("cumprod", out, result.sizes(), result.scalar_type());
  native::copy(out, result);
  out.unsafe_impl()->bump_version();
  return out;
}

Tensor& native::softmax_int_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype,
                                Tensor& out) {
  return write_exact("softmax", out, ops::softmax_int::call(self, dim, dtype));
}

Tensor& native::log_softmax_int_out(const Tensor& self, int64_t dim,
                                    std::optional<ScalarType> dtype, Tensor& out) {
  return write_exact("log_softmax", out, ops::log_softmax_int::call(self, dim, dtype));
}

}  // namespace tenon
