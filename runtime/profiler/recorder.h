#pragma once

#include <chrono>
#include <mutex>
#include <thread>

#include "aten/dispatch/value.h"
#include "autograd/engine/node.h"
#include "runtime/profiler/profiler.h"

namespace tenon::profiler {

/// What a Profile collects. Only the thread that profiles writes.
class Profile::Recorder {
 public:
  explicit Recorder(ProfileOptions options);

  size_t begin(std::string_view name, EventKind kind);
  void end(size_t event);
  /// Notes what the arguments at the end of the stack are.
  void note_arguments(size_t event, const Value* arguments, size_t count);
  void note_result(size_t event, const Stack& stack, size_t first);
  void note_forward(size_t event, const autograd::Node& node);
  /// Sorts out what belongs to what.
  void finish();

  const ProfileOptions options;
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<Event> events;
  bool stopped = false;

 private:
  int64_t now() const;

  /// The nodes that a forward call has recorded: [first, last) of the thread's sequence.
  struct Recorded {
    uint64_t first, last;
    size_t event;
  };

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<size_t> open_;        ///< events that have not ended, the innermost last
  std::vector<uint64_t> sequence_;  ///< of each open event, the thread's number at its start
  std::vector<Recorded> recorded_;  ///< in order
};

}  // namespace tenon::profiler
