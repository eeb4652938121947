// Calls the operators with autograd and compares their gradients with finite differences.
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>

#include "custom/ops/cross_entropy_rows.h"
#include "custom/ops/rms_norm.h"
#include "custom/ops/rms_scale.h"
#include "custom/ops/swiglu.h"
#include "tenon/tenon.h"

namespace {

using Function = std::function<tenon::Tensor(const tenon::Tensor&, const tenon::Tensor&)>;

/// The largest difference between the gradient of sum(f(a, b) * f(a, b)) by autograd and by central
/// differences.
double gradient_error(const Function& f, tenon::Tensor a, tenon::Tensor b) {
  const auto value = [&] {
    const tenon::Tensor y = f(a, b);
    return (y * y).sum();
  };
  a.requires_grad_();
  b.requires_grad_();
  value().backward();

  constexpr double kStep = 1e-5;
  double worst = 0;
  const tenon::NoGradGuard no_grad;
  for (const tenon::Tensor& input : {a, b}) {
    double* x = input.data_ptr<double>();
    const double* grad = input.grad().data_ptr<double>();
    for (int64_t i = 0; i < input.numel(); ++i) {
      const double middle = x[i];
      x[i] = middle + kStep;
      const double above = value().item<double>();
      x[i] = middle - kStep;
      const double below = value().item<double>();
      x[i] = middle;
      worst = std::max(worst, std::abs(grad[i] - (above - below) / (2 * kStep)));
    }
  }
  return worst;
}

bool check(const char* name, const Function& f, const tenon::Tensor& a, const tenon::Tensor& b) {
  const double error = gradient_error(f, a, b);
  const bool good = error < 1e-7;
  std::printf("%s: largest gradient error %.1e  %s\n", name, error, good ? "ok" : "WRONG");
  return good;
}

}  // namespace

int main() try {
  tenon::manual_seed(0);
  const auto options = tenon::TensorOptions(tenon::kDouble);

  const bool good = check(
                        "swiglu     [3, 4] x [3, 4]",
                        [](const auto& x, const auto& g) { return custom::swiglu(x, g); },
                        tenon::randn({3, 4}, options), tenon::randn({3, 4}, options)) &
                    check(
                        "swiglu     [3, 1] x [4]   ",
                        [](const auto& x, const auto& g) { return custom::swiglu(x, g); },
                        tenon::randn({3, 1}, options), tenon::randn({4}, options)) &
                    check(
                        "rms_scale  [2, 3, 5] x [5]",
                        [](const auto& x, const auto& w) { return custom::rms_scale(x, w); },
                        tenon::randn({2, 3, 5}, options), tenon::randn({5}, options)) &
                    check(
                        "rms_norm   [2, 3, 5] x [5]",
                        [](const auto& x, const auto& w) { return custom::rms_norm(x, w); },
                        tenon::randn({2, 3, 5}, options), tenon::randn({5}, options)) &
                    check(
                        "cross_entropy_rows  [3, 4]",
                        [](const auto& x, const auto& bias) {
                          const tenon::Tensor target = tenon::arange(3) - 1;
                          return custom::cross_entropy_rows(x + bias, target, -1);
                        },
                        tenon::randn({3, 4}, options), tenon::randn({4}, options));

  tenon::Tensor x = tenon::linspace(-2, 2, 5).requires_grad_();
  const tenon::Tensor g = tenon::ones({5});
  const tenon::Tensor y = custom::swiglu(x, g);
  y.sum().backward();
  std::cout << "swiglu(x, 1) for x = -2 ... 2:\n"
            << y.detach() << "\nits gradient:\n"
            << x.grad() << '\n';
  return good ? 0 : 1;
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
