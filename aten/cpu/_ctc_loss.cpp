#include "tenon/native/_ctc_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "tenon/native/_ctc_loss_backward.h"

namespace tenon {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// Logarithms of probabilities are large numbers that hundreds of steps add up: sums are double.
// What is added to the largest term is at most log(3), for which functions of T are exact enough.

/// log(exp(a) + exp(b)): one exponential fewer than terms, as the largest term's is 1.
template <class T>
double log_add(double a, double b) {
  const double top = a > b ? a : b;
  if (top == kNone) return top;
  return top + std::log(1 + std::exp(static_cast<T>((a > b ? b : a) - top)));
}

template <class T>
double log_add(double a, double b, double c) {
  if (b > a) std::swap(a, b);
  if (c > a) std::swap(a, c);
  if (a == kNone) return a;
  return a + std::log(1 + std::exp(static_cast<T>(b - a)) + std::exp(static_cast<T>(c - a)));
}

/// One element of the batch: probabilities of T steps, and the labels with a blank around each.
template <class T>
struct Alignment {
  const T* log_probs;  ///< that of label l at step t is log_probs[t * step + l * label]
  int64_t step, label;
  const int64_t* targets;
  int64_t steps, length, blank;

  int64_t states() const { return 2 * length + 1; }
  int64_t at(int64_t s) const { return s % 2 == 0 ? blank : targets[s / 2]; }
  T log_prob(int64_t t, int64_t s) const { return log_probs[t * step + at(s) * label]; }
  /// Whether state s follows s - 2 without the blank between them.
  bool skips(int64_t s) const { return s % 2 == 1 && s > 1 && at(s) != at(s - 2); }
};

/// All of a batch, for each element of which `each(alignment, n)` is called.
template <class T>
class Batch {
 public:
  Batch(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
        IntArrayRef target_lengths, int64_t blank)
      : log_probs_(log_probs), targets_(native::contiguous(targets, kLong)),
        input_lengths_(input_lengths), target_lengths_(target_lengths), blank_(blank),
        starts_(target_lengths.size()) {
    int64_t start = 0;
    for (size_t n = 0; n < starts_.size(); ++n) {
      starts_[n] = targets.dim() == 1 ? start : static_cast<int64_t>(n) * targets.size(1);
      start += target_lengths[n];
      for (int64_t i = 0; i < target_lengths[n]; ++i) {
        const int64_t label = targets_.data_ptr<int64_t>()[starts_[n] + i];
        TENON_CHECK_INDEX(label >= 0 && label < log_probs.size(2),
                          "[ctc_loss] Expected targets in ", "the range of ", log_probs.size(2),
                          " labels, got ", label);
      }
    }
  }

  template <class F>
  void run(F&& each) const {
    parallel_for(0, log_probs_.size(1), 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const auto i = static_cast<size_t>(n);
        each(Alignment<T>{log_probs_.const_data_ptr<T>() + n * log_probs_.stride(1),
                          log_probs_.stride(0), log_probs_.stride(2),
                          targets_.data_ptr<int64_t>() + starts_[i], input_lengths_[i],
                          target_lengths_[i], blank_},
             n);
      }
    });
  }

 private:
  const Tensor& log_probs_;
  TensorBase targets_;
  IntArrayRef input_lengths_, target_lengths_;
  int64_t blank_;
  std::vector<int64_t> starts_;
};

/// alpha[t][s] = log of the probability of the first t + 1 steps that end in state s; the result is
/// -log of that of all (Graves et al. 2006).
template <class T>
T forward(const Alignment<T>& a, T* alpha, int64_t row) {
  const int64_t states = a.states();
  if (a.steps == 0) return a.length == 0 ? T(0) : std::numeric_limits<T>::infinity();
  std::vector<double> before(static_cast<size_t>(states), kNone), now(before);
  for (size_t s = 0; s < std::min<size_t>(2, now.size()); ++s)
    now[s] = a.log_prob(0, static_cast<int64_t>(s));
  std::copy(now.begin(), now.end(), alpha);
  for (int64_t t = 1; t < a.steps; ++t) {
    std::swap(before, now);
    for (int64_t s = 0; s < states; ++s) {
      const auto i = static_cast<size_t>(s);
      const double reached = s == 0       ? before[0]
                             : a.skips(s) ? log_add<T>(before[i], before[i - 1], before[i - 2])
                                          : log_add<T>(before[i], before[i - 1]);
      now[i] = reached + a.log_prob(t, s);
      alpha[t * row + s] = static_cast<T>(now[i]);
    }
  }
  const size_t last = now.size() - 1;
  return static_cast<T>(-(last > 0 ? log_add<T>(now[last], now[last - 1]) : now[0]));
}

