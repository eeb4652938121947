#include "autograd/gradcheck.h"

#include <cmath>
#include <complex>

#include "autograd/autograd.h"
#include "autograd/generated_support.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/empty_strided.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {
namespace {

using Tensors = std::vector<Tensor>;

/// The real numbers that a Double or ComplexDouble tensor is made of, each addressed by its
/// position in row-major order, real before imaginary part.
class Reals {
 public:
  explicit Reals(const Tensor& t)
      : t_(t), parts_(t.is_complex() ? 2 : 1), size_(t.numel() * parts_) {}

  int64_t size() const { return size_; }
  double& operator[](int64_t i) const {
    int64_t element = i / parts_;
    int64_t offset = 0;
    for (int64_t d = t_.dim(); d-- > 0;) {
      offset += element % t_.sizes()[d] * t_.strides()[d];
      element /= t_.sizes()[d];
    }
    return static_cast<double*>(t_.data_ptr())[offset * parts_ + i % parts_];
  }
  /// "element [1, 2]", with "imaginary part of" before it where that is meant.
  std::string place(int64_t i) const {
    DimVector index(t_.sizes());
    int64_t element = i / parts_;
    for (int64_t d = t_.dim(); d-- > 0;) {
      index[d] = element % t_.sizes()[d];
      element /= t_.sizes()[d];
    }
    const char* part = parts_ == 1 ? "" : i % 2 ? "the imaginary part of " : "the real part of ";
    return detail::concat(part, "element ", index);
  }

 private:
  Tensor t_;
  int64_t parts_;
  int64_t size_;
};

bool is_checked_type(const Tensor& t) {
  return t.scalar_type() == kDouble || t.scalar_type() == kComplexDouble;
}

/// Numbers in (-1, 1) that look random and are always the same.
Tensor arbitrary_like(const Tensor& t, uint64_t seed) {
  Tensor result(empty_strided(t.sizes(), contiguous_strides(t.sizes()), t.options()));
  const Reals reals(result);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (int64_t i = 0; i < reals.size(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    reals[i] = static_cast<double>(static_cast<int64_t>(state >> 11)) / 4503599627370496.0 - 1.0;
  }
  return result;
}

/// The same numbers with a gap after each.
Tensor with_gaps(const Tensor& t) {
  DimVector strides = contiguous_strides(t.sizes());
  for (int64_t& s : strides) s *= 2;
  Tensor result(empty_strided(t.sizes(), strides, t.options()));
  const Reals from(t), to(result);
  for (int64_t i = 0; i < from.size(); ++i) to[i] = from[i];
  return result;
}

/// Stops gradients: what comes out is undefined.
class UndefinedGrad final : public Node {
 public:
  std::string name() const override { return "UndefinedGrad"; }
  variable_list apply(variable_list&&) override { return variable_list(num_outputs()); }
};

Tensor without_gradient(const Tensor& t) {
  auto node = make_node<UndefinedGrad>();
  set_edges(*node, t);
  Tensor result = t.detach();
  set_history(result, std::move(node));
  return result;
}

class Check {
 public:
  Check(const CheckedFunction& function, const Tensors& inputs, const GradcheckOptions& options)
      : function_(function), inputs_(inputs), options_(options) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& input = inputs[i];
      if (!input.defined() || !input.requires_grad()) continue;
      TENON_CHECK_VALUE(
          is_checked_type(input), "[gradcheck] input ", i,
          " must be Double or ComplexDouble, since finite differences are too coarse in other "
          "types, got ",
          input.scalar_type());
      TENON_CHECK_VALUE(input.is_cpu(), "[gradcheck] input ", i, " must be on the CPU, got ",
                        input.device());
      TENON_CHECK_VALUE(input.is_leaf(), "[gradcheck] input ", i,
                        " must be a leaf, got a result of ", input.grad_fn()->name());
      for (int64_t d = 0; d < input.dim(); ++d) {
        TENON_CHECK_VALUE(input.size(d) <= 1 || input.stride(d) != 0, "[gradcheck] input ", i,
                          " must not have overlapping elements, got strides ", input.strides());
      }
      checked_.push_back(i);
    }
    TENON_CHECK_VALUE(!checked_.empty(),
                      "[gradcheck] at least one input must require grad, got none");
  }

  void run() {
    outputs_ = differentiable(function_(inputs_));
    if (outputs_.empty()) {
      check_constant();
      return;
    }
    for (size_t o = 0; o < outputs_.size(); ++o) {
      TENON_CHECK_VALUE(is_checked_type(outputs_[o]), "[gradcheck] output ", o,
                        " must be Double or ComplexDouble, got ", outputs_[o].scalar_type());
      check_output(o);
    }
    if (options_.check_noncontiguous_grad) check_noncontiguous();
    if (options_.check_undefined_grad) check_undefined();
  }

