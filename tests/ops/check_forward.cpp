#include <algorithm>
#include <cmath>

#include "autograd/autograd.h"
#include "autograd/forward/forward_ad.h"
#include "tenon/tensor.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace tenon::ops_test {
namespace {

namespace fwd = autograd::forward_ad;

constexpr int64_t kTangentStream = 3000;  // of the tangent of tensor argument i
constexpr int64_t kWeightStream = 4000;   // of the weight of result k

using Tensors = std::vector<Tensor>;

Tensor numbers_like(const TensorBase& like, int64_t stream) {
  Recipe recipe;
  recipe.dtype = like.scalar_type();
  recipe.sizes = like.sizes().vec();
  recipe.range = std::pair(-1.0, 1.0);
  return make_tensor(recipe, stream);
}

/// Sum of Re(conj(a) b), and of what its terms amount to.
struct Inner {
  double value = 0, size = 0;

  void add(const TensorBase& a, const TensorBase& b) {
    if (!a.defined() || !b.defined()) return;
    const Cells left = read_cells(a), right = read_cells(b);
    for (size_t i = 0; i < left.size(); ++i) {
      value += (std::conj(left.numbers[i]) * right.numbers[i]).real();
      size += std::abs(left.numbers[i]) * std::abs(right.numbers[i]);
    }
  }
};

struct Product {
  Tensors tangents;  // of the roots
  Inner with_weights;
  Tensors of_directions;  // gradients of <w, J v> with respect to the directions
};

class Forward {
 public:
  Forward(const Case& c, const OperatorEntry& form, bool writes_self)
      : c_(c), form_(form), writes_self_(writes_self), call_(c.call()) {
    for (size_t i = 0; i < call_.num_tensors(); ++i) {
      if (!call_.recipe(i).wants_grad()) continue;
      inputs_.push_back(i);
      has_precision_of(call_.recipe(i).dtype);
    }
  }

  void run() {
    for (const size_t i : inputs_) {
      const int64_t stream = kTangentStream + static_cast<int64_t>(i);
      directions_.push_back(numbers_like(call_.tensor(i), stream));
    }
    if (!reverse()) return;
    std::vector<bool> all(inputs_.size(), true);
    compare(all);
    if (c_.wants("fd") && c_.wants("gg") && tolerance_ < 1e-6) compare_seconds();
    if (inputs_.size() == 1) return;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<bool> one(inputs_.size());
      one[i] = true;
      compare(one);
    }
  }

 private:
  void has_precision_of(ScalarType dtype) {
    const size_t bytes = element_size(to_real(dtype));
    tolerance_ = std::max(tolerance_, bytes == 8 ? 1e-9 : bytes == 4 ? 1e-4 : 3e-2);
  }

  void fail(const std::string& text) const { c_.fail("forward", text); }

  Tensors roots_of(const Stack& results) const {
    const auto all = tensors_of(results);
    Tensors roots;
    for (const size_t k : c_.expected.roots) roots.emplace_back(all.at(k));
    return roots;
  }

  /// J' w
  bool reverse() {
    Call call = c_.call();
    Tensors leaves;
    for (const size_t i : inputs_) {
      leaves.push_back(Tensor(call.tensor(i)).requires_grad_());
      call.set_tensor(i, writes_self_ && i == 0 ? leaves.back().clone() : leaves.back());
    }
    const Tensors roots = roots_of(call.run(form_));
    for (const Tensor& root : roots) {
      if (!root.requires_grad()) return false;  // the check "gradient" says so
      const int64_t stream = kWeightStream + static_cast<int64_t>(weights_.size());
      weights_.push_back(numbers_like(root, stream));
      has_precision_of(root.scalar_type());
    }
    gradients_ = autograd::grad(roots, leaves, weights_, std::nullopt, false, true);
    return true;
  }

  /// J v for the directions that are chosen; `differentiable`: as a function of v.
  Product push(const std::vector<bool>& chosen, bool differentiable) const {
    Product product;
    Tensors leaves;
    {
      const fwd::DualLevel level;
      Call call = c_.call();
      for (size_t k = 0; k < inputs_.size(); ++k) {
        if (!chosen[k]) continue;
        Tensor v = directions_[k].clone();
        v.set_requires_grad(differentiable);
        leaves.push_back(v);
        const Tensor dual = fwd::make_dual(Tensor(call.tensor(inputs_[k])), v);
        call.set_tensor(inputs_[k], writes_self_ && inputs_[k] == 0 ? dual.clone() : dual);
      }
      const Tensors roots = roots_of(call.run(form_));
      Tensors recorded, weights;
      for (size_t i = 0; i < roots.size(); ++i) {
        const Tensor tangent = fwd::tangent_of(roots[i]);
        product.tangents.push_back(tangent);
        product.with_weights.add(weights_[i], tangent);
        if (tangent.defined() && tangent.requires_grad()) {
          recorded.push_back(tangent);
          weights.push_back(weights_[i]);
        }
      }
      product.of_directions.resize(leaves.size());
      if (!recorded.empty()) {
        product.of_directions =
            autograd::grad(recorded, leaves, weights, std::nullopt, false, true);
      }
    }
    return product;
  }

