#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/profiler/recorder.h"

namespace tenon::profiler {
namespace {

using nlohmann::json;

double microseconds(int64_t ns) { return static_cast<double>(ns) / 1e3; }

json common(const char* phase, double ts) {
  return {{"ph", phase}, {"pid", 0}, {"tid", 0}, {"ts", ts}};
}

const char* category(EventKind kind) {
  switch (kind) {
  case EventKind::Operator: return "cpu_op";
  case EventKind::Backward: return "backward";
  case EventKind::Range: break;
  }
  return "user_annotation";
}

json span(const Event& e, const ProfileOptions& options) {
  json j = common("X", microseconds(e.start_ns));
  j["name"] = e.name;
  j["cat"] = category(e.kind);
  j["dur"] = microseconds(e.total_ns());
  json& args = j["args"] = json::object();
  if (e.kind == EventKind::Operator) args["Device"] = tenon::detail::concat(e.device);
  if (options.record_shapes) args["Input Dims"] = e.shapes;
  if (options.profile_memory) args["Bytes"] = e.bytes;
  if (e.flops > 0) args["FLOPs"] = e.flops;
  return j;
}

/// An arrow from a forward call to its backward node.
void add_arrow(json& events, size_t id, const Event& from, const Event& to) {
  for (const auto& [phase, event] : {std::pair{"s", &from}, std::pair{"f", &to}}) {
    json j = common(phase, microseconds(event->start_ns));
    j["name"] = j["cat"] = "fwdbwd";
    j["id"] = id;
    if (*phase == 'f') j["bp"] = "e";
    events.push_back(std::move(j));
  }
}

}  // namespace

void Profile::export_chrome_trace(const std::string& path) const {
  const Recorder& recorder = recorded("export_chrome_trace");
  json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", json::array()}};
  json& events = trace["traceEvents"];
  for (size_t i = 0; i < recorder.events.size(); ++i) {
    const Event& e = recorder.events[i];
    events.push_back(span(e, recorder.options));
    if (e.forward != Event::kNone) add_arrow(events, i, recorder.events[e.forward], e);
    if (!recorder.options.profile_memory) continue;
    json memory = common("C", microseconds(e.end_ns));
    memory["name"] = "memory";
    memory["args"] = {{"bytes", e.live_bytes}};
    events.push_back(std::move(memory));
  }
  std::ofstream out(path, std::ios::trunc);
  out << trace.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  TENON_CHECK(out.flush(), "[Profile::export_chrome_trace] cannot write ", path);
}

}  // namespace tenon::profiler
