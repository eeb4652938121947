#include "runtime/profiler/profiler.h"

#include <algorithm>
#include <atomic>

#include "aten/core/allocator.h"
#include "aten/dispatch/operator_mode.h"
#include "aten/dispatch/registration.h"
#include "autograd/engine/node_observer.h"
#include "runtime/profiler/recorder.h"

namespace tenon::profiler {
namespace {

using Recorder = Profile::Recorder;

thread_local std::shared_ptr<Recorder> current;

/// An event until the end of the scope.
class Scope {
 public:
  Scope(Recorder& recorder, std::string_view name, EventKind kind)
      : recorder_(recorder), event_(recorder.begin(name, kind)) {}
  ~Scope() { recorder_.end(event_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  size_t event() const { return event_; }

 private:
  Recorder& recorder_;
  const size_t event_;
};

/// Records the operators of a thread that profiles.
class Recording final : public OperatorMode {
 public:
  void call(const OperatorEntry& op, Stack& stack) override {
    const std::shared_ptr<Recorder> recorder = current;
    if (!recorder) return op.call_boxed(stack);
    const size_t arguments = schema_of(op)->args.size();
    const size_t first = stack.size() - arguments;
    const Scope scope(*recorder, op.qualified_name(), EventKind::Operator);
    recorder->note_arguments(scope.event(), stack.data() + first, arguments);
    op.call_boxed(stack);
    recorder->note_result(scope.event(), stack, first);
  }
};

void before_node(const autograd::Node& node) {
  if (!current) return;
  current->note_forward(current->begin(node.name(), EventKind::Backward), node);
}
void after_node(const autograd::Node&) noexcept {
  if (current) current->end(Event::kNone);
}
constexpr autograd::NodeObserver kObserver = {before_node, after_node};

/// Nodes are observed while someone profiles.
class ObservedNodes {
 public:
  ObservedNodes() {
    const std::lock_guard lock(mutex());
    if (users()++ == 0) autograd::node_observer = &kObserver;
  }
  ~ObservedNodes() {
    const std::lock_guard lock(mutex());
    if (--users() == 0) autograd::node_observer = nullptr;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static int& users() {
    static int instance = 0;
    return instance;
  }
};

/// What a thread that profiles has.
struct Profiling {
  ObservedNodes nodes;
  Recording mode;
  OperatorModeGuard guard{mode};
};

thread_local std::unique_ptr<Profiling> profiling;

}  // namespace

Recorder::Recorder(ProfileOptions options) : options(options) {}

int64_t Recorder::now() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                              start_)
      .count();
}

size_t Recorder::begin(std::string_view name, EventKind kind) {
  const size_t event = events.size();
  Event& e = events.emplace_back();
  e.name = name;
  e.kind = kind;
  if (!open_.empty()) e.parent = open_.back();
  if (options.profile_memory) e.bytes = -static_cast<int64_t>(memory::stats().live_bytes);
  open_.push_back(event);
  sequence_.push_back(autograd::next_sequence_nr);
  e.start_ns = now();
  return event;
}

/// `event` or, without it, the innermost one. What was left open within it ends as well.
void Recorder::end(size_t event) {
  const int64_t end_ns = now();
  while (!open_.empty()) {
    const size_t last = open_.back();
    Event& e = events[last];
    e.end_ns = end_ns;
    if (options.profile_memory) {
      e.live_bytes = static_cast<int64_t>(memory::stats().live_bytes);
      e.bytes += e.live_bytes;
    }
    if (e.parent != Event::kNone) events[e.parent].children_ns += e.total_ns();
    if (e.kind == EventKind::Operator && sequence_.back() != autograd::next_sequence_nr)
      recorded_.push_back({sequence_.back(), autograd::next_sequence_nr, last});
    open_.pop_back();
    sequence_.pop_back();
    if (event == Event::kNone || last == event) break;
  }
}

void Recorder::note_arguments(size_t event, const Value* arguments, size_t count) {
  Event& e = events[event];
  bool found = false;
  const auto note = [&](const TensorBase& t) {
    if (!found && t.defined()) e.device = t.device(), found = true;
    if (options.record_shapes || options.with_flops)
      e.shapes.push_back(t.defined() ? t.sizes().vec() : std::vector<int64_t>());
  };
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].is_tensor()) note(arguments[i].to_tensor());
    if (!arguments[i].is_tensor_list()) continue;
    for (const TensorBase& t : arguments[i].to_tensors()) note(t);
  }
  e.start_ns = now();
}

void Recorder::note_result(size_t event, const Stack& stack, size_t first) {
  if (!options.with_flops || first >= stack.size() || !stack[first].is_tensor()) return;
  Event& e = events[event];
  e.flops = flops(e.name, e.shapes, stack[first].to_tensor().sizes().vec());
}

void Recorder::note_forward(size_t event, const autograd::Node& node) {
  const uint64_t nr = node.sequence_nr();
  const auto after =
      std::upper_bound(recorded_.begin(), recorded_.end(), nr,
                       [](uint64_t n, const Recorded& call) { return n < call.first; });
  if (after == recorded_.begin()) return;
  const Recorded& call = *std::prev(after);
  if (nr < call.last && !node.is_accumulator()) events[event].forward = call.event;
}

void Recorder::finish() {
  if (!open_.empty()) end(open_.front());
  stopped = true;
}

Profile::Profile(ProfileOptions options) {
  TENON_CHECK(!current, "[Profile] this thread profiles already");
  recorder_ = std::make_shared<Recorder>(options);
  current = recorder_;
  profiling = std::make_unique<Profiling>();
}

Profile::~Profile() {
  if (!recorder_->stopped && recorder_->thread == std::this_thread::get_id()) stop();
}

void Profile::stop() {
  if (recorder_->stopped) return;
  TENON_CHECK(recorder_->thread == std::this_thread::get_id(),
              "[Profile::stop] must be called on the thread that made the profile");
  profiling.reset();
  current.reset();
  recorder_->finish();
}

const Recorder& Profile::recorded(const char* what) const {
  TENON_CHECK(recorder_->stopped, "[Profile::", what, "] call stop() first");
  return *recorder_;
}

const std::vector<Event>& Profile::events() const { return recorded("events").events; }

RecordFunction::RecordFunction(std::string_view name) : recorder_(current) {
  if (recorder_) event_ = recorder_->begin(name, EventKind::Range);
}

RecordFunction::~RecordFunction() {
  if (recorder_ && recorder_ == current) recorder_->end(event_);
}

}  // namespace tenon::profiler