/// The gradient where the probabilities of a step are a softmax's, of its input: with beta[t][s] =
/// log of the probability of steps t on that begin in state s, and the sum over the states s of
/// label l, exp(log_prob[l]) - sum exp(alpha[t][s] + beta[t][s] - log_prob[l] + loss).
template <class T>
void backward(const Alignment<T>& a, const T* alpha, int64_t row, T loss, T grad, T* grads,
              int64_t step, int64_t labels) {
  const int64_t states = a.states();
  if (loss ==
      std::numeric_limits<T>::infinity()) {  // No alignment: as PyTorch's infinity less infinity.
    for (int64_t t = 0; t < a.steps; ++t)
      std::fill_n(grads + t * step, labels, std::numeric_limits<T>::quiet_NaN());
    return;
  }
  std::vector<double> beta(static_cast<size_t>(states)), after(beta);
  std::vector<T> sums(static_cast<size_t>(labels));
  for (int64_t t = a.steps - 1; t >= 0; --t) {
    for (int64_t s = states - 1; s >= 0; --s) {
      const auto i = static_cast<size_t>(s);
      double left = kNone;
      if (t == a.steps - 1) {
        left = s + 2 >= states ? 0 : kNone;
      } else {
        left = s + 1 == states                    ? after[i]
               : s + 2 < states && a.skips(s + 2) ? log_add<T>(after[i], after[i + 1], after[i + 2])
                                                  : log_add<T>(after[i], after[i + 1]);
      }
      beta[i] = left + a.log_prob(t, s);
    }
    // Of each label, the probability to be in one of its states: no sum of logarithms, as it is at
    // most 1.
    std::fill(sums.begin(), sums.end(), T(0));
    for (int64_t s = 0; s < states; ++s) {
      const double begun = alpha[t * row + s];
      if (begun == kNone) continue;
      const double left = beta[static_cast<size_t>(s)] - a.log_prob(t, s);
      sums[static_cast<size_t>(a.at(s))] += std::exp(static_cast<T>(begun + loss + left));
    }
    for (int64_t l = 0; l < labels; ++l) {
      const T log_prob = a.log_probs[t * a.step + l * a.label];
      grads[t * step + l] = (std::exp(log_prob) - sums[static_cast<size_t>(l)]) * grad;
    }
    std::swap(beta, after);
  }
}

}  // namespace

void native::_ctc_loss_cpu(const Tensor& log_probs, const Tensor& targets,
                           IntArrayRef input_lengths, IntArrayRef target_lengths, int64_t blank,
                           bool, const Tensor& neg_log_likelihood, const Tensor& log_alpha) {
  TENON_DISPATCH_FLOATING(log_probs.scalar_type(), "ctc_loss", {
    const Batch<scalar_t> batch(log_probs, targets, input_lengths, target_lengths, blank);
    scalar_t* losses = neg_log_likelihood.mutable_data_ptr<scalar_t>();
    scalar_t* alphas = log_alpha.mutable_data_ptr<scalar_t>();
    const int64_t size = log_alpha.size(1) * log_alpha.size(2), row = log_alpha.size(2);
    std::fill_n(alphas, log_alpha.numel(), -std::numeric_limits<scalar_t>::infinity());
    batch.run([&](const Alignment<scalar_t>& a, int64_t n) {
      losses[n] = forward(a, alphas + n * size, row);
    });
  });
}

void native::_ctc_loss_backward_cpu(const Tensor& grad_out, const Tensor& log_probs,
                                    const Tensor& targets, IntArrayRef input_lengths,
                                    IntArrayRef target_lengths, const Tensor& neg_log_likelihood,
                                    const Tensor& log_alpha, int64_t blank, bool zero_infinity,
                                    const Tensor& out) {
  TENON_DISPATCH_FLOATING(log_probs.scalar_type(), "ctc_loss", {
    const Batch<scalar_t> batch(log_probs, targets, input_lengths, target_lengths, blank);
    const TensorBase losses = contiguous(neg_log_likelihood), alphas = contiguous(log_alpha),
                     grads = contiguous(grad_out, log_probs.scalar_type());
    const int64_t size = log_alpha.size(1) * log_alpha.size(2), row = log_alpha.size(2);
    const int64_t labels = log_probs.size(2), step = log_probs.size(1) * labels;
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    std::fill_n(to, out.numel(), scalar_t(0));
    batch.run([&](const Alignment<scalar_t>& a, int64_t n) {
      const scalar_t loss = losses.data_ptr<scalar_t>()[n];
      if (zero_infinity && loss == std::numeric_limits<scalar_t>::infinity()) return;
      backward(a, alphas.data_ptr<scalar_t>() + n * size, row, loss, grads.data_ptr<scalar_t>()[n],
               to + n * labels, step, labels);
    });
  });
}

}  // namespace tenon
