#include "tenon/native/gelu.h"
#include "tenon/ops/_gelu_erf.h"
#include "tenon/ops/_gelu_tanh.h"

namespace tenon {

/// x * Phi(x), Phi the normal distribution function, or its approximation by tanh
/// (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016).
Tensor native::gelu(const Tensor& self, std::string_view approximate) {
  if (approximate == "none") return _gelu_erf(self);
  TENON_CHECK(approximate == "tanh",
              "[gelu] approximate argument must be either none or tanh, got '", approximate, "'");
  return _gelu_tanh(self);
}

}  // namespace tenon
