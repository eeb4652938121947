// main SEED...: the kernels of random row operators beside the entries' own definitions, and their
// gradients beside slopes of these and beside the formula as operators, in several dtypes and
// layouts.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "aten/core/generator.h"
#include "aten/dispatch/operator_entry.h"
#include "autograd/autograd.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/randn.h"
#include "tenon/tensor.h"
#include "tests/codegen/rows/reference.h"

using namespace tenon;
namespace random_rows = tenon::codegen::rows;
using random_rows::RandomEntry;
using random_rows::Reference;
using random_rows::RowValues;
using Values = std::vector<double>;

namespace {

constexpr int64_t kOuter[] = {2, 3};
constexpr size_t kRows = 6;

Values values(const Tensor& t) {
  const Tensor plain = t.detach().to(kDouble).contiguous();
  const double* p = plain.numel() ? plain.data_ptr<double>() : nullptr;
  return Values(p, p + plain.numel());
}

/// Random values of shape [2, 3, n], laid out in one of several ways.
Tensor elements(int64_t n, ScalarType dtype, int layout) {
  const auto fresh = [&](std::vector<int64_t> sizes) {
    return (randn(sizes, TensorOptions(kDouble)) * 0.9).to(dtype);
  };
  switch (layout) {
  case 0: return fresh({2, 3, n});
  case 1: return fresh({n, 2, 3}).permute({1, 2, 0});
  case 2: return fresh({2, 3, 2 * n + 1}).narrow(2, 1, n);
  case 3: return fresh({2, 1, n}).expand({2, 3, n});
  default: return fresh({3, n, 2}).permute({2, 0, 1});
  }
}

struct Operands {
  Tensor x, y, w, v, r, at;
  double scale = 0.7;
  std::vector<Tensor> differentiable() const { return {x, y, w, v, r}; }
};
constexpr const char* kNames[] = {"x", "y", "w", "v", "r"};

std::vector<Tensor> call(const OperatorEntry& op, const Operands& o) {
  Stack stack = {Value(o.x), Value(o.y),  Value(o.w),    Value(o.v),
                 Value(o.r), Value(o.at), Value(o.scale)};
  op.call_boxed(stack);
  std::vector<Tensor> results;
  for (const Value& value : stack) results.emplace_back(value.to_tensor());
  return results;
}

/// Row `row` of an operand of shape [2, 3, n], [n] or [2, 3].
Values row_of(const Values& all, size_t row, size_t n) {
  if (all.size() == n) return all;
  if (all.size() == kRows) return {all[row]};
  return Values(all.begin() + static_cast<ptrdiff_t>(row * n),
                all.begin() + static_cast<ptrdiff_t>((row + 1) * n));
}

struct Check {
  size_t compared = 0, different = 0, samples = 0, wild = 0;
  std::string first;

