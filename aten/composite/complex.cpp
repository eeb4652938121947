#include "tenon/native/complex.h"
#include "aten/meta/structured.h"
#include "tenon/native/polar.h"
#include "tenon/ops/broadcast_tensors.h"
#include "tenon/ops/complex.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/cos.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/polar.h"
#include "tenon/ops/sin.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/view_as_complex.h"

namespace tenon {
namespace {

void check_parts(const char* op, const Tensor& a, const Tensor& b) {
  const auto serves = [](const Tensor& t) {
    return t.scalar_type() == kFloat || t.scalar_type() == kDouble || t.scalar_type() == kHalf;
  };
  TENON_CHECK_NOT_IMPLEMENTED(serves(a) && serves(b), "[", op,
                              "] Expected both inputs to be Half, Float or Double tensors but got ",
                              a.scalar_type(), " and ", b.scalar_type());
  TENON_CHECK(a.scalar_type() == b.scalar_type(), "[", op, "] Expected object of scalar type ",
              a.scalar_type(), " but got scalar type ", b.scalar_type(), " for second argument");
}

Tensor& write(const char* op, Tensor& out, const Tensor& result) {
  TENON_CHECK(out.scalar_type() == result.scalar_type(), "[", op,
              "] Expected object of scalar type ", result.scalar_type(), " but got scalar type ",
              out.scalar_type(), " for argument 'out'");
  structured::resize_out(op, out, result.sizes(), result.scalar_type());
  return out.copy_(result);
}

Tensor of_parts(const Tensor& real, const Tensor& imag) {
  return view_as_complex(stack(broadcast_tensors({real, imag}), -1));
}

}  // namespace

/// real + i imag of real tensors of one dtype, float or double, which are broadcast.
Tensor native::complex(const Tensor& real, const Tensor& imag) {
  check_parts("complex", real, imag);
  return of_parts(real, imag);
}

Tensor& native::complex_out(const Tensor& real, const Tensor& imag, Tensor& out) {
  return write("complex", out, ops::complex::call(real, imag));
}

/// abs (cos(angle) + i sin(angle)) of real tensors of one dtype, float or double.
Tensor native::polar(const Tensor& abs, const Tensor& angle) {
  check_parts("polar", abs, angle);
  return of_parts(abs * cos(angle), abs * sin(angle));
}

Tensor& native::polar_out(const Tensor& abs, const Tensor& angle, Tensor& out) {
  return write("polar", out, ops::polar::call(abs, angle));
}

}  // namespace tenon
