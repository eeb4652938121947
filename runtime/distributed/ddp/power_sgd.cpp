#include "runtime/distributed/ddp/power_sgd.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "aten/core/generator.h"
#include "aten/core/thread_state.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/div.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/t.h"
#include "tenon/ops/to.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed {
namespace {

/// The columns of a matrix [n, r] made orthonormal one after another (Gram-Schmidt, each taken off
/// twice, so that rounding does not bring it back); those that depend on others become 0. The host
/// does it: the matrix is small.
Tensor orthonormal(const Tensor& matrix, double epsilon) {
  const Tensor result =
      matrix.to(kCPU, kDouble, /*non_blocking=*/false, /*copy=*/true).contiguous();
  const int64_t n = matrix.size(0), r = matrix.size(1);
  auto* data = result.data_ptr<double>();
  const auto dot = [&](int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += data[i * r + a] * data[i * r + b];
    return sum;
  };
  for (int64_t c = 0; c < r; ++c) {
    const double before = std::sqrt(dot(c, c));
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t k = 0; k < c; ++k) {
        const double along = dot(k, c);
        for (int64_t i = 0; i < n; ++i) data[i * r + c] -= along * data[i * r + k];
      }
    }
    const double norm = std::sqrt(dot(c, c));
    const bool dependent = norm <= 1e-12 * before;
    for (int64_t i = 0; i < n; ++i)
      data[i * r + c] = dependent ? 0 : data[i * r + c] / (norm + epsilon);
  }
  return result.to(matrix.device(), matrix.scalar_type());
}

bool has_zero_column(const Tensor& matrix) {
  const Tensor norms = matrix.mul(matrix).sum(IntArrayRef({0}), false, kDouble).to(kCPU);
  const auto* begin = norms.data_ptr<double>();
  return std::find(begin, begin + norms.numel(), 0.0) != begin + norms.numel();
}

/// A tensor of all the parts' elements, and views of it in their shapes.
struct Joined {
  Tensor flat;
  std::vector<Tensor> parts;

  Joined(const std::vector<std::vector<int64_t>>& shapes, const TensorOptions& options) {
    int64_t total = 0, at = 0;
    std::vector<int64_t> counts;
    for (const auto& shape : shapes) {
      int64_t count = 1;
      for (const int64_t n : shape) count *= n;
      counts.push_back(count);
      total += count;
    }
    flat = zeros({total}, options);
    for (size_t i = 0; i < shapes.size(); ++i) {
      parts.push_back(flat.narrow(0, at, counts[i]).view(shapes[i]));
      at += counts[i];
    }
  }
};

}  // namespace

/// One bucket of one iteration.
struct PowerSGDState::Pass {
  GradBucket bucket;
  Tensor error;                  // of the bucket's shape: what is lost
  std::vector<Tensor> lost;      // its parts [n, m]
  std::vector<Tensor> plain;     // views of the bucket that are sent in full, each one row
  std::vector<Tensor> matrices;  // views [n, m] of the bucket
  std::optional<Joined> all_plain, all_p, all_q;
  std::vector<WorkPtr> works;
};

PowerSGDState::PowerSGDState(const PowerSGDOptions& options) : options_(options) {
  TENON_CHECK_VALUE(options.matrix_approximation_rank >= 1,
                    "[PowerSGDState] expected a matrix_approximation_rank of 1 or more, got ",
                    options.matrix_approximation_rank);
  TENON_CHECK_VALUE(options.min_compression_rate >= 0,
                    "[PowerSGDState] expected a min_compression_rate of 0 or more, got ",
                    options.min_compression_rate);
  TENON_CHECK_VALUE(options.start_powerSGD_iter > 1 ||
                        !(options.use_error_feedback || options.warm_start),
                    "[PowerSGDState] expected start_powerSGD_iter > 1 with use_error_feedback or ",
                    "warm_start, since the buckets are rebuilt after the first iteration, got ",
                    options.start_powerSGD_iter);
}

std::vector<Tensor> PowerSGDState::factors(size_t bucket) const {
  const auto found = factors_.find(bucket);
  return found == factors_.end() ? std::vector<Tensor>() : found->second;
}

Tensor PowerSGDState::error(size_t bucket) const {
  const auto found = errors_.find(bucket);
  return found == errors_.end() ? Tensor() : found->second;
}