  /// Second derivatives in both orders: the tangents of J' w, and the gradients of <w, J v>.
  void compare_seconds() const {
    Tensors seconds[2];
    for (const bool forward_last : {true, false}) {
      const fwd::DualLevel level;
      Call call = c_.call();
      Tensors leaves;
      for (size_t k = 0; k < inputs_.size(); ++k) {
        leaves.push_back(Tensor(call.tensor(inputs_[k])).requires_grad_());
        const Tensor dual = fwd::make_dual(leaves.back(), directions_[k]);
        call.set_tensor(inputs_[k], writes_self_ && inputs_[k] == 0 ? dual.clone() : dual);
      }
      const Tensors results = roots_of(call.run(form_));
      Tensors roots, weights;
      for (size_t i = 0; i < results.size(); ++i) {
        const Tensor root = forward_last ? results[i] : fwd::tangent_of(results[i]);
        if (!root.defined() || !root.requires_grad()) continue;
        roots.push_back(root);
        weights.push_back(weights_[i]);
      }
      Tensors& found = seconds[forward_last];
      found.resize(leaves.size());
      if (!roots.empty()) found = autograd::grad(roots, leaves, weights, std::nullopt, false, true);
      if (!forward_last) continue;
      for (Tensor& t : found) t = t.defined() ? fwd::tangent_of(t) : Tensor();
    }
    for (size_t k = 0; k < inputs_.size(); ++k)
      compare_tensors("the second derivative by forward over reverse and by reverse over forward",
                      k, seconds[1][k], seconds[0][k]);
  }

  void compare_tensors(const char* what, size_t k, const Tensor& expected,
                       const Tensor& found) const {
    Inner difference, size;
    const Tensor zero = directions_[k] * 0;
    const Tensor a = expected.defined() ? expected : zero;
    const Tensor b = found.defined() ? found : zero;
    size.add(a, a);
    const Tensor d = a - b;
    difference.add(d, d);
    if (!std::isfinite(size.value)) return;
    if (!(std::sqrt(difference.value) <= tolerance_ * (1 + std::sqrt(size.value)))) {
      c_.fail("forward",
              detail::concat(what, ", tensor argument ", inputs_[k], ": off by ",
                             std::sqrt(difference.value), " of ", std::sqrt(size.value)));
    }
  }

  void compare(const std::vector<bool>& chosen) {
    Inner expected;
    std::string which;
    int64_t numel = 0;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!chosen[k]) continue;
      expected.add(gradients_[k], directions_[k]);
      numel += directions_[k].numel();
      which += detail::concat(which.empty() ? "" : ", ", inputs_[k]);
    }
    for (const bool differentiable : {false, true}) {
      const Product product = push(chosen, differentiable);
      const double size = expected.size + product.with_weights.size;
      const double difference = std::abs(expected.value - product.with_weights.value);
      // Infinite gradients may be subtracted; the mean of nothing has a tangent, NaN as it is.
      if (!std::isfinite(expected.value) || numel == 0) return;
      if (!(difference <= tolerance_ * size)) {
        return fail(detail::concat("along tensor arguments ", which, ": expected ", expected.value,
                                   " for the weighted sum of tangents, found ",
                                   product.with_weights.value));
      }
      if (differentiable) compare_gradients(chosen, product);
    }
  }

  void compare_gradients(const std::vector<bool>& chosen, const Product& product) const {
    size_t at = 0;
    for (size_t k = 0; k < inputs_.size(); ++k) {
      if (!chosen[k]) continue;
      compare_tensors("the gradient of the result and that of its tangent in the direction", k,
                      gradients_[k], product.of_directions[at++]);
    }
  }

  const Case& c_;
  const OperatorEntry& form_;
  const bool writes_self_;
  const Call call_;
  std::vector<size_t> inputs_;
  Tensors directions_, weights_, gradients_;
  double tolerance_ = 0;
};

}  // namespace

void check_forward(const Case& c) {
  if (c.expected.gradients.empty()) return;
  Forward(c, *c.forms.op, c.forms.writes_self()).run();
  if (!c.forms.inplace || !c.wants("inplace") || c.expected.results.size() != 1) return;
  const auto& expected = c.expected.results[0];
  const Call call = c.call();
  if (call.num_tensors() == 0 || call.tensor(0).sizes() != IntArrayRef(expected.sizes) ||
      call.tensor(0).scalar_type() != expected.cells.dtype)
    return;
  Forward(c, *c.forms.inplace, true).run();
}

}  // namespace tenon::ops_test
