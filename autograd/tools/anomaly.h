#pragma once

#include <atomic>

#include "autograd/engine/node.h"

namespace tenon::autograd {

/// Finds the operation whose backward fails. While it is on, in all threads, each recorded
/// operation keeps the calls that led to it; when its backward throws, or, with check_nan, gives
/// NaN, these are printed on the standard error stream, and those of the operation whose backward
/// recorded it, and so on. NaN is an error: "Function 'SqrtBackward0' returned nan values in its
/// 0th output." Slow.
class TENON_API AnomalyMode {
 public:
  static bool is_enabled() { return enabled_.load(std::memory_order_relaxed); }
  static bool should_check_nan() { return check_nan_.load(std::memory_order_relaxed); }
  static void set_enabled(bool enabled, bool check_nan = true) {
    check_nan_ = check_nan;
    enabled_ = enabled;
  }

 private:
  static constinit std::atomic<bool> enabled_;
  static constinit std::atomic<bool> check_nan_;
};

/// Anomaly mode until the end of the scope.
class DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool check_nan = true)
      : was_enabled_(AnomalyMode::is_enabled()), checked_nan_(AnomalyMode::should_check_nan()) {
    AnomalyMode::set_enabled(true, check_nan);
  }
  ~DetectAnomalyGuard() { AnomalyMode::set_enabled(was_enabled_, checked_nan_); }
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  bool was_enabled_;
  bool checked_nan_;
};

/// What a user keeps with the node, whether the mode is on or not; empty at first.
TENON_API std::shared_ptr<void>& metadata_of(Node& node);
/// Keeps the calls that led here with the node.
TENON_API void keep_calls_of(Node& node);
/// node.apply(), watched.
variable_list apply_in_anomaly_mode(Node& node, variable_list&& grads);

}  // namespace tenon::autograd
