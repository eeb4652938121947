#include "autograd/autograd.h"

#include <algorithm>

#include "tenon/tensor.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace tenon::ops_test {
namespace {

constexpr int64_t kGradStream = 1000;  // of the gradient of result k: kGradStream + k
constexpr int64_t kSecondStream =
    2000;  // of the weight of gradient i in the second differentiation

using Tensors = std::vector<Tensor>;

/// A tensor like `like`, on its device, with the cells of a stream in (-1, 1).
Tensor weights(const TensorBase& like, int64_t stream) {
  Recipe recipe;
  recipe.dtype = like.scalar_type();
  recipe.sizes = like.sizes().vec();
  recipe.range = std::pair(-1.0, 1.0);
  const Tensor tensor = make_tensor(recipe, stream);
  return like.is_cpu() ? tensor : tensor.to(like.options());
}

/// The call with its differentiable tensors made leaves, and those.
struct Recorded {
  Call call;
  std::vector<size_t> inputs;  // positions of the leaves
  Tensors leaves;
  Tensors roots;
};

/// Calls one form of the operator with gradient recorded. What writes self gets a copy of the leaf.
Recorded record(const Case& c, Call call, const OperatorEntry& form, bool writes_self) {
  Recorded run{std::move(call), {}, {}, {}};
  for (size_t i = 0; i < run.call.num_tensors(); ++i) {
    if (!run.call.recipe(i).wants_grad()) continue;
    Tensor leaf = run.call.tensor(i);
    leaf.set_requires_grad(true);
    run.inputs.push_back(i);
    run.leaves.push_back(leaf);
    run.call.set_tensor(i, writes_self && i < run.call.num_selfs() ? leaf.clone() : leaf);
  }
  auto results = tensors_of(run.call.run(form));
  // Lists are written, and not returned.
  for (size_t i = 0; writes_self && results.size() < run.call.num_selfs(); ++i)
    results.push_back(run.call.tensor(i));
  for (const size_t k : c.expected.roots) run.roots.emplace_back(results.at(k));
  return run;
}

Recorded record(const Case& c, Call call) {
  return record(c, std::move(call), *c.forms.op, c.forms.writes_self());
}

/// Sum of Re(conj(a) b) over the elements.
double inner(const TensorBase& a, const TensorBase& b) {
  const Cells left = read_cells(a), right = read_cells(b);
  double sum = 0;
  for (size_t i = 0; i < left.size(); ++i)
    sum += (std::conj(left.numbers[i]) * right.numbers[i]).real();
  return sum;
}

/// The weighted sum of the results.
double loss_of(const Case& c, const Call& call) {
  const auto results = tensors_of(call.run(*c.forms.op));
  double sum = 0;
  for (const size_t k : c.expected.roots) {
    sum += inner(weights(results[k], kGradStream + static_cast<int64_t>(k)), results[k]);
  }
  return sum;
}

Tensors root_weights(const Case& c, const Recorded& run) {
  Tensors list;
  for (size_t i = 0; i < run.roots.size(); ++i) {
    list.push_back(weights(run.roots[i], kGradStream + static_cast<int64_t>(c.expected.roots[i])));
  }
  return list;
}

bool all_require_grad(const Case& c, const Recorded& run) {
  for (size_t i = 0; i < run.roots.size(); ++i) {
    if (run.roots[i].requires_grad()) continue;
    c.fail("gradient", detail::concat("result ", c.expected.roots[i], " does not require grad"));
    return false;
  }
  return true;
}

Tensors differentiate(const Case& c, const Recorded& run, bool create_graph) {
  return autograd::grad(run.roots, run.leaves, root_weights(c, run), std::nullopt, create_graph,
                        true);
}

/// The weighted sum of the gradients: Tensors without values where the gradient is undefined or
/// constant.
double gradient_loss(const Tensors& gradients) {
  double sum = 0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) {
      sum += inner(weights(gradients[i], kSecondStream + static_cast<int64_t>(i)), gradients[i]);
    }
  }
  return sum;
}

/// Compares `gradient` with the central differences of f as the elements of argument `input` move.
void compare_differences(const Case& c, const char* check, size_t input, const TensorBase& gradient,
                         const std::function<double(const Call&)>& f) {
  constexpr double kStep = 1e-6;
  const Call call = c.call();
  const Cells cells = read_cells(call.tensor(input));
  const bool complex = is_complex(cells.dtype);
  const Cells found = gradient.defined() ? read_cells(gradient) : Cells{};
  const auto at = [&](size_t i, std::complex<double> shift) {
    Cells moved = cells;
    moved.numbers[i] += shift;
    Call shifted = c.call();
    const TensorBase tensor = rearranged(shifted.tensor(input), Arrangement::kContiguous);
    write_cells(tensor, moved);
    shifted.set_tensor(input, tensor);
    return f(shifted);
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    std::complex<double> numeric = (at(i, kStep) - at(i, -kStep)) / (2 * kStep);
    if (complex) {
      const std::complex<double> step(0, kStep);
      numeric += std::complex<double>(0, (at(i, step) - at(i, -step)) / (2 * kStep));
    }
    const std::complex<double> analytic = gradient.defined() ? found.numbers.at(i) : 0.0;
    if (!(std::abs(analytic - numeric) <= 1e-5 + 1e-5 * std::abs(numeric))) {
      return c.fail(
          check,
          detail::concat("tensor argument ", input, " element ", i, ": expected ",
                         complex ? detail::concat(numeric) : detail::concat(numeric.real()),
                         " by finite differences, found ",
                         complex ? detail::concat(analytic) : detail::concat(analytic.real())));
    }
  }
}

