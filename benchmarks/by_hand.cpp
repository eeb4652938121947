// Operators whose kernels were once written by hand and are now generated. by_hand.py compiles this
// against two build folders, of which one may be older: nothing may be used that the commit with
// the last kernels by hand lacks.
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/any.h"
#include "tenon/ops/argmax.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/norm.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/prod.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/var.h"
#include "tenon/ops/zeros.h"

using bench::keep;

namespace {

/// A tensor and the dimensions that make its rows; none: all of them.
struct Shape {
  std::string name;
  std::vector<int64_t> sizes;
  std::vector<int64_t> dims;
  t::ScalarType dtype = t::kFloat;
  double bytes() const {
    double product = dtype == t::kFloat ? 4 : 2;
    for (const int64_t size : sizes) product *= static_cast<double>(size);
    return product;
  }
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"4096x1024", {4096, 1024}, {1}},
      {"4096x1024_bfloat16", {4096, 1024}, {1}, t::kBFloat16},
      {"4096x64", {4096, 64}, {1}},
      {"65536x10", {65536, 10}, {1}},
      {"1024x1024_dim0", {1024, 1024}, {0}},
      {"64x128x56x56_dims023", {64, 128, 56, 56}, {0, 2, 3}},
      {"4x100000", {4, 100000}, {1}},
      {"all_4M", {4096, 1024}, {}},
      {"10", {10}, {0}},
  };
  return all;
}

using Function = std::function<t::Tensor(const t::Tensor&)>;

class Cases {
 public:
  Cases(bench::Runner& run, const Shape& shape) : run_(run), shape_(shape) {}

  /// `f` of a tensor of the shape, whose elements are made of uniform ones in [-1, 1).
  void forward(const std::string& op, double passes, const Function& f, double scale = 1,
               double shift = 0) {
    const std::string name = op + "/" + shape_.name;
    if (!run_.wants(name)) return;
    const t::NoGradGuard no_grad;
    const t::Tensor x = input(scale, shift);
    run_(name, {.bytes = passes * shape_.bytes()}, [&] { keep(f(x)); });
  }

  /// `f`, and the gradients of its input and of `others`.
  void backward(const std::string& op, double passes, const Function& f,
                const std::vector<t::Tensor>& others = {}, double scale = 1, double shift = 0) {
    const std::string name = op + "_backward/" + shape_.name;
    if (!run_.wants(name)) return;
    const t::Tensor x = bench::leaf(input(scale, shift));
    const t::Tensor grad = t::ones_like(f(x).detach());
    run_(name, {.bytes = passes * shape_.bytes()}, [&] {
      f(x).backward(grad);
      x.mutable_grad() = t::Tensor();
      for (const t::Tensor& other : others) other.mutable_grad() = t::Tensor();
    });
  }

 private:
  t::Tensor input(double scale, double shift) const {
    t::manual_seed(0);
    return t::rand(shape_.sizes).mul_(2 * scale).sub_(scale - shift).to(shape_.dtype);
  }

  bench::Runner& run_;
  const Shape& shape_;
};

void softmax(Cases& cases, const Shape& shape) {
  const int64_t dim = shape.dims[0];
  const auto probabilities = [=](const t::Tensor& x) { return t::softmax(x, dim); };
  const auto logarithms = [=](const t::Tensor& x) { return t::log_softmax(x, dim); };
  cases.forward("softmax", 2, probabilities);
  cases.backward("softmax", 5, probabilities);
  cases.forward("log_softmax", 2, logarithms);
  cases.backward("log_softmax", 5, logarithms);
}

void layer_norm(Cases& cases, const Shape& shape) {
  const std::vector<int64_t> row = {shape.sizes.back()};
  const t::Tensor weight = bench::leaf(t::ones(row).to(shape.dtype)),
                  bias = bench::leaf(t::zeros(row).to(shape.dtype));
  const auto norm = [=](const t::Tensor& x) { return t::layer_norm(x, row, weight, bias); };
  cases.forward("layer_norm", 2, norm);
  cases.backward("layer_norm", 5, norm, {weight, bias});
}

void cross_entropy(Cases& cases, const Shape& shape) {
  const t::Tensor target = t::randint(shape.sizes[1], {shape.sizes[0]}, t::kLong);
  const auto loss = [=](const t::Tensor& x) { return t::cross_entropy_loss(x, target); };
  cases.forward("cross_entropy", 1, loss);
  cases.backward("cross_entropy", 3, loss);
}

