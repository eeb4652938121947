#include "tenon/native/var.h"

#include "tenon/native/std.h"
#include "tenon/native/std_mean.h"
#include "tenon/native/var_mean.h"
#include "tenon/ops/std.h"
#include "tenon/ops/std_mean.h"
#include "tenon/ops/var.h"
#include "tenon/ops/var_mean.h"

namespace tenon {
namespace {

Scalar freedom_taken(bool unbiased) { return Scalar(unbiased ? 1 : 0); }

}  // namespace

Tensor native::std(const Tensor& self, bool unbiased) {
  return ops::std_correction::call(self, std::nullopt, freedom_taken(unbiased), false);
}

Tensor native::std_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return ops::std_correction::call(self, dim, freedom_taken(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> native::std_mean(const Tensor& self, bool unbiased) {
  return ops::std_mean_correction::call(self, std::nullopt, freedom_taken(unbiased), false);
}

std::tuple<Tensor, Tensor> native::std_mean_dim(const Tensor& self, OptionalIntArrayRef dim,
                                                bool unbiased, bool keepdim) {
  return ops::std_mean_correction::call(self, dim, freedom_taken(unbiased), keepdim);
}

Tensor native::var(const Tensor& self, bool unbiased) {
  return ops::var_correction::call(self, std::nullopt, freedom_taken(unbiased), false);
}

Tensor native::var_dim(const Tensor& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return ops::var_correction::call(self, dim, freedom_taken(unbiased), keepdim);
}

std::tuple<Tensor, Tensor> native::var_mean(const Tensor& self, bool unbiased) {
  return ops::var_mean_correction::call(self, std::nullopt, freedom_taken(unbiased), false);
}

std::tuple<Tensor, Tensor> native::var_mean_dim(const Tensor& self, OptionalIntArrayRef dim,
                                                bool unbiased, bool keepdim) {
  return ops::var_mean_correction::call(self, dim, freedom_taken(unbiased), keepdim);
}

}  // namespace tenon