 private:
  static Tensors differentiable(const Tensors& all) {
    Tensors kept;
    for (const Tensor& t : all) {
      if (t.defined() && t.requires_grad()) kept.push_back(t);
    }
    return kept;
  }

  Tensors wanted() const {
    Tensors list;
    for (size_t i : checked_) list.push_back(inputs_[i]);
    return list;
  }

  /// Gradients of the checked inputs; zeros where none arrives.
  Tensors gradients(const Tensors& outputs, const Tensors& grads) const {
    const Tensors to = wanted();
    Tensors result = grad(outputs, to, grads, true, false, true);
    for (size_t i = 0; i < result.size(); ++i) {
      TENON_CHECK(!result[i].defined() || result[i].sizes() == to[i].sizes(),
                  "[gradcheck] the gradient of input ", checked_[i], " must have its sizes ",
                  to[i].sizes(), ", got ", result[i].sizes());
      if (!result[i].defined()) result[i] = zeros_like(to[i]);
    }
    return result;
  }

  /// Outputs that are constant may not change when inputs do.
  void check_constant() {
    const NoGradGuard no_grad;
    const Tensors before = function_(inputs_);
    for (size_t i : checked_) {
      const Reals x(inputs_[i]);
      for (int64_t k = 0; k < x.size(); ++k) {
        const double kept = std::exchange(x[k], x[k] + options_.eps);
        const Tensors after = function_(inputs_);
        x[k] = kept;
        for (size_t o = 0; o < after.size(); ++o) {
          if (!is_checked_type(after[o])) continue;
          const Reals a(after[o]), b(before[o]);
          for (int64_t j = 0; j < a.size(); ++j) {
            TENON_CHECK(std::abs(a[j] - b[j]) <= options_.atol * options_.eps,
                        "[gradcheck] output ", o, " does not require grad, but ", a.place(j),
                        " of it depends on ", x.place(k), " of input ", i);
          }
        }
      }
    }
  }

  /// d(output o)/d(input): [reals of the input][reals of the output].
  std::vector<std::vector<double>> numerical(size_t o, size_t input) const {
    const NoGradGuard no_grad;
    const Reals x(inputs_[input]);
    const auto at = [&](int64_t k, double value) {
      x[k] = value;
      return function_(inputs_);
    };
    std::vector<std::vector<double>> jacobian;
    for (int64_t k = 0; k < x.size(); ++k) {
      const double kept = x[k];
      const Tensor above = nth_output(at(k, kept + options_.eps), o).clone();
      const Tensor below =
          nth_output(at(k, kept - options_.eps), o).clone();  // it may be a view of x
      x[k] = kept;
      const Reals a(above), b(below);
      std::vector<double> row(static_cast<size_t>(a.size()));
      for (int64_t j = 0; j < a.size(); ++j) row[j] = (a[j] - b[j]) / (2 * options_.eps);
      jacobian.push_back(std::move(row));
    }
    return jacobian;
  }

  /// Output o of those that are differentiable, by position among all outputs.
  Tensor nth_output(const Tensors& all, size_t o) const { return all.at(positions_.at(o)); }

