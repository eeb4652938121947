#include "tests/aten/cuda/support.h"
#include "aten/core/generator.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"

#include <cmath>
#include <complex>
#include <sstream>

namespace tenon::test {

Tensor sample(IntArrayRef sizes, ScalarType dtype, uint64_t seed) {
  const Generator generator = make_generator(kCPU, seed);
  Tensor t = tenon::empty(sizes, TensorOptions(kDouble));
  t.normal_(0, 1, generator);
  if (is_integral(dtype, true)) t = t.abs().mul(1.7).floor().clamp(0, 4).add(1);
  if (dtype == kBool) t = t.gt(1);
  if (!is_complex(dtype)) return t.to(dtype);
  Tensor other = tenon::empty(sizes, TensorOptions(kDouble));
  other.normal_(0, 1, generator);
  return t.to(dtype).add(other.to(dtype).mul(Scalar(std::complex<double>(0, 1))));
}

double tolerance(ScalarType dtype) {
  switch (dtype) {
  case kBFloat16: return 2e-2;
  case kHalf: return 2e-3;
  case kDouble:
  case kComplexDouble: return 1e-10;
  default: return 2e-5;
  }
}

std::string difference(const Tensor& expected, const Tensor& actual, double limit) {
  std::ostringstream text;
  if (expected.scalar_type() != actual.scalar_type()) {
    text << "dtype " << actual.scalar_type() << ", expected " << expected.scalar_type();
    return text.str();
  }
  if (!(expected.sizes() == actual.sizes())) {
    text << "sizes " << actual.sizes() << ", expected " << expected.sizes();
    return text.str();
  }
  const Tensor a = expected.detach().to(kComplexDouble).contiguous();
  const Tensor b = actual.detach().cpu().to(kComplexDouble).contiguous();
  const auto* x = a.const_data_ptr<std::complex<double>>();
  const auto* y = b.const_data_ptr<std::complex<double>>();
  const auto same = [&](double p, double q, double scale) {
    if (std::isnan(p) || std::isnan(q)) return std::isnan(p) && std::isnan(q);
    return p == q || std::fabs(p - q) <= limit * (1 + scale);
  };
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double scale = std::abs(x[i]);
    if (same(x[i].real(), y[i].real(), scale) && same(x[i].imag(), y[i].imag(), scale)) continue;
    text << "element " << i << " is " << y[i] << ", expected " << x[i];
    return text.str();
  }
  return "";
}

namespace {

std::vector<Tensor> on_gpu(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> moved;
  for (const Tensor& t : tensors) moved.push_back(t.defined() ? t.cuda() : t);
  return moved;
}

void compare(const std::vector<Tensor>& expected, const std::vector<Tensor>& actual, double limit) {
  REQUIRE(expected.size() == actual.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i);
    REQUIRE(expected[i].defined() == actual[i].defined());
    if (!expected[i].defined()) continue;
    CHECK(actual[i].is_cuda());
    CHECK(difference(expected[i], actual[i],
                     limit < 0 ? tolerance(expected[i].scalar_type()) : limit) == "");
  }
}

std::vector<Tensor> gradients(const Function& f, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : inputs) {
    leaves.push_back(t.detach());
    if (is_differentiable(t.scalar_type())) leaves.back().requires_grad_();
  }
  Tensor total;
  for (const Tensor& result : f(leaves)) {
    if (!is_differentiable(result.scalar_type())) continue;
    Tensor weights = tenon::arange(result.numel(), TensorOptions(result.scalar_type()));
    weights = weights.div(static_cast<double>(result.numel())).add(0.5).view(result.sizes());
    const Tensor part = result.mul(weights.to(result.options())).sum();
    total = total.defined() ? total.add(part) : part;
  }
  total.backward();
  std::vector<Tensor> grads;
  for (const Tensor& leaf : leaves) grads.push_back(leaf.requires_grad() ? leaf.grad() : Tensor());
  return grads;
}

}  // namespace

void same_on_both(const Function& f, const std::vector<Tensor>& inputs, double limit) {
  compare(f(inputs), f(on_gpu(inputs)), limit);
}

void same_gradients(const Function& f, const std::vector<Tensor>& inputs, double limit) {
  compare(gradients(f, inputs), gradients(f, on_gpu(inputs)), limit);
}

}  // namespace tenon::test
