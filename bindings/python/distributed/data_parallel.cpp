#include "bindings/python/distributed/imports.h"
#include "runtime/distributed/ddp/distributed_sampler.h"
#include "runtime/distributed/ddp/power_sgd.h"
#include "runtime/distributed/ddp/replica.h"
#include "runtime/distributed/ddp/sync_batch_norm.h"

namespace tenon::python {

using distributed::CommHook;
using distributed::DdpTimeline;
using distributed::GradBucket;
using distributed::detail::Replica;

namespace {

using Unlocked = nb::gil_scoped_release;
using Named = Replica::Named;

/// What a hook of C++ gives, in Python: run() must be called at the end of backward.
struct Finish {
  std::function<void()> run;
};

/// A hook written in Python, hook(state, bucket) -> Future of the reduced buffer.
CommHook python_hook(nb::object state, nb::callable hook) {
  return [state = keep(state), hook = keep(hook)](const GradBucket& bucket) {
    const nb::gil_scoped_acquire locked;
    const Kept future = keep(nb::handle(hook.get())(nb::handle(state.get()), bucket));
    TENON_CHECK_TYPE(PyObject_HasAttrString(future.get(), "wait"),
                     "[register_comm_hook] a hook must return a Future, got ",
                     Py_TYPE(future.get())->tp_name);
    return std::function<void()>([future, buffer = bucket.buffer] {
      const nb::gil_scoped_acquire locked_too;
      nb::module_::import_("tenon.distributed._ddp")
          .attr("_take_reduced")(buffer, nb::handle(future.get()));
    });
  };
}

void add_hooks(nb::module_& module) {
  nb::class_<Finish>(module, "_Finish")
      .def(
          "__call__", [](const Finish& f) { f.run(); }, nb::call_guard<Unlocked>());
  nb::class_<GradBucket>(module, "GradBucket", "Gradients that are reduced together.")
      .def("index", [](const GradBucket& b) { return b.index; })
      .def("is_last", [](const GradBucket& b) { return b.is_last; })
      .def("buffer", [](const GradBucket& b) { return b.buffer; })
      .def("gradients", [](const GradBucket& b) { return b.gradients; })
      .def("parameters", [](const GradBucket& b) { return b.parameters; })
      .def("set_buffer",
           [](GradBucket& b, const Tensor& buffer) {
             TENON_CHECK_VALUE(buffer.defined() && buffer.sizes() == b.buffer.sizes(),
                               "[set_buffer] expected the shape ", b.buffer.sizes());
             b.buffer = buffer;
           })
      .def("_group",
           [](const GradBucket& b) {
             return Group{b.group, "of the bucket"};
           })
      .def(
          "_for_group",
          [](const GradBucket& b, const Group* group) {
            GradBucket other = b;
            if (group) other.group = group->get();
            return other;
          },
          nb::arg("group").none());
  nb::class_<CommHook>(module, "_CommHook")
      .def(
          "__call__",
          [](const CommHook& hook, const GradBucket& bucket) { return Finish{hook(bucket)}; },
          nb::call_guard<Unlocked>());
  using distributed::PowerSGDState;
  nb::class_<PowerSGDState>(module, "_PowerSGDState")
      .def(
          "__init__",
          [](PowerSGDState* place, int64_t rank, int64_t start, double min_rate, bool feedback,
             bool warm_start, double epsilon, uint64_t seed) {
            new (place) PowerSGDState({rank, start, min_rate, feedback, warm_start, epsilon, seed});
          })
      .def_prop_ro("iteration", &PowerSGDState::iteration)
      .def_prop_ro("numel_before", &PowerSGDState::numel_before)
      .def_prop_ro("numel_after", &PowerSGDState::numel_after)
      .def("factors", &PowerSGDState::factors)
      .def("error", &PowerSGDState::error)
      .def("state_dict",
           [](const PowerSGDState& state) {
             nb::dict dict;
             for (const auto& [key, value] : state.state_dict()) dict[key.c_str()] = value;
             return dict;
           })
      .def("load_state_dict", [](PowerSGDState& state, const nb::dict& dict) {
        std::map<std::string, Tensor> all;
        for (const auto& [key, value] : dict)
          all[nb::cast<std::string>(key)] = nb::cast<Tensor>(value);
        state.load_state_dict(all);
      });
  module.def("_powerSGD_hook", &distributed::powerSGD_hook);
  module.def("_allreduce_hook", &distributed::allreduce_hook);
  module.def("_fp16_compress_hook", &distributed::fp16_compress_hook);
  module.def("_bf16_compress_hook", &distributed::bf16_compress_hook);
}

}  // namespace

void add_data_parallel(nb::module_& module) {
  add_hooks(module);
  nb::class_<DdpTimeline>(module, "DdpTimeline",
                          "What an iteration did, in nanoseconds since its backward pass began.")
      .def_ro("bucket_bytes", &DdpTimeline::bucket_bytes)
      .def_ro("launched", &DdpTimeline::launched)
      .def_ro("reduced", &DdpTimeline::reduced)
      .def_ro("forward", &DdpTimeline::forward)
      .def_ro("began", &DdpTimeline::began)
      .def("communication", &DdpTimeline::communication)
      .def("overlap", &DdpTimeline::overlap)
      .def_ro("last_gradient", &DdpTimeline::last_gradient)
      .def_ro("finished", &DdpTimeline::finished)
      .def_ro("ready_order", &DdpTimeline::ready_order);
  nb::class_<Replica>(module, "_Replica")
      .def(
          "__init__",
          [](Replica* place, const std::string& name, Named parameters, const Named& buffers,
             const Group* group, double bucket_cap_mb, bool find_unused_parameters,
             bool static_graph, bool broadcast_buffers, bool gradient_as_bucket_view,
             bool init_sync) {
            distributed::DistributedDataParallelOptions options;
            options.group = group_of(group);
            options.bucket_cap_mb = bucket_cap_mb;
            options.find_unused_parameters = find_unused_parameters;
            options.static_graph = static_graph;
            options.broadcast_buffers = broadcast_buffers;
            options.gradient_as_bucket_view = gradient_as_bucket_view;
            options.init_sync = init_sync;
            const Unlocked unlocked;
            new (place) Replica(name, std::move(parameters), buffers, options);
          },
          nb::arg("name"), nb::arg("parameters"), nb::arg("buffers"), nb::arg("group").none(),
          nb::arg("bucket_cap_mb"), nb::arg("find_unused_parameters"), nb::arg("static_graph"),
          nb::arg("broadcast_buffers"), nb::arg("gradient_as_bucket_view"), nb::arg("init_sync"))
      .def_prop_ro("requires_grad_sync", &Replica::requires_grad_sync)
      .def("before_forward", &Replica::before_forward, nb::call_guard<Unlocked>())
      .def("prepare_for_backward", &Replica::prepare_for_backward)
      .def_prop_rw("sync", &Replica::sync, &Replica::set_sync)
      .def("begin_join",
           [](Replica& r, bool divide_by_initial_world_size, bool throw_on_early_termination) {
             r.begin_join({divide_by_initial_world_size, throw_on_early_termination});
           })
      .def("finish_join", &Replica::finish_join, nb::call_guard<Unlocked>())
      .def("shadow_iteration", &Replica::shadow_iteration, nb::call_guard<Unlocked>())
      .def("agree_with_last", &Replica::agree_with_last, nb::call_guard<Unlocked>())
      .def("end_join", &Replica::end_join)
      .def("register_native_hook",
           [](Replica& r, const CommHook& hook) { r.reducer().register_comm_hook(hook); })
      .def(
          "register_python_hook",
          [](Replica& r, nb::object state, nb::callable hook) {
            r.reducer().register_comm_hook(python_hook(state, hook));
          },
          nb::arg("state").none(), nb::arg("hook"))
      .def("timeline", [](const Replica& r) { return r.reducer().timeline(); })
      .def("buckets", [](const Replica& r) { return r.reducer().buckets(); });
  module.def(
      "_sync_batch_norm",
      [](const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
         const Tensor& running_var, double momentum, double eps, const Group* group) {
        return distributed::sync_batch_norm(input, weight, bias, running_mean, running_var,
                                            momentum, eps, group_of(group));
      },
      nb::arg("input"), nb::arg("weight").none(), nb::arg("bias").none(),
      nb::arg("running_mean").none(), nb::arg("running_var").none(), nb::arg("momentum"),
      nb::arg("eps"), nb::arg("group").none(), nb::call_guard<Unlocked>());
  module.def("_sampler_indices", [](int64_t size, int replicas, int rank, bool shuffle,
                                    uint64_t seed, bool drop_last, int64_t epoch) {
    distributed::DistributedSampler sampler(size, {replicas, rank, shuffle, seed, drop_last});
    sampler.set_epoch(epoch);
    return sampler.indices();
  });
}

}  // namespace tenon::python
