#pragma once

#include <functional>

#include "tenon/tensor.h"

namespace tenon::optim {

/// A point x + t d of a line search.
struct LinePoint {
  double t = 0;
  double loss = 0;
  Tensor grad;       ///< flat
  double slope = 0;  ///< grad . d
};

struct LineSearchResult {
  LinePoint point;
  int64_t evaluations = 0;
};

/// A step size t from `t` on that fulfils the strong Wolfe conditions, with c1 = 1e-4 and c2 = 0.9:
/// first an interval that holds one is looked for, then it is made smaller by cubic interpolation
/// (Nocedal and Wright, Numerical optimization, algorithms 3.5 and 3.6). The best point found after
/// `max_iterations` of both, or when the interval moves x by less than 1e-9.
LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate,
                              const LinePoint& start, double t, double largest_direction,
                              int64_t max_iterations);

}  // namespace tenon::optim
