#include "autograd/tools/gradcheck.h"

#include <cmath>
#include <complex>

#include "autograd/autograd.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/generated_support/generated_support.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/empty_strided.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {
namespace {

using Tensors = std::vector<Tensor>;

/// The real numbers that a floating or complex tensor is made of, each addressed by its position in
/// row-major order, real before imaginary part.
class Reals {
 public:
  explicit Reals(const Tensor& t)
      : t_(t), parts_(t.is_complex() ? 2 : 1), size_(t.numel() * parts_) {}

  int64_t size() const { return size_; }
  double operator[](int64_t i) const {
    return TENON_DISPATCH_FLOATING_AND_REDUCED(to_real(t_.scalar_type()), "gradcheck", {
      return sign_of(i) *
             static_cast<double>(static_cast<const scalar_t*>(t_.const_data_ptr())[offset_of(i)]);
    });
  }
  void set(int64_t i, double value) const {
    TENON_DISPATCH_FLOATING_AND_REDUCED(to_real(t_.scalar_type()), "gradcheck", {
      static_cast<scalar_t*>(t_.data_ptr())[offset_of(i)] =
          static_cast<scalar_t>(sign_of(i) * value);
    });
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
  /// -1 where memory holds the negative of the number.
  double sign_of(int64_t i) const {
    const bool is_conjugated = t_.is_conj() && i % parts_ == 1;
    return is_conjugated != t_.is_neg() ? -1 : 1;
  }

  /// In numbers.
  int64_t offset_of(int64_t i) const {
    int64_t element = i / parts_;
    int64_t offset = 0;
    for (int64_t d = t_.dim(); d-- > 0;) {
      offset += element % t_.sizes()[d] * t_.strides()[d];
      element /= t_.sizes()[d];
    }
    return offset * parts_ + i % parts_;
  }

  Tensor t_;
  int64_t parts_;
  int64_t size_;
};

bool is_precise(const Tensor& t) {
  return t.scalar_type() == kDouble || t.scalar_type() == kComplexDouble;
}

/// Numbers in (-1, 1) that look random and are always the same.
Tensor arbitrary_like(const Tensor& t, uint64_t seed) {
  Tensor result(empty_strided(t.sizes(), contiguous_strides(t.sizes()), t.options()));
  const Reals reals(result);
  uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
  for (int64_t i = 0; i < reals.size(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    reals.set(i, static_cast<double>(static_cast<int64_t>(state >> 11)) / 4503599627370496.0 - 1.0);
  }
  return result;
}

/// The same numbers with a gap after each.
Tensor with_gaps(const Tensor& t) {
  DimVector strides = contiguous_strides(t.sizes());
  for (int64_t& s : strides) s *= 2;
  Tensor result(empty_strided(t.sizes(), strides, t.options()));
  const Reals from(t), to(result);
  for (int64_t i = 0; i < from.size(); ++i) to.set(i, from[i]);
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
          options.any_precision || is_precise(input), "[gradcheck] input ", i,
          " must be Double or ComplexDouble, since finite differences are too coarse in other "
          "types, got ",
          input.scalar_type());
      TENON_CHECK_VALUE(input.is_cpu(), "[gradcheck] input ", i, " must be on the CPU, got ",
                        input.device());
      for (int64_t d = 0; d < input.dim(); ++d) {
        TENON_CHECK_VALUE(input.size(d) <= 1 || input.stride(d) != 0, "[gradcheck] input ", i,
                          " must not have overlapping elements, got strides ", input.strides());
      }
      checked_.push_back(i);
    }
    TENON_CHECK_VALUE(options.check_forward_ad || options.check_backward_ad,
                      "Expected at least one of check_forward_ad or check_backward_ad to be True");
    TENON_CHECK_VALUE(!checked_.empty(),
                      "[gradcheck] at least one input must require grad, got none");
  }