Tensor PowerSGDState::new_factor(int64_t columns, int64_t rank, ScalarType dtype) {
  const Tensor random = zeros({columns, rank}, TensorOptions(kFloat));
  // Each has a seed of its own: a count is all that a checkpoint needs.
  random.normal_(0, 1, make_generator(kCPU, options_.random_seed + factors_drawn_++));
  return orthonormal(random, options_.orthogonalization_epsilon).to(dtype);
}

std::function<void()> PowerSGDState::reduce(const GradBucket& bucket) {
  const NoGradGuard no_grad;
  const ScalarType dtype = bucket.buffer.scalar_type();
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(dtype), "[powerSGD_hook] gradients of ", dtype);
  const auto pass = std::make_shared<Pass>();
  pass->bucket = bucket;
  numel_before_ += bucket.buffer.numel();
  if (options_.use_error_feedback) {
    const auto lost = errors_.find(bucket.index);
    if (lost != errors_.end() && lost->second.numel() == bucket.buffer.numel())
      bucket.buffer.add_(lost->second.to(bucket.buffer.device(), dtype));
    pass->error = zeros({bucket.buffer.numel()}, bucket.buffer.options());
  }
  // The gradients lie in the buffer one after another, in whatever layout.
  int64_t at = 0;
  std::vector<std::vector<int64_t>> plain, p, q;
  for (const Tensor& g : bucket.gradients) {
    const Tensor part = bucket.buffer.narrow(0, at, g.numel());
    const int64_t n = g.dim() > 0 ? g.size(0) : 1;
    const int64_t m = n > 0 ? g.numel() / n : 0;
    const int64_t r = std::min({n, m, options_.matrix_approximation_rank});
    const bool smaller = options_.min_compression_rate * static_cast<double>((n + m) * r) <
                         static_cast<double>(n * m);
    if (g.dim() <= 1 || !smaller || !g.is_contiguous()) {
      pass->plain.push_back(part);
      plain.push_back({g.numel()});
    } else {
      pass->matrices.push_back(part.view({n, m}));
      if (pass->error.defined())
        pass->lost.push_back(pass->error.narrow(0, at, g.numel()).view({n, m}));
      p.push_back({n, r});
      q.push_back({m, r});
    }
    at += g.numel();
  }
  pass->all_plain.emplace(plain, bucket.buffer.options());
  pass->all_p.emplace(p, bucket.buffer.options());
  pass->all_q.emplace(q, bucket.buffer.options());
  numel_after_ +=
      pass->all_plain->flat.numel() + pass->all_p->flat.numel() + pass->all_q->flat.numel();

  std::vector<Tensor>& known = factors_[bucket.index];
  if (!options_.warm_start || known.size() != q.size()) known.clear();
  for (size_t i = 0; i < q.size(); ++i) {
    const bool fits =
        i < known.size() && known[i].size(0) == q[i][0] && known[i].size(1) == q[i][1];
    Tensor factor;
    if (fits) factor = orthonormal(known[i], options_.orthogonalization_epsilon);
    // One that has lost a column would never find it again.
    if (!fits || has_zero_column(factor)) factor = new_factor(q[i][0], q[i][1], dtype);
    pass->all_p->parts[i].copy_(pass->matrices[i].matmul(factor.to(bucket.buffer.device(), dtype)));
  }
  const auto start = [&](Joined& joined) {
    if (joined.flat.numel() == 0) return;
    joined.flat.div_(bucket.group->size());
    pass->works.push_back(
        bucket.group->backend().all_reduce(joined.flat, ReduceOp::SUM, {.async_op = true}));
  };
  for (size_t i = 0; i < pass->plain.size(); ++i) pass->all_plain->parts[i].copy_(pass->plain[i]);
  start(*pass->all_plain);
  start(*pass->all_p);
  return [this, pass] { finish(*pass); };
}

void PowerSGDState::finish(Pass& pass) {
  for (const WorkPtr& work : pass.works) work->wait();
  const NoGradGuard no_grad;
  for (size_t i = 0; i < pass.plain.size(); ++i) pass.plain[i].copy_(pass.all_plain->parts[i]);
  if (!pass.matrices.empty()) {
    Joined &all_p = *pass.all_p, &all_q = *pass.all_q;
    for (size_t i = 0; i < pass.matrices.size(); ++i) {
      all_p.parts[i].copy_(orthonormal(all_p.parts[i], options_.orthogonalization_epsilon));
      all_q.parts[i].copy_(pass.matrices[i].t().matmul(all_p.parts[i]));
      // What this rank's own product loses, not how it differs from the others': that would add up.
      if (options_.use_error_feedback)
        pass.lost[i].copy_(pass.matrices[i].sub(all_p.parts[i].matmul(all_q.parts[i].t())));
    }
    all_q.flat.div_(pass.bucket.group->size());
    pass.bucket.group->backend().all_reduce(all_q.flat, ReduceOp::SUM, {})->wait();
    std::vector<Tensor> factors;
    for (size_t i = 0; i < pass.matrices.size(); ++i) {
      pass.matrices[i].copy_(all_p.parts[i].matmul(all_q.parts[i].t()));
      factors.push_back(all_q.parts[i].clone());
    }
    factors_[pass.bucket.index] = std::move(factors);
  }
  if (options_.use_error_feedback) errors_[pass.bucket.index] = pass.error;
}

