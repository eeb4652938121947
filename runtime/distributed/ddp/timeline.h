#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "aten/core/macros.h"

namespace tenon::distributed {

/// What an iteration did, in nanoseconds since its backward pass began.
struct DdpTimeline {
  std::vector<size_t> bucket_bytes;
  std::vector<int64_t> launched;    ///< of each bucket: when its reduction began
  std::vector<int64_t> reduced;     ///< of each bucket: when it was done
  int64_t last_gradient = 0;        ///< when the last gradient was there
  int64_t finished = 0;             ///< when all reductions were done
  std::vector<size_t> ready_order;  ///< numbers of parameters
  int64_t forward = 0;              ///< how long before it the forward call began
  int64_t began = 0;                ///< of the steady clock: when the backward pass did

  /// How long a reduction was under way, and how much of that was before the last gradient: hidden.
  TENON_API int64_t communication() const;
  TENON_API int64_t overlap() const;
};

namespace detail {

/// Appends iterations to FOLDER/ddp_rank_<rank>.json as events of a Chrome trace, one a line: the
/// forward call, the backward pass, and the reduction of each bucket beside it. The first ten, then
/// every hundredth. An array that is not closed is what viewers of traces expect of a log.
class TimelineLog {
 public:
  /// FOLDER is TENON_DDP_TRACE; without it nothing is written. OSError if the file cannot be made.
  explicit TimelineLog(int rank);
  void add(const DdpTimeline& timeline);

 private:
  void event(const std::string& name, int thread, int64_t begin, int64_t end,
             const std::string& arguments);

  const int rank_;
  const int number_;  // of the model, among those of this process
  int64_t iteration_ = 0;
  std::ofstream file_;
};

}  // namespace detail

}  // namespace tenon::distributed