void mse_loss(Cases& cases, const Shape& shape) {
  const t::Tensor target = t::rand(shape.sizes).to(shape.dtype);
  const auto loss = [=](const t::Tensor& x) { return t::mse_loss(x, target); };
  cases.forward("mse_loss", 2, loss);
  cases.backward("mse_loss", 5, loss);
}

/// `over(x, dims)`, or `all(x)` where there are none.
template <class Over, class All>
void reduction(Cases& cases, const Shape& shape, const std::string& op, Over over, All all,
               bool differentiable, double scale = 1, double shift = 0) {
  Function f = all;
  if (!shape.dims.empty()) {
    f = [over, dims = shape.dims](const t::Tensor& x) { return over(x, dims); };
  }
  cases.forward(op, 1, f, scale, shift);
  if (differentiable) cases.backward(op, 3, f, {}, scale, shift);
}

void reductions(Cases& cases, const Shape& shape) {
  using Dims = std::vector<int64_t>;
  using T = t::Tensor;
  reduction(
      cases, shape, "sum", [](const T& x, const Dims& d) { return t::sum(x, d); },
      [](const T& x) { return t::sum(x); }, true);
  reduction(
      cases, shape, "mean", [](const T& x, const Dims& d) { return t::mean(x, d); },
      [](const T& x) { return t::mean(x); }, true);
  reduction(
      cases, shape, "amax", [](const T& x, const Dims& d) { return t::amax(x, d); },
      [](const T& x) { return t::amax(x); }, true);
  // Of zeros: nothing ends the search early.
  reduction(
      cases, shape, "any",
      [](const T& x, const Dims& d) { return d.size() == 1 ? t::any(x, d[0]) : t::any(x, d); },
      [](const T& x) { return t::any(x); }, false, 0);
  reduction(
      cases, shape, "var", [](const T& x, const Dims& d) { return t::var(x, d); },
      [](const T& x) { return t::var(x); }, true);
  reduction(
      cases, shape, "norm", [](const T& x, const Dims& d) { return t::norm(x, 2, d); },
      [](const T& x) { return t::norm(x); }, true);
  if (shape.dims.size() > 1) return;
  // Of numbers near 1: the product stays a normal number.
  reduction(
      cases, shape, "prod", [](const T& x, const Dims& d) { return t::prod(x, d[0]); },
      [](const T& x) { return t::prod(x); }, true, 0.001, 1);
  reduction(
      cases, shape, "argmax", [](const T& x, const Dims& d) { return t::argmax(x, d[0]); },
      [](const T& x) { return t::argmax(x); }, false);
}

/// Of integers and truth values, along rows and across them.
void positions(bench::Runner& run, t::ScalarType dtype, const std::string& type) {
  for (const int64_t dim : {1, 0}) {
    const std::string shape = "/4096x1024_" + type + (dim == 0 ? "_dim0" : "");
    if (!run.wants("argmax" + shape) && !run.wants("max_dim" + shape)) continue;
    t::manual_seed(0);
    const t::Tensor x = t::randint(dtype == t::kBool ? 2 : 100, {4096, 1024}, t::kLong).to(dtype);
    const double bytes = static_cast<double>(x.numel() * x.element_size());
    run("argmax" + shape, {.bytes = bytes}, [&] { keep(t::argmax(x, dim)); });
    run("max_dim" + shape, {.bytes = bytes}, [&] { keep(std::get<0>(t::max(x, dim))); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  t::manual_seed(0);
  for (const Shape& shape : shapes()) {
    Cases cases(run, shape);
    if (shape.dims.size() == 1) softmax(cases, shape);
    if (shape.dims.size() == 1 && shape.dims[0] + 1 == static_cast<int64_t>(shape.sizes.size()))
      layer_norm(cases, shape);
    if (shape.sizes.size() == 2 && shape.dims.size() == 1 && shape.dims[0] == 1)
      cross_entropy(cases, shape);
    if (shape.dims.size() < 2) mse_loss(cases, shape);
    reductions(cases, shape);
  }
  positions(run, t::kInt, "int32");
  positions(run, t::kByte, "uint8");
  positions(run, t::kBool, "bool");
}