std::map<std::string, Tensor> PowerSGDState::state_dict() const {
  const auto number = [](int64_t value) {
    const Tensor t = zeros({}, TensorOptions(kLong));
    *t.data_ptr<int64_t>() = value;
    return t;
  };
  std::map<std::string, Tensor> state{{"iteration", number(iteration_)},
                                      {"factors_drawn", number(factors_drawn_)},
                                      {"numel_before", number(numel_before_)},
                                      {"numel_after", number(numel_after_)}};
  for (const auto& [bucket, factors] : factors_) {
    for (size_t i = 0; i < factors.size(); ++i)
      state[detail::concat("factors.", bucket, ".", i)] = factors[i];
  }
  for (const auto& [bucket, error] : errors_) state[detail::concat("error.", bucket)] = error;
  return state;
}

void PowerSGDState::load_state_dict(const std::map<std::string, Tensor>& state) {
  std::map<std::string, int64_t> numbers{
      {"iteration", -1}, {"factors_drawn", -1}, {"numel_before", -1}, {"numel_after", -1}};
  std::map<size_t, std::map<size_t, Tensor>> factors;
  std::map<size_t, Tensor> errors;
  for (const auto& [key, value] : state) {
    size_t bucket = 0, index = 0;
    int end = -1;
    const auto matches = [&] { return end == static_cast<int>(key.size()); };
    TENON_CHECK_VALUE(value.defined(), "[PowerSGDState] '", key, "' is undefined");
    if (const auto found = numbers.find(key); found != numbers.end()) {
      TENON_CHECK_VALUE(value.numel() == 1 && value.scalar_type() == kLong,
                        "[PowerSGDState] expected '", key, "' to be one Long, got ",
                        value.scalar_type(), " ", value.sizes());
      found->second = value.item<int64_t>();
    } else if (std::sscanf(key.c_str(), "factors.%zu.%zu%n", &bucket, &index, &end) == 2 &&
               matches() && value.dim() == 2) {
      factors[bucket][index] = value;
    } else if (std::sscanf(key.c_str(), "error.%zu%n", &bucket, &end) == 1 && matches() &&
               value.dim() == 1) {
      errors[bucket] = value.clone();
    } else {
      detail::raise<ValueError>("[PowerSGDState] '", key, "' of shape ", value.sizes(),
                                " is not what a state has");
    }
  }
  for (const auto& [key, number] : numbers)
    TENON_CHECK_VALUE(number >= 0, "[PowerSGDState] the state has no '", key, "'");
  std::map<size_t, std::vector<Tensor>> ordered;
  for (const auto& [bucket, parts] : factors) {
    for (const auto& [index, part] : parts) {
      TENON_CHECK_VALUE(index == ordered[bucket].size(),
                        "[PowerSGDState] the state has no 'factors.", bucket, ".",
                        ordered[bucket].size(), "'");
      ordered[bucket].push_back(part.clone());
    }
  }
  iteration_ = numbers["iteration"];
  factors_drawn_ = numbers["factors_drawn"];
  numel_before_ = numbers["numel_before"];
  numel_after_ = numbers["numel_after"];
  factors_ = std::move(ordered);
  errors_ = std::move(errors);
  resumed_ = true;
}

CommHook powerSGD_hook(std::shared_ptr<PowerSGDState> state) {
  TENON_CHECK_VALUE(state, "[powerSGD_hook] expected a PowerSGDState");
  return [state = std::move(state)](const GradBucket& bucket) -> std::function<void()> {
    const bool full = state->iteration_ < state->options_.start_powerSGD_iter || state->resumed_;
    if (bucket.is_last) {
      ++state->iteration_;
      state->resumed_ = false;
    }
    if (full) return allreduce_hook()(bucket);
    // The state lives as long as what is under way.
    return [state, finish = state->reduce(bucket)] { finish(); };
  };
}

}  // namespace tenon::distributed
