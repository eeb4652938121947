#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"
#include "tenon/config.h"
#if TENON_HAS_CUDA
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_device.h"
#include "aten/cuda/stream.h"
#endif

/// What the build has, and GPUs: devices, streams, events, memory. tenon.cuda and tenon.backends
/// are written on these.
namespace tenon::python {
namespace {

#if TENON_HAS_CUDA
void add_devices(nb::module_& module) {
  module.def("device_count", &cuda::device_count);
  module.def("current_device", [] { return int{cuda::current_device()}; });
  module.def("set_device", [](int index) { cuda::set_device(static_cast<DeviceIndex>(index)); });
  module.def("default_generator", [](int index) {
    const auto device = static_cast<DeviceIndex>(index);
    return nb::steal(wrap(default_generator(Device(kCUDA, device))));
  });
  module.def("synchronize", [](int index) {
    nb::gil_scoped_release others_run;
    cuda::synchronize(static_cast<DeviceIndex>(index));
  });
  module.def("properties", [](int index) {
    const cuda::DeviceProperties& p = cuda::device_properties(static_cast<DeviceIndex>(index));
    nb::dict result;
    result["name"] = nb::str(p.name.c_str());
    result["major"] = p.major;
    result["minor"] = p.minor;
    result["total_memory"] = p.total_memory;
    result["multi_processor_count"] = p.multiprocessors;
    result["max_threads_per_multi_processor"] = p.threads_per_multiprocessor;
    result["shared_memory_per_block"] = p.shared_memory_per_block;
    return result;
  });
}

void add_memory(nb::module_& module) {
  module.def("empty_cache", &cuda::empty_cache);
  module.def("reset_peak_memory_stats",
             [](int index) { cuda::reset_peak_memory_stats(static_cast<DeviceIndex>(index)); });
  module.def("memory_stats", [](int index) {
    const cuda::MemoryStats stats = cuda::memory_stats(static_cast<DeviceIndex>(index));
    nb::dict result;
    result["allocated_bytes.all.current"] = stats.allocated_bytes;
    result["allocated_bytes.all.peak"] = stats.peak_allocated_bytes;
    result["reserved_bytes.all.current"] = stats.allocated_bytes + stats.cached_bytes;
    result["allocation.all.allocated"] = stats.allocations;
    result["num_device_alloc"] = stats.driver_allocations;
    return result;
  });
  module.def("record_stream", [](const Tensor& tensor, const cuda::Stream& stream) {
    cuda::record_stream(tensor, stream);
  });
}

void add_streams(nb::module_& module) {
  nb::class_<cuda::Stream>(module, "Stream")
      .def("synchronize",
           [](const cuda::Stream& s) {
             nb::gil_scoped_release others_run;
             s.synchronize();
           })
      .def("query", &cuda::Stream::query)
      .def("__eq__",
           [](const cuda::Stream& a, nb::handle b) {
             return nb::isinstance<cuda::Stream>(b) && a == nb::cast<cuda::Stream>(b);
           })
      .def("__hash__", [](const cuda::Stream& s) { return std::hash<const void*>()(s.handle()); })
      .def_prop_ro("device", [](const cuda::Stream& s) { return nb::steal(wrap(s.device())); })
      .def_prop_ro("cuda_stream",
                   [](const cuda::Stream& s) { return reinterpret_cast<uintptr_t>(s.handle()); });
  nb::class_<cuda::Event>(module, "Event")
      .def(nb::init<bool>())
      .def("record", &cuda::Event::record)
      .def("wait", &cuda::Event::wait)
      .def("query", &cuda::Event::query)
      .def("synchronize",
           [](const cuda::Event& event) {
             nb::gil_scoped_release others_run;
             event.synchronize();
           })
      .def("elapsed_time", &cuda::Event::elapsed_time);
  module.def("current_stream",
             [](int index) { return cuda::current_stream(static_cast<DeviceIndex>(index)); });
  module.def("default_stream",
             [](int index) { return cuda::default_stream(static_cast<DeviceIndex>(index)); });
  module.def("set_stream", [](const cuda::Stream& stream) { cuda::set_current_stream(stream); });
  module.def("stream_from_pool", [](bool high_priority, int index) {
    return cuda::stream_from_pool(high_priority, static_cast<DeviceIndex>(index));
  });
}
#endif

}  // namespace

void add_cuda(nb::module_& module) {
  nb::dict has;
  has["cuda"] = bool{TENON_HAS_CUDA};
  has["onednn"] = bool{TENON_HAS_ONEDNN};
  has["openmp"] = bool{TENON_HAS_OPENMP};
#if TENON_HAS_CUDA
  has["cuda_version"] = nb::str(TENON_CUDA_VERSION);
#else
  has["cuda_version"] = nb::none();
#endif
  module.attr("_has") = has;
#if TENON_HAS_CUDA
  nb::module_ part = module.def_submodule("_cuda");
  add_devices(part);
  add_memory(part);
  add_streams(part);
#endif
}

}  // namespace tenon::python