/// The gradients of a call against PyTorch's.
void compare_gradients(const Case& c, const char* check, const Recorded& run, double slack) {
  const Tensors gradients = differentiate(c, run, false);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const auto found = c.expected.gradients.find(run.inputs[i]);
    const std::string name = detail::concat("tensor argument ", run.inputs[i], ": ");
    if (found == c.expected.gradients.end()) {
      c.fail(check, name + "the golden has no gradient; run make_golden.py");
      continue;
    }
    const TensorBase leaf = run.leaves[i];
    Cells expected =
        convert(Cells{kLong, std::vector<int64_t>(leaf.numel(), 0), {}}, leaf.scalar_type());
    if (found->second) expected = *found->second;
    if (!gradients[i].defined()) {
      // None stands for zeros.
      const auto zero = [](std::complex<double> x) { return x == 0.0; };
      if (!std::all_of(expected.numbers.begin(), expected.numbers.end(), zero)) {
        c.fail(check, name + "expected a gradient, found none");
      }
      continue;
    }
    if (gradients[i].sizes() != leaf.sizes()) {
      c.fail(check, name + "expected sizes " + list_text(leaf.sizes()) + ", found " +
                        list_text(gradients[i].sizes()));
      continue;
    }
    const std::string text =
        compare_cells(expected, read_cells(gradients[i].cpu()), slack * c.ulps(expected.dtype));
    if (!text.empty()) c.fail(check, name + text);
  }
}

}  // namespace

void check_gradients(const Case& c) { check_gradients_of(c, c.call(), 4); }

void check_gradients_of(const Case& c, const Call& call, double slack) {
  if (c.expected.gradients.empty() || c.sample.row->option("grad") == "numeric") return;
  const Recorded run = record(c, call);
  if (all_require_grad(c, run)) compare_gradients(c, "gradient", run, slack);
}

void check_inplace_gradients(const Case& c) {
  if (!c.forms.inplace || c.expected.gradients.empty() || c.sample.row->option("grad") == "numeric")
    return;
  const Call call = c.call();
  if (call.num_selfs() == 0 || c.expected.results.size() != call.num_selfs()) return;
  for (size_t i = 0; i < call.num_selfs(); ++i) {
    const auto& expected = c.expected.results[i];
    const TensorBase& self = call.tensor(i);
    if (self.sizes() != IntArrayRef(expected.sizes) || self.scalar_type() != expected.cells.dtype)
      return;
  }
  const Recorded run = record(c, c.call(), *c.forms.inplace, true);
  if (all_require_grad(c, run)) compare_gradients(c, "gradient in place", run, 4);
}

void check_finite_differences(const Case& c) {
  if (c.expected.gradients.empty()) return;
  const Call call = c.call();
  int64_t elements = 0;
  for (size_t i = 0; i < call.num_tensors(); ++i) {
    if (!call.recipe(i).wants_grad()) continue;
    const ScalarType dtype = to_real(call.recipe(i).dtype);
    if (dtype != kDouble) return;
    elements += call.tensor(i).numel();
  }
  if (elements == 0 || elements > 100) return;
  const Recorded run = record(c, call);
  if (!all_require_grad(c, run)) return;
  const bool second = c.wants("gg");
  const Tensors gradients = differentiate(c, run, second);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    compare_differences(c, "finite differences", run.inputs[i], gradients[i],
                        [&](const Call& moved) { return loss_of(c, moved); });
  }
  if (!second) return;
  Tensors roots, seeds;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || !gradients[i].requires_grad()) continue;
    roots.push_back(gradients[i]);
    seeds.push_back(weights(gradients[i], kSecondStream + static_cast<int64_t>(i)));
  }
  Tensors seconds(run.leaves.size());
  if (!roots.empty()) seconds = autograd::grad(roots, run.leaves, seeds, std::nullopt, false, true);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    compare_differences(c, "second differences", run.inputs[i], seconds[i], [&](const Call& moved) {
      return gradient_loss(differentiate(c, record(c, moved), false));
    });
  }
}

}  // namespace tenon::ops_test
