#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>

#include "autograd/autocast.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"
#include "runtime/profiler/profiler.h"

/// What a thread can switch on: autocast and the profiler. The Python side closes what it opens, in
/// reverse.
namespace tenon::python {
namespace {

using profiler::Average;
using profiler::Event;
using profiler::Profile;
using profiler::ProfileOptions;

struct AutocastScope {
  std::optional<autocast::AutocastGuard> guard;
};

DeviceType type_of_device(nb::handle device) {
  TENON_CHECK_TYPE(is_device(device.ptr()), "expected a device type such as 'cpu'");
  return device_of(device.ptr()).type();
}

void add_autocast(nb::module_& module) {
  nb::class_<AutocastScope>(module, "_AutocastScope").def("close", [](AutocastScope& scope) {
    scope.guard.reset();
  });
  module.def(
      "_open_autocast",
      [](nb::handle device, nb::handle type, bool enabled, bool cache) {
        TENON_CHECK_TYPE(type.is_none() || is_dtype(type.ptr()), "autocast: dtype must be a dtype");
        std::optional<ScalarType> dtype;
        if (!type.is_none()) dtype = dtype_of(type.ptr());
        auto scope = std::make_unique<AutocastScope>();
        scope->guard.emplace(type_of_device(device), dtype, enabled, cache);
        return scope;
      },
      nb::arg("device_type"), nb::arg("dtype").none(), nb::arg("enabled"),
      nb::arg("cache_enabled"));
  module.def(
      "is_autocast_enabled",
      [](nb::handle device) { return autocast::is_enabled(type_of_device(device)); },
      nb::arg("device_type") = "cuda");
  module.def("get_autocast_dtype", [](nb::handle device) {
    return nb::steal(wrap(autocast::dtype(type_of_device(device))));
  });
  module.def("is_autocast_cache_enabled", &autocast::is_cache_enabled);
  module.def("clear_autocast_cache", &autocast::clear_cache);
}

void add_profiler(nb::module_& module) {
  nb::class_<Event>(module, "_ProfilerEvent")
      .def_ro("name", &Event::name)
      .def_ro("start_ns", &Event::start_ns)
      .def_ro("end_ns", &Event::end_ns)
      .def_ro("bytes", &Event::bytes)
      .def_ro("live_bytes", &Event::live_bytes)
      .def_ro("flops", &Event::flops)
      .def_ro("input_shapes", &Event::shapes)
      .def_prop_ro("kind",
                   [](const Event& e) {
                     constexpr const char* kNames[] = {"operator", "backward", "range"};
                     return kNames[static_cast<int>(e.kind)];
                   })
      .def_prop_ro("device_type",
                   [](const Event& e) { return tenon::detail::concat(Device(e.device.type())); })
      .def_prop_ro("parent",
                   [](const Event& e) {
                     return e.parent == Event::kNone ? std::optional<size_t>() : e.parent;
                   })
      .def_prop_ro("forward",
                   [](const Event& e) {
                     return e.forward == Event::kNone ? std::optional<size_t>() : e.forward;
                   })
      .def_prop_ro("cpu_time_total", [](const Event& e) { return e.total_ns() / 1e3; })
      .def_prop_ro("self_cpu_time_total", [](const Event& e) { return e.self_ns() / 1e3; });
  nb::class_<Average>(module, "_ProfilerAverage")
      .def_ro("key", &Average::name)
      .def_ro("count", &Average::count)
      .def_ro("input_shapes", &Average::shapes)
      .def_ro("cpu_memory_usage", &Average::bytes)
      .def_ro("peak_memory", &Average::peak_live_bytes)
      .def_ro("flops", &Average::flops)
      .def_prop_ro("cpu_time_total", [](const Average& a) { return a.total_ns / 1e3; })
      .def_prop_ro("self_cpu_time_total", [](const Average& a) { return a.self_ns / 1e3; });
  nb::class_<Profile>(module, "_Profile")
      .def("__init__",
           [](Profile* place, bool record_shapes, bool profile_memory, bool with_flops) {
             new (place) Profile(ProfileOptions{record_shapes, profile_memory, with_flops});
           })
      .def("stop", &Profile::stop)
      .def("events", &Profile::events)
      .def("averages", &Profile::averages)
      .def("table",
           [](const Profile& profile, int sort, size_t rows, bool by_shapes) {
             return profile.table(static_cast<profiler::SortBy>(sort), rows, by_shapes);
           })
      .def("export_chrome_trace", &Profile::export_chrome_trace)
      .def("export_svg", &Profile::export_svg);
  nb::class_<profiler::RecordFunction>(module, "_RecordFunction");
  module.def("_record_function", [](const std::string& name) {
    return std::make_unique<profiler::RecordFunction>(name);
  });
}

}  // namespace

void add_modes(nb::module_& module) {
  add_autocast(module);
  add_profiler(module);
}

}  // namespace tenon::python
