#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// A line such as "lenet.pt   45% [======>       ]  12.3/27.4 MB  5.2 MB/s". Without a total there
/// are only bytes and speed.
TENON_API std::string progress_line(const std::string& name, uint64_t done,
                                    std::optional<uint64_t> total, double bytes_per_second);

/// A bar on the standard error stream, drawn at most ten times a second. Where that stream is no
/// terminal nothing is drawn.
class TENON_API ProgressBar {
 public:
  ProgressBar(std::string name, bool enabled);
  /// Ends the line.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(uint64_t done, std::optional<uint64_t> total);
  /// Writes a line of text above the bar.
  void note(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  std::string name_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
  std::optional<uint64_t> first_;
};

}  // namespace tenon::serialization
