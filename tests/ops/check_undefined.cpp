#include "autograd/autograd.h"
#include "tenon/ops/add.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace tenon::ops_test {
namespace {

using Tensors = std::vector<Tensor>;

/// The operator called with gradient recorded: its differentiable arguments and results.
struct Recorded {
  Tensors leaves, roots;
};

Recorded record(const Case& c) {
  Recorded run;
  Call call = c.call();
  for (size_t i = 0; i < call.num_tensors(); ++i) {
    if (!call.recipe(i).wants_grad()) continue;
    Tensor leaf = call.tensor(i);
    leaf.set_requires_grad(true);
    run.leaves.push_back(leaf);
    call.set_tensor(i, c.forms.writes_self() && i == 0 ? leaf.clone() : leaf);
  }
  const auto results = tensors_of(call.run(*c.forms.op));
  for (const size_t k : c.expected.roots) run.roots.emplace_back(results.at(k));
  return run;
}

Tensor weights(const Tensor& like, size_t k) {
  Recipe recipe;
  recipe.dtype = like.scalar_type();
  recipe.sizes = like.sizes().vec();
  recipe.range = std::pair(-1.0, 1.0);
  return Tensor(make_tensor(recipe, 3000 + static_cast<int64_t>(k)));
}

/// A node that gets no gradient gives none, or zeros.
void check_no_gradient(const Case& c, const Recorded& run) {
  for (size_t k = 0; k < run.roots.size(); ++k) {
    const auto& node = run.roots[k].grad_fn();
    if (!node) continue;
    autograd::variable_list none(node->num_inputs());
    for (const Tensor& gradient : node->apply(std::move(none))) {
      if (!gradient.defined()) continue;
      const Cells cells = read_cells(gradient);
      for (const auto& number : cells.numbers) {
        if (number == 0.0) continue;
        return c.fail("undefined gradient",
                      node->name() + " makes a gradient out of undefined ones");
      }
    }
  }
}

/// The gradients of one root at a time, the others being undefined, add up to those of all.
void check_one_at_a_time(const Case& c, const Recorded& run) {
  const size_t n = run.roots.size();
  Tensors seeds;
  for (size_t k = 0; k < n; ++k) seeds.push_back(weights(run.roots[k], k));
  const Tensors all = autograd::grad(run.roots, run.leaves, seeds, true, false, true);
  Tensors sums(run.leaves.size());
  for (size_t k = 0; k < n; ++k) {
    const Tensors part = autograd::grad({run.roots[k]}, run.leaves, {seeds[k]}, true, false, true);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (part[i].defined()) sums[i] = sums[i].defined() ? sums[i] + part[i] : part[i];
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!all[i].defined() && !sums[i].defined()) continue;
    const std::string what =
        detail::concat("differentiable argument ", i, ", one result at a time: ");
    if (!all[i].defined() || !sums[i].defined()) {
      c.fail("undefined gradient", what + "a gradient is there only for all or only for one");
      continue;
    }
    // The sum is rounded once more for each result.
    const Cells expected = read_cells(all[i]);
    const std::string text = compare_cells(expected, read_cells(sums[i]),
                                           4 * static_cast<double>(n) * c.ulps(expected.dtype));
    if (!text.empty()) c.fail("undefined gradient", what + text);
  }
}

}  // namespace

void check_undefined_gradients(const Case& c) {
  if (c.expected.gradients.empty() || c.expected.roots.empty()) return;
  const Recorded run = record(c);
  for (const Tensor& root : run.roots) {
    if (!root.requires_grad()) return;  // check_gradients reports it
  }
  check_no_gradient(c, run);
  if (run.roots.size() > 1) check_one_at_a_time(c, run);
}

}  // namespace tenon::ops_test