  void run() {
    outputs_ = differentiable(function_(inputs_));
    if (outputs_.empty()) {
      check_constant();
      return;
    }
    find_positions();
    for (size_t o = 0; o < outputs_.size(); ++o) {
      TENON_CHECK_VALUE(options_.any_precision || is_precise(outputs_[o]), "[gradcheck] output ", o,
                        " must be Double or ComplexDouble, got ", outputs_[o].scalar_type());
      options_.fast_mode ? check_projections(o) : check_output(o);
    }
    if (options_.check_backward_ad) {
      if (options_.check_noncontiguous_grad) check_noncontiguous();
      if (options_.check_undefined_grad) check_undefined();
      if (options_.check_batched_grad) check_batched();
    }
    if (options_.check_forward_ad && options_.check_undefined_grad) check_zero_tangents();
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
    Tensors result = grad(outputs, to, grads, {.retain_graph = true, .allow_unused = true});
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
    const auto values = [&] {
      Tensors results = function_(inputs_);
      for (Tensor& t : results) {
        if (t.defined()) t = t.clone();  // it may be a view of an input
      }
      return results;
    };
    const Tensors before = values();
    for (size_t i : checked_) {
      const Reals x(inputs_[i]);
      for (int64_t k = 0; k < x.size(); ++k) {
        const double kept = x[k];
        x.set(k, kept + options_.eps);
        const Tensors after = values();
        x.set(k, kept);
        for (size_t o = 0; o < after.size(); ++o) {
          if (!is_differentiable(after[o].scalar_type())) continue;
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
  /// The function is called as ever, with gradients recorded: what it gives may depend on that.
  std::vector<std::vector<double>> numerical(size_t o, size_t input) const {
    const Reals x(inputs_[input]);
    const auto at = [&](int64_t k, double value) {
      x.set(k, value);
      return function_(inputs_);
    };
    std::vector<std::vector<double>> jacobian;
    for (int64_t k = 0; k < x.size(); ++k) {
      const double kept = x[k];
      const Tensor above = nth_output(at(k, kept + options_.eps), o).detach().clone();
      const Tensor below =
          nth_output(at(k, kept - options_.eps), o).detach().clone();  // it may be a view of x
      x.set(k, kept);
      const Reals a(above), b(below);
      std::vector<double> row(static_cast<size_t>(a.size()));
      for (int64_t j = 0; j < a.size(); ++j) row[j] = (a[j] - b[j]) / (2 * options_.eps);
      jacobian.push_back(std::move(row));
    }
    return jacobian;
  }

  /// Output o of those that are differentiable, by position among all outputs.
  Tensor nth_output(const Tensors& all, size_t o) const {
    const size_t position = positions_.at(o);
    TENON_CHECK(position < all.size(),
                "[gradcheck] the function must give as many outputs each time, got ", all.size(),
                " after at least ", position + 1);
    return all[position];
  }

  void find_positions() {
    positions_.clear();
    const Tensors all = function_(inputs_);
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined() && all[i].requires_grad()) positions_.push_back(i);
    }
  }

  /// The tangents of the outputs that require grad, for those of the checked inputs, of which
  /// undefined ones are none; zeros where there is none.
  Tensors pushed_forward(const Tensors& tangents) const {
    const forward_ad::DualLevel level;
    Tensors in = inputs_;
    for (size_t i = 0; i < checked_.size(); ++i) {
      if (tangents[i].defined())
        in[checked_[i]] = forward_ad::make_dual(inputs_[checked_[i]], tangents[i]);
    }
    const Tensors all = function_(in);
    Tensors result;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const Tensor tangent = forward_ad::tangent_of(nth_output(all, o));
      result.push_back(tangent.defined() ? tangent.detach() : zeros_like(outputs_[o].detach()));
    }
    return result;
  }
  Tensors only(size_t i, const Tensor& tangent) const {
    Tensors tangents(checked_.size());
    tangents[i] = tangent;
    return tangents;
  }

  bool is_near(double n, double a, double scale = 1) const {
    return std::abs(n - a) <= options_.atol * scale + options_.rtol * std::abs(n);
  }
  /// Compares d(real j of output o)/d(real k of checked input i).
  void expect_derivative(const char* mode, size_t o, int64_t j, size_t i, int64_t k,
                         double numerical, double analytical) const {
    if (is_near(numerical, analytical)) return;
    tenon::detail::raise<Error>(
        "[gradcheck] Jacobian ", mode, "mismatch for output ", o, " with respect to input ",
        checked_[i], ": d(", Reals(outputs_[o]).place(j), " of the output)/d(",
        Reals(inputs_[checked_[i]]).place(k), " of the input) is numerically ", numerical,
        ", analytically ", analytical);
  }
  void expect_deterministic(size_t o, const Tensors& first, const Tensors& second) const {
    for (size_t i = 0; i < checked_.size(); ++i) {
      const Reals g(first[i]), h(second[i]);
      for (int64_t k = 0; k < g.size(); ++k) {
        TENON_CHECK(
            std::abs(g[k] - h[k]) <= options_.nondet_tol || (std::isnan(g[k]) && std::isnan(h[k])),
            "[gradcheck] Backward is not reentrant: run twice, it gives ", g[k], " and ", h[k],
            " for output ", o, " with respect to ", g.place(k), " of input ", checked_[i]);
      }
    }
  }

  static constexpr const char* kForwardMode = "computed with forward mode ";

  /// All elements of the Jacobians of an output.
  void check_output(size_t o) {
    std::vector<std::vector<std::vector<double>>> expected;
    for (size_t i : checked_) expected.push_back(numerical(o, i));
    if (options_.check_backward_ad) {
      const Tensor unit = zeros_like(outputs_[o]).contiguous();
      const Reals y(unit);
      for (int64_t j = 0; j < y.size(); ++j) {
        y.set(j, 1);
        const Tensors analytical = gradients({outputs_[o]}, {unit.clone()});
        const Tensors again = gradients({outputs_[o]}, {unit.clone()});
        y.set(j, 0);
        for (size_t i = 0; i < checked_.size(); ++i) {
          const Reals g(analytical[i]);
          for (int64_t k = 0; k < g.size(); ++k)
            expect_derivative("", o, j, i, k, expected[i][k][j], g[k]);
        }
        expect_deterministic(o, analytical, again);
      }
    }
    if (!options_.check_forward_ad) return;
    for (size_t i = 0; i < checked_.size(); ++i) {
      const Tensor unit = zeros_like(inputs_[checked_[i]].detach()).contiguous();
      const Reals x(unit);
      for (int64_t k = 0; k < x.size(); ++k) {
        x.set(k, 1);
        const Tensor tangent = pushed_forward(only(i, unit.clone()))[o];
        x.set(k, 0);
        const Reals t(tangent);
        for (int64_t j = 0; j < t.size(); ++j)
          expect_derivative(kForwardMode, o, j, i, k, expected[i][k][j], t[j]);
      }
    }
  }

  static double dot(const Tensor& a, const Tensor& b) {
    const Reals x(a), y(b);
    double sum = 0;
    for (int64_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  }
  static double sum_of_magnitudes(const Tensor& t) {
    const Reals x(t);
    double sum = 0;
    for (int64_t i = 0; i < x.size(); ++i) sum += std::abs(x[i]);
    return sum;
  }

  /// v^T J u by central differences along u.
  double projection(size_t o, size_t input, const Tensor& u, const Tensor& v) const {
    const Reals x(inputs_[input]), along(u);
    std::vector<double> kept(static_cast<size_t>(x.size()));
    for (int64_t k = 0; k < x.size(); ++k) kept[static_cast<size_t>(k)] = x[k];
    const auto at = [&](double step) {
      for (int64_t k = 0; k < x.size(); ++k)
        x.set(k, kept[static_cast<size_t>(k)] + step * along[k]);
      // It may be a view of x.
      const Tensor result = nth_output(function_(inputs_), o).detach().clone();
      for (int64_t k = 0; k < x.size(); ++k) x.set(k, kept[static_cast<size_t>(k)]);
      return dot(result, v);
    };
    return (at(options_.eps) - at(-options_.eps)) / (2 * options_.eps);
  }

  /// The same as check_output() for one projection of each Jacobian.
  void check_projections(size_t o) {
    const Tensor v = arbitrary_like(outputs_[o], o + 11);
    Tensors back;
    if (options_.check_backward_ad) {
      back = gradients({outputs_[o]}, {v});
      expect_deterministic(o, back, gradients({outputs_[o]}, {v}));
    }
    for (size_t i = 0; i < checked_.size(); ++i) {
      const Tensor u = arbitrary_like(inputs_[checked_[i]], i + 51);
      const double scale = sum_of_magnitudes(u) * sum_of_magnitudes(v);
      const double expected = projection(o, checked_[i], u, v);
      const bool holds =
          (!options_.check_backward_ad || is_near(expected, dot(back[i], u), scale)) &&
          (!options_.check_forward_ad ||
           is_near(expected, dot(pushed_forward(only(i, u))[o], v), scale));
      if (holds) continue;
      check_output(o);
      tenon::detail::raise<Error>(
          "[gradcheck] Fast gradcheck failed for output ", o, " with respect to input ",
          checked_[i], ", but element-wise differences are small: without fast_mode it passes");
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

  void check_batched() const {
    std::vector<Tensors> rows;
    Tensors batches;
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const Tensors both{arbitrary_like(outputs_[o], o + 21), arbitrary_like(outputs_[o], o + 31)};
      batches.push_back(stack(both, 0));
      rows.push_back(both);
    }
    const Tensors to = wanted();
    const Tensors batched =
        grad(outputs_, to, batches,
             {.retain_graph = true, .allow_unused = true, .is_grads_batched = true});
    for (int64_t k = 0; k < 2; ++k) {
      Tensors grads, parts;
      for (const Tensors& both : rows) grads.push_back(both[static_cast<size_t>(k)]);
      for (size_t i = 0; i < to.size(); ++i)
        parts.push_back(batched[i].defined() ? batched[i].select(0, k) : zeros_like(to[i]));
      expect_same(parts, gradients(outputs_, grads), "a batch of gradients");
    }
  }

  /// Tangents that are zeros count as those that are not there.
  void check_zero_tangents() const {
    for (size_t i = 0; checked_.size() > 1 && i < checked_.size(); ++i) {
      const Tensor u = arbitrary_like(inputs_[checked_[i]], i + 71);
      Tensors tangents;
      for (size_t k : checked_) tangents.push_back(zeros_like(inputs_[k].detach()));
      tangents[i] = u;
      const Tensors with = pushed_forward(tangents), without = pushed_forward(only(i, u));
      for (size_t o = 0; o < outputs_.size(); ++o) {
        const Reals a(with[o]), b(without[o]);
        for (int64_t j = 0; j < a.size(); ++j) {
          TENON_CHECK(is_near(b[j], a[j]),
                      "[gradcheck] a tangent of zeros instead of none changes "
                      "the tangent of ",
                      a.place(j), " of output ", o, " along input ", checked_[i], " from ", b[j],
                      " to ", a[j]);
        }
      }
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
  } catch (const NotImplementedError&) {
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