  void close(double got, double wanted, double tolerance, const std::string& where) {
    ++compared;
    if (std::fabs(got - wanted) <= tolerance) return;
    if (different++ == 0)
      first = where + ": got " + std::to_string(got) + ", wanted " + std::to_string(wanted) +
              ", tolerance " + std::to_string(tolerance);
  }
};

double unit_of(ScalarType t) {
  return t == kBFloat16 ? 1.0 / 256 : t == kHalf ? 1.0 / 2048 : t == kFloat ? 6e-8 : 1.1e-16;
}

void compare(const OperatorEntry& op, const RandomEntry& entry, int64_t length, ScalarType dtype,
             int layout, Check& check) {
  Operands o;
  o.x = elements(length, dtype, layout);
  o.y = elements(length, dtype, (layout + 3) % 5);
  o.w = elements(length, dtype, 0).select(0, 0).select(0, 0);
  o.v = elements(length, dtype, 0).select(0, 0).select(0, 1);
  o.r = elements(1, dtype, 0).squeeze(-1);
  o.at = randint(length, {kOuter[0], kOuter[1]}, kLong);
  if (entry.picks_guarded) o.at.select(0, 1).fill_(-1);
  for (const Tensor& t : o.differentiable()) t.requires_grad_();
  const bool absent = layout == 2;
  Operands passed = o;
  if (absent) passed.v = Tensor();

  const std::vector<Tensor> results = call(op, passed);
  const auto n = static_cast<size_t>(length);
  std::vector<Values> operands, directions;
  for (const Tensor& t : o.differentiable()) {
    operands.push_back(values(t));
    directions.push_back(values(randn(t.sizes(), TensorOptions(kDouble))));
  }
  if (absent) {
    operands[3].assign(n, random_rows::kAbsent);
    directions[3].assign(n, 0);
  }
  const Values at = values(o.at);
  std::vector<Values> got, grads;
  std::vector<Tensor> grad_tensors, differentiable_results;
  for (const Tensor& result : results) {
    got.push_back(values(result));
    const Tensor grad = randn(result.sizes(), TensorOptions(kDouble)).to(dtype);
    grads.push_back(values(grad));
    if (!result.requires_grad()) continue;
    differentiable_results.push_back(result);
    grad_tensors.push_back(grad);
  }
  double slope = 0, size = 0, largest = 0;
  std::vector<std::vector<double>> wanted(results.size());
  for (size_t row = 0; row < kRows; ++row) {
    RowValues of_row = {{"scale", {o.scale}}, {"place", {at[row]}}}, slopes;
    for (size_t k = 0; k < operands.size(); ++k) {
      of_row[kNames[k]] = row_of(operands[k], row, n);
      slopes[kNames[k]] = row_of(directions[k], row, n);
    }
    const Reference reference = evaluate(entry, n, of_row, slopes);
    if (!(reference.largest < (dtype == kDouble ? 1e4 : 100))) {
      ++check.wild;
      return;
    }
    largest = std::fmax(largest, reference.largest);
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t per_row = got[i].size() / kRows;
      for (size_t k = 0; k < per_row; ++k) {
        const random_rows::Dual& dual =
            reference.results[i][reference.results[i].size() == 1 ? 0 : k];
        wanted[i].push_back(dual.value);
        const double term =
            results[i].requires_grad() ? grads[i][row * per_row + k] * dual.slope : 0;
        slope += term;
        size += std::fabs(term);
      }
    }
  }
  ++check.samples;
  const double computed = dtype == kDouble ? 1e-11 : 3e-5;
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t k = 0; k < wanted[i].size(); ++k) {
      check.close(got[i][k], wanted[i][k],
                  computed * (1 + largest) + 2 * unit_of(dtype) * std::fabs(wanted[i][k]),
                  "result " + std::to_string(i));
    }
  }
  if (differentiable_results.empty()) return;
  std::vector<Tensor> inputs = o.differentiable();
  if (absent) inputs.erase(inputs.begin() + 3), directions.erase(directions.begin() + 3);
  const auto gradients = [&](bool create_graph) {
    autograd::GradOptions options;
    options.retain_graph = true;
    options.create_graph = create_graph;
    options.allow_unused = true;
    return autograd::grad(differentiable_results, inputs, grad_tensors, options);
  };
  const std::vector<Tensor> by_kernel = gradients(false), by_operators = gradients(true);
  double sum = 0, of_terms = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (by_kernel[k].defined() != by_operators[k].defined())
      check.close(0, 1, 0, "one gradient of two is absent");
    if (!by_kernel[k].defined() || !by_operators[k].defined()) continue;
    const Values one = values(by_kernel[k]), other = values(by_operators[k]);
    double scale = 0;
    for (const double value : one) scale = std::fmax(scale, std::fabs(value));
    // Half types: operators round after each step.
    const double loose = dtype == kDouble ? 1e-9 : dtype == kFloat ? 1e-3 : 1;
    for (size_t i = 0; i < one.size(); ++i) {
      if (loose < 1)
        check.close(other[i], one[i], loose * (1 + scale), std::string("operators, ") + kNames[k]);
      sum += one[i] * directions[k][i];
      of_terms += std::fabs(one[i] * directions[k][i]);
    }
  }
  const double loose = dtype == kDouble ? 1e-9 : dtype == kFloat ? 1e-3 : 16 * unit_of(dtype);
  check.close(sum, slope, loose * (1 + largest + size + of_terms), "slope");
}

}  // namespace

int main(int argc, char** argv) {
  size_t failed = 0, samples = 0, compared = 0, different = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string seed = argv[i];
    const RandomEntry entry = random_rows::random_entry(std::strtoull(argv[i], nullptr, 10));
    const OperatorEntry& op = get_operator("randomrows::f" + seed);
    for (const ScalarType dtype : {kDouble, kFloat, kBFloat16, kHalf}) {
      Check check;
      manual_seed(std::strtoull(argv[i], nullptr, 10));
      try {
        for (const int64_t length : {1, 3, 7, 33, 100}) {
          for (int layout = 0; layout < 5; ++layout)
            compare(op, entry, length, dtype, layout, check);
        }
      } catch (const std::exception& e) {
        check.close(0, 1, 0, e.what());
      }
      samples += check.samples;
      compared += check.compared;
      different += check.different;
      // Comparisons and roundings of values that are nearly the same may go either way.
      const double allowed = dtype == kDouble ? 0 : 0.05;
      if (check.different <= allowed * check.compared) continue;
      ++failed;
      std::printf("f%s, %s: %zu of %zu differ, first %s\n", argv[i],
                  std::string(to_string(dtype)).c_str(), check.different, check.compared,
                  check.first.c_str());
      std::fflush(stdout);
    }
  }
  std::printf("%d operators, %zu samples, %zu numbers compared, %zu different; %zu operators and "
              "dtypes failed\n",
              argc - 1, samples, compared, different, failed);
  return failed == 0 ? 0 : 1;
}
