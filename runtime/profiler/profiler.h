#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/device.h"
#include "aten/core/macros.h"

/// Which operators a program runs, how long they take, on what, and with how much memory:
///
///     profiler::Profile profile({.record_shapes = true});
///     model->forward(x).sum().backward();
///     profile.stop();
///     std::cout << profile.table();
///     profile.export_chrome_trace("trace.json");  // for chrome://tracing or ui.perfetto.dev
///
/// A program that does not profile pays nothing for this: a call looks its kernel up in the same
/// way.
namespace tenon::profiler {

struct ProfileOptions {
  bool record_shapes = false;   ///< keep the sizes of tensor arguments
  bool profile_memory = false;  ///< bytes that operators allocate and give back; see Event::bytes
  bool with_flops = false;      ///< of products and convolutions; keeps shapes, too
};

enum class EventKind : uint8_t {
  Operator,  ///< a call of an operator; those that its kernel makes are part of it
  Backward,  ///< a node that a backward pass runs
  Range,     ///< a RecordFunction
};

/// Something that took time.
struct Event {
  static constexpr size_t kNone = SIZE_MAX;

  std::string name;  ///< "aten::add.Tensor", "AddBackward0" or a range's
  EventKind kind = EventKind::Operator;
  int64_t start_ns = 0;  ///< since the profile began
  int64_t end_ns = 0;
  size_t parent = kNone;                     ///< the event within which this one happened
  int64_t children_ns = 0;                   ///< time of the events directly within this one
  Device device = kCPU;                      ///< of the first tensor argument
  std::vector<std::vector<int64_t>> shapes;  ///< of tensor arguments, in order; no sizes for none
  /// What large blocks (over memory::kMaxSmall bytes) took in the meantime, of all threads, less
  /// what was given back.
  int64_t bytes = 0;
  int64_t live_bytes = 0;  ///< large blocks in use at the end
  int64_t flops = 0;       ///< 0 where not known
  /// For a backward node, the forward call that recorded it, if that was profiled.
  size_t forward = kNone;

  int64_t total_ns() const { return end_ns - start_ns; }
  int64_t self_ns() const { return total_ns() - children_ns; }
};

/// Events of one name (and shapes, if these were asked for) together.
struct Average {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;
  int64_t count = 0;
  int64_t self_ns = 0, total_ns = 0;
  int64_t bytes = 0, peak_live_bytes = 0;
  int64_t flops = 0;
};

enum class SortBy { SelfTime, TotalTime, Count, Bytes };

/// Profiles calls of the thread that makes it, and the backward passes that run on it, until stop()
/// or its end. Times are the host's; work that a GPU is given runs on after its call has ended.
class TENON_API Profile {
 public:
  /// Error if this thread profiles already.
  explicit Profile(ProfileOptions options = {});
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  /// On the thread that made the profile; Error on another. A second call does nothing.
  void stop();

  /// In order of their starts. Error before stop().
  const std::vector<Event>& events() const;
  /// By name, or by name and shapes.
  std::vector<Average> averages(bool by_shapes = false) const;
  /// Columns of PyTorch's key_averages().table(). At most `rows` rows, the largest first.
  std::string table(SortBy sort = SortBy::SelfTime, size_t rows = 100,
                    bool by_shapes = false) const;
  /// In the Trace Event Format, with arrows from forward calls to their backward nodes and, with
  /// profile_memory, the memory in use over time. Error, with the path, if it cannot be written.
  void export_chrome_trace(const std::string& path) const;
  /// The same as a picture for a browser: events along the time, those within others beneath them,
  /// and the memory. What the pointer is over says its name, times and shapes. Error as above.
  void export_svg(const std::string& path) const;

  class Recorder;

 private:
  /// What was recorded; Error if recording goes on.
  const Recorder& recorded(const char* what) const;

  std::shared_ptr<Recorder> recorder_;
};

/// A named range of the program, until the end of the scope. Nothing where nobody profiles.
class TENON_API RecordFunction {
 public:
  explicit RecordFunction(std::string_view name);
  ~RecordFunction();
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;

 private:
  std::shared_ptr<Profile::Recorder> recorder_;
  size_t event_ = 0;
};

/// Floating-point operations of a call, a multiplication and an addition being two; 0 if not known.
/// `name` as in Event; shapes of the tensor arguments and of the first result.
TENON_API int64_t flops(std::string_view name, const std::vector<std::vector<int64_t>>& shapes,
                        const std::vector<int64_t>& result);

}  // namespace tenon::profiler
