#include "runtime/optim/strong_wolfe.h"

#include <algorithm>
#include <cmath>

namespace tenon::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9, kSmallestMove = 1e-9;

/// Where the cubic through both points with their slopes is least, within [low, high]; the middle
/// if it has no minimum.
double least_of_cubic(const LinePoint& a, const LinePoint& b, double low, double high) {
  const LinePoint& left = a.t <= b.t ? a : b;
  const LinePoint& right = a.t <= b.t ? b : a;
  const double mean = left.slope + right.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = mean * mean - left.slope * right.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double root = std::sqrt(square);
  const double least = right.t - (right.t - left.t) * ((right.slope + root - mean) /
                                                       (right.slope - left.slope + 2 * root));
  return std::min(std::max(least, low), high);
}

class Search {
 public:
  Search(const std::function<LinePoint(double)>& evaluate, const LinePoint& start, double largest,
         int64_t max_iterations)
      : evaluate_(evaluate), start_(start), largest_(largest), left_(max_iterations) {}

  LineSearchResult run(double t) {
    find_interval(t);
    if (!done_) refine();
    return {low_, evaluations_};
  }

 private:
  LinePoint at(double t) {
    ++evaluations_;
    return evaluate_(t);
  }

  bool too_high(const LinePoint& p) const {
    return p.loss > start_.loss + kDecrease * p.t * start_.slope;
  }
  bool flat_enough(const LinePoint& p) const {
    return std::abs(p.slope) <= -kCurvature * start_.slope;
  }

  /// Steps further until [low_, high_] holds a point that fulfils the conditions, or one does.
  void find_interval(double t) {
    LinePoint before = start_, now = at(t);
    before.t = 0;
    for (int64_t i = 0; left_ > 0; ++i, --left_) {
      if (too_high(now) || (i > 1 && now.loss >= before.loss)) return set(before, now);
      if (flat_enough(now)) {
        done_ = true;
        low_ = now;
        return;
      }
      if (now.slope >= 0) return set(before, now);
      const double next =
          least_of_cubic(before, now, now.t + 0.01 * (now.t - before.t), 10 * now.t);
      before = std::exchange(now, at(next));
    }
    before = start_;
    before.t = 0;
    set(before, now);
  }

  void set(const LinePoint& a, const LinePoint& b) {
    const bool is_ordered = a.loss <= b.loss;
    const LinePoint low = is_ordered ? a : b;
    high_ = is_ordered ? b : a;
    low_ = low;
  }

  void refine() {
    bool stuck = false;
    for (; !done_ && left_ > 0; --left_) {
      if (std::abs(high_.t - low_.t) * largest_ < kSmallestMove) return;
      const LinePoint now = at(next(stuck));
      if (too_high(now) || now.loss >= low_.loss) {
        set(low_, now);
        continue;
      }
      if (flat_enough(now)) {
        done_ = true;
      } else if (now.slope * (high_.t - low_.t) >= 0) {
        high_ = low_;
      }
      low_ = now;
    }
  }

  /// Of the cubic; but not twice in a row, and never at all, close to an end of the interval.
  double next(bool& stuck) const {
    const double low = std::min(low_.t, high_.t), high = std::max(low_.t, high_.t);
    const double t = least_of_cubic(low_, high_, low, high), margin = 0.1 * (high - low);
    if (std::min(high - t, t - low) >= margin) {
      stuck = false;
      return t;
    }
    if (!stuck && t < high && t > low) {
      stuck = true;
      return t;
    }
    stuck = false;
    return std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
  }

  const std::function<LinePoint(double)>& evaluate_;
  const LinePoint& start_;
  const double largest_;
  int64_t left_, evaluations_ = 0;
  LinePoint low_, high_;
  bool done_ = false;
};

}  // namespace

LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate,
                              const LinePoint& start, double t, double largest_direction,
                              int64_t max_iterations) {
  return Search(evaluate, start, largest_direction, max_iterations).run(t);
}

}  // namespace tenon::optim
