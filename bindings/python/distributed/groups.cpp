#include "bindings/python/distributed/imports.h"

namespace tenon::python {

using distributed::CallOptions;
using distributed::Milliseconds;
using distributed::ReduceOp;
using distributed::WorkPtr;

namespace {

using Unlocked = nb::gil_scoped_release;

/// A collective that has begun, in Python.
struct PyWork {
  WorkPtr work;
  Tensors result;  ///< what get_future() gives
  /// A message is received by who waits for it, through its group.
  std::optional<std::weak_ptr<distributed::ProcessGroup>> group = {};

  distributed::GroupPtr lock() const {
    if (!group) return nullptr;
    distributed::GroupPtr locked = group->lock();
    TENON_CHECK_AS(distributed::DistBackendError, locked,
                   "[recv] the process group has been destroyed");
    return locked;
  }
};

CallOptions options(bool async_op) { return {.async_op = async_op}; }

nb::list to_bytes(const std::vector<std::string>& all) {
  nb::list list;
  for (const std::string& one : all) list.append(nb::bytes(one.data(), one.size()));
  return list;
}
std::string text_of(nb::bytes bytes) { return {bytes.c_str(), bytes.size()}; }
std::vector<std::string> texts_of(const std::vector<nb::bytes>& all) {
  std::vector<std::string> list;
  for (const nb::bytes& one : all) list.push_back(text_of(one));
  return list;
}

void add_work(nb::module_& module) {
  nb::class_<PyWork>(module, "Work", "A collective that has begun.")
      .def(
          "wait",
          [](const PyWork& w, Milliseconds timeout) {
            const auto group = w.lock();
            w.work->wait(timeout.count() > 0 ? timeout : Milliseconds::max());
            return true;
          },
          nb::arg("timeout") = Milliseconds(0), nb::call_guard<Unlocked>())
      .def(
          "is_completed",
          [](const PyWork& w) {
            const auto group = w.lock();
            return w.work->is_completed();
          },
          nb::call_guard<Unlocked>())
      .def("is_success", [](const PyWork& w) { return w.work->is_success(); })
      .def("_source_rank", [](const PyWork& w) { return w.work->source_rank(); })
      .def_prop_ro("_is_receive", [](const PyWork& w) { return w.group.has_value(); })
      .def("result", [](const PyWork& w) { return w.result; })
      .def("exception",
           [](const PyWork& w) -> nb::object {
             const std::exception_ptr error = w.work->exception();
             if (!error) return nb::none();
             // As Python has it: raised and caught by who is asked for it.
             try {
               nb::cpp_function([error] { std::rethrow_exception(error); })();
             } catch (nb::python_error& raised) {
               return nb::borrow(raised.value());
             }
             return nb::none();
           })
      .def("_then", [](const PyWork& w, nb::callable f) {
        w.work->then([kept = keep(f)] {
          const nb::gil_scoped_acquire locked;
          try {
            nb::handle(kept.get())();
          } catch (nb::python_error& error) {
            error.discard_as_unraisable("a callback of a collective");
          }
        });
      });
}

void add_group(nb::module_& module) {
  nb::enum_<ReduceOp>(module, "ReduceOp", "How the ranks' elements become one.")
      .value("SUM", ReduceOp::SUM)
      .value("AVG", ReduceOp::AVG)
      .value("PRODUCT", ReduceOp::PRODUCT)
      .value("MIN", ReduceOp::MIN)
      .value("MAX", ReduceOp::MAX)
      .value("BAND", ReduceOp::BAND)
      .value("BOR", ReduceOp::BOR)
      .value("BXOR", ReduceOp::BXOR);
  nb::class_<Group>(module, "ProcessGroup", "Ranks that work together.")
      .def("rank", [](const Group& g) { return g.get()->rank(); })
      .def("size", [](const Group& g) { return g.get()->size(); })
      .def("name", [](const Group& g) { return g.get()->backend().name(); })
      .def("_global_ranks", [](const Group& g) { return g.get()->global_ranks(); })
      .def("_group_rank", [](const Group& g, int rank) { return g.get()->group_rank(rank); })
      .def("_is_destroyed", [](const Group& g) { return g.group == nullptr; })
      .def_prop_ro("timeout", [](const Group& g) { return g.get()->timeout(); })
      .def_ro("group_desc", &Group::name)
      .def(
          "abort", [](const Group& g, const std::string& text) { g.get()->backend().abort(text); },
          nb::arg("text") = "abort() was called", nb::call_guard<Unlocked>())
      .def("_destroy",
           [](Group& g) {
             distributed::GroupPtr group = std::move(g.group);
             const Unlocked unlocked;  // its thread ends, and may be in a callback
             if (distributed::is_initialized() && distributed::default_group() == group)
               distributed::destroy_process_group();
             group.reset();
           })
      .def("__repr__", [](const Group& g) {
        if (!g.group) return std::string("<ProcessGroup: destroyed>");
        return "<ProcessGroup " + g.name + ": rank " + std::to_string(g.group->rank()) + " of " +
               std::to_string(g.group->size()) + ", " + g.group->backend().name() + ">";
      });
  module.def(
      "_init",
      [](const std::string& backend, const std::string& init_method, int rank, int world_size,
         std::shared_ptr<distributed::Store> store, std::optional<Milliseconds> timeout) {
        distributed::InitOptions o{.backend = backend, .rank = rank, .world_size = world_size};
        if (!init_method.empty()) o.init_method = init_method;
        o.store = std::move(store);
        if (timeout) o.timeout = *timeout;
        {
          const Unlocked unlocked;
          distributed::init_process_group(o);
        }
        return Group{distributed::default_group(), "default"};
      },
      nb::arg("backend"), nb::arg("init_method"), nb::arg("rank"), nb::arg("world_size"),
      nb::arg("store").none(), nb::arg("timeout").none());
  module.def(
      "_new_group",
      [](const std::vector<int>& ranks, std::optional<Milliseconds> timeout,
         const std::string& backend, const std::string& name) -> std::optional<Group> {
        distributed::GroupPtr group;
        {
          const Unlocked unlocked;
          group = distributed::new_group(ranks, timeout.value_or(Milliseconds(0)), backend);
        }
        if (!group) return std::nullopt;
        return Group{group, name};
      },
      nb::arg("ranks"), nb::arg("timeout").none(), nb::arg("backend"), nb::arg("name"));
  module.def("_is_backend_available", &distributed::is_backend_available);
  module.def("_is_launched", &distributed::is_launched);
}

/// Binds f(tensors..., group, async_op), which calls the collective and gives its Work.
template <class F, class... Args>
void collective(nb::module_& module, const char* name, F f, const Args&... args) {
  module.def(name, f, args..., nb::arg("group").none(), nb::arg("async_op"),
             nb::call_guard<Unlocked>());
}

void add_collectives(nb::module_& module) {
  using T = const Tensor&;
  using Ts = const Tensors&;
  using G = const Group*;
  using Splits = std::vector<int64_t>;
  using nb::arg;
  namespace d = distributed;
  collective(
      module, "_broadcast",
      [](T tensor, int src, G g, bool async_op) {
        return PyWork{d::broadcast(tensor, src, group_of(g), options(async_op)), {tensor}};
      },
      arg("tensor"), arg("src"));
  collective(
      module, "_all_reduce",
      [](T tensor, ReduceOp op, G g, bool async_op) {
        return PyWork{d::all_reduce(tensor, op, group_of(g), options(async_op)), {tensor}};
      },
      arg("tensor"), arg("op"));
  collective(
      module, "_all_reduce_coalesced",
      [](Ts tensors, ReduceOp op, G g, bool async_op) {
        return PyWork{d::all_reduce_coalesced(tensors, op, group_of(g), options(async_op)),
                      tensors};
      },
      arg("tensors"), arg("op"));
  collective(
      module, "_reduce",
      [](T tensor, int dst, ReduceOp op, G g, bool async_op) {
        return PyWork{d::reduce(tensor, dst, op, group_of(g), options(async_op)), {tensor}};
      },
      arg("tensor"), arg("dst"), arg("op"));
  collective(
      module, "_all_gather",
      [](Ts outputs, T input, G g, bool async_op) {
        return PyWork{d::all_gather(outputs, input, group_of(g), options(async_op)), outputs};
      },
      arg("tensor_list"), arg("tensor"));
  collective(
      module, "_all_gather_into_tensor",
      [](T output, T input, G g, bool async_op) {
        return PyWork{d::all_gather_into_tensor(output, input, group_of(g), options(async_op)),
                      {output}};
      },
      arg("output_tensor"), arg("input_tensor"));
  collective(
      module, "_gather",
      [](T input, Ts outputs, int dst, G g, bool async_op) {
        return PyWork{d::gather(input, outputs, dst, group_of(g), options(async_op)), outputs};
      },
      arg("tensor"), arg("gather_list"), arg("dst"));
  collective(
      module, "_scatter",
      [](T output, Ts inputs, int src, G g, bool async_op) {
        return PyWork{d::scatter(output, inputs, src, group_of(g), options(async_op)), {output}};
      },
      arg("tensor"), arg("scatter_list"), arg("src"));
  collective(
      module, "_reduce_scatter",
      [](T output, Ts inputs, ReduceOp op, G g, bool async_op) {
        return PyWork{d::reduce_scatter(output, inputs, op, group_of(g), options(async_op)),
                      {output}};
      },
      arg("output"), arg("input_list"), arg("op"));
  collective(
      module, "_reduce_scatter_tensor",
      [](T output, T input, ReduceOp op, G g, bool async_op) {
        return PyWork{d::reduce_scatter_tensor(output, input, op, group_of(g), options(async_op)),
                      {output}};
      },
      arg("output"), arg("input"), arg("op"));
  collective(
      module, "_all_to_all",
      [](Ts outputs, Ts inputs, G g, bool async_op) {
        return PyWork{d::all_to_all(outputs, inputs, group_of(g), options(async_op)), outputs};
      },
      arg("output_tensor_list"), arg("input_tensor_list"));
  collective(
      module, "_all_to_all_single",
      [](T output, T input, Splits to, Splits from, G g, bool async_op) {
        return PyWork{d::all_to_all_single(output, input, std::move(to), std::move(from),
                                           group_of(g), options(async_op)),
                      {output}};
      },
      arg("output"), arg("input"), arg("output_split_sizes"), arg("input_split_sizes"));
  collective(module, "_barrier", [](G g, bool async_op) {
    return PyWork{d::barrier(group_of(g), options(async_op)), {}};
  });
  module.def(
      "_isend",
      [](T tensor, int dst, G g, int tag) {
        return PyWork{d::isend(tensor, dst, group_of(g), tag), {tensor}};
      },
      arg("tensor"), arg("dst"), arg("group").none(), arg("tag"), nb::call_guard<Unlocked>());
  module.def(
      "_irecv",
      [](T tensor, int src, G g, int tag) {
        const d::GroupPtr group = group_of(g);
        return PyWork{d::irecv(tensor, src, group, tag), {tensor}, group};
      },
      arg("tensor"), arg("src"), arg("group").none(), arg("tag"), nb::call_guard<Unlocked>());
  module.def(
      "_broadcast_coalesced",
      [](Ts tensors, int src, G g) { d::broadcast_coalesced(tensors, src, group_of(g)); },
      arg("tensors"), arg("src"), arg("group").none(), nb::call_guard<Unlocked>());
  module.def(
      "_monitored_barrier",
      [](G g, std::optional<Milliseconds> timeout) {
        d::monitored_barrier(group_of(g), timeout.value_or(Milliseconds(0)));
      },
      arg("group").none(), arg("timeout").none(), nb::call_guard<Unlocked>());
}

/// Of pickled objects.
void add_objects(nb::module_& module) {
  using G = const Group*;
  using Objects = std::vector<nb::bytes>;
  namespace d = distributed;
  module.def(
      "_all_gather_object",
      [](nb::bytes object, G g) {
        const std::string text = text_of(object);
        std::vector<std::string> all;
        {
          const Unlocked unlocked;
          all = d::all_gather_object(text, group_of(g));
        }
        return to_bytes(all);
      },
      nb::arg("object"), nb::arg("group").none());
  module.def(
      "_gather_object",
      [](nb::bytes object, int dst, G g) {
        const std::string text = text_of(object);
        std::vector<std::string> all;
        {
          const Unlocked unlocked;
          all = d::gather_object(text, dst, group_of(g));
        }
        return to_bytes(all);
      },
      nb::arg("object"), nb::arg("dst"), nb::arg("group").none());
  module.def(
      "_broadcast_object_list",
      [](const Objects& objects, int src, G g) {
        std::vector<std::string> all = texts_of(objects);
        {
          const Unlocked unlocked;
          d::broadcast_object_list(all, src, group_of(g));
        }
        return to_bytes(all);
      },
      nb::arg("objects"), nb::arg("src"), nb::arg("group").none());
  module.def(
      "_scatter_object_list",
      [](const Objects& objects, int src, G g) {
        const std::vector<std::string> all = texts_of(objects);
        std::string own;
        {
          const Unlocked unlocked;
          own = d::scatter_object_list(all, src, group_of(g));
        }
        return nb::bytes(own.data(), own.size());
      },
      nb::arg("objects"), nb::arg("src"), nb::arg("group").none());
}

/// For checkpoints: see save_together() in C++.
void add_save_together(nb::module_& module) {
  module.def(
      "_save_together",
      [](nb::callable write, nb::callable commit, const Group* group) {
        const distributed::GroupPtr g = group_of(group);
        const Kept kept_write = keep(write), kept_commit = keep(commit);
        const Unlocked unlocked;
        distributed::save_together(
            [&] {
              const nb::gil_scoped_acquire locked;
              return text_of(nb::cast<nb::bytes>(nb::handle(kept_write.get())()));
            },
            [&](const std::vector<std::string>& parts) {
              const nb::gil_scoped_acquire locked;
              nb::handle(kept_commit.get())(to_bytes(parts));
            },
            g);
      },
      nb::arg("write"), nb::arg("commit"), nb::arg("group").none());
}

}  // namespace

void add_groups(nb::module_& module) {
  add_work(module);
  add_group(module);
  add_collectives(module);
  add_objects(module);
  add_save_together(module);
}

}  // namespace tenon::python