  void find_positions() {
    positions_.clear();
    const Tensors all = function_(inputs_);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined() && all[i].requires_grad()) positions_.push_back(i);
    }
  }

  void check_output(size_t o) {
    if (positions_.empty()) find_positions();
    std::vector<std::vector<std::vector<double>>> expected;
    for (size_t i : checked_) expected.push_back(numerical(o, i));
    const Tensor unit = zeros_like(outputs_[o]).contiguous();
    const Reals y(unit);
    for (int64_t j = 0; j < y.size(); ++j) {
      y[j] = 1;
      const Tensors analytical = gradients({outputs_[o]}, {unit.clone()});
      const Tensors again = gradients({outputs_[o]}, {unit.clone()});
      y[j] = 0;
      for (size_t i = 0; i < checked_.size(); ++i) {
        const Reals g(analytical[i]), h(again[i]), x(inputs_[checked_[i]]);
        for (int64_t k = 0; k < g.size(); ++k) {
          const double n = expected[i][k][j];
          TENON_CHECK(std::abs(n - g[k]) <= options_.atol + options_.rtol * std::abs(n),
                      "[gradcheck] Jacobian mismatch for output ", o, " with respect to input ",
                      checked_[i], ": d(", y.place(j), " of the output)/d(", x.place(k),
                      " of the input) is numerically ", n, ", analytically ", g[k]);
          TENON_CHECK(std::abs(g[k] - h[k]) <= options_.nondet_tol ||
                          (std::isnan(g[k]) && std::isnan(h[k])),
                      "[gradcheck] Backward is not reentrant: run twice, it gives ", g[k], " and ",
                      h[k], " for output ", o, " with respect to ", x.place(k), " of input ",
                      checked_[i]);
        }
      }
    }
  }

  void expect_same(const Tensors& a, const Tensors& b, const std::string& what) const {
    for (size_t i = 0; i < a.size(); ++i) {
      const Reals left(a[i]), right(b[i]);
      for (int64_t k = 0; k < left.size(); ++k) {
        TENON_CHECK(std::abs(left[k] - right[k]) <=
                        options_.atol + options_.rtol * std::abs(right[k]),
                    "[gradcheck] ", what, " changes the gradient of ", left.place(k), " of input ",
                    checked_[i], " from ", right[k], " to ", left[k]);
      }
    }
  }

  Tensors arbitrary_grads() const {
    Tensors grads;
    for (size_t o = 0; o < outputs_.size(); ++o)
      grads.push_back(arbitrary_like(outputs_[o], o + 1));
    return grads;
  }

  void check_noncontiguous() const {
    const Tensors grads = arbitrary_grads();
    Tensors gaps;
    for (const Tensor& g : grads) gaps.push_back(with_gaps(g));
    expect_same(gradients(outputs_, gaps), gradients(outputs_, grads),
                "a gradient that is not contiguous");
  }

  void check_undefined() const {
    const Tensors grads = arbitrary_grads();
    for (size_t missing = 0; missing < outputs_.size(); ++missing) {
      Tensors outputs = outputs_;
      Tensors zero = grads;
      outputs[missing] = without_gradient(outputs[missing]);
      zero[missing] = zeros_like(zero[missing]);
      expect_same(gradients(outputs, grads), gradients(outputs_, zero),
                  detail::concat("an undefined gradient of output ", missing, " instead of zeros"));
    }
  }

  const CheckedFunction& function_;
  const Tensors& inputs_;
  const GradcheckOptions& options_;
  std::vector<size_t> checked_;    // inputs that require grad
  Tensors outputs_;                // that require grad
  std::vector<size_t> positions_;  // of outputs_ among all outputs
};

}  // namespace

bool gradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options) {
  const AutoGradMode recording(true);
  try {
    Check(function, inputs, options).run();
  } catch (const ValueError&) {
    throw;
  } catch (const Error&) {
    if (options.raise_exception) throw;
    return false;
  }
  return true;
}

bool gradgradcheck(const CheckedFunction& function, const std::vector<Tensor>& inputs,
                   const std::vector<Tensor>& grad_outputs, const GradcheckOptions& options) {
  const AutoGradMode recording(true);
  const auto outputs_of = [&function](const Tensors& in) {
    Tensors kept;
    for (const Tensor& t : function(in)) {
      if (t.defined() && t.requires_grad()) kept.push_back(t);
    }
    return kept;
  };
  Tensors all = inputs;
  const Tensors outputs = outputs_of(inputs);
  TENON_CHECK_VALUE(!outputs.empty(),
                    "[gradgradcheck] at least one output must require grad, got none");
  TENON_CHECK_VALUE(grad_outputs.empty() || grad_outputs.size() == outputs.size(),
                    "[gradgradcheck] got ", outputs.size(), " differentiable outputs and ",
                    grad_outputs.size(), " gradients");
  for (size_t o = 0; o < outputs.size(); ++o) {
    Tensor seed = grad_outputs.empty() ? arbitrary_like(outputs[o], o + 101) : grad_outputs[o];
    if (grad_outputs.empty()) seed.set_requires_grad(true);
    all.push_back(std::move(seed));
  }
  const size_t count = inputs.size();
  const CheckedFunction gradients = [&](const Tensors& in) {
    // Differences are taken without recording; the gradient itself needs it.
    const bool create_graph = GradMode::is_enabled();
    const AutoGradMode inner(true);
    const Tensors leaves(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(count));
    const Tensors seeds(in.begin() + static_cast<std::ptrdiff_t>(count), in.end());
    Tensors to;
    for (const Tensor& t : leaves) {
      if (t.defined() && t.requires_grad()) to.push_back(t);
    }
    Tensors result = grad(outputs_of(leaves), to, seeds, true, create_graph, true);
    for (size_t i = 0; i < result.size(); ++i) {
      if (!result[i].defined()) result[i] = zeros_like(to[i]);
    }
    return result;
  };
  return gradcheck(gradients, all, options);
}

}  // namespace tenon::autograd
