#include "runtime/fusion/trace_function.h"

#include <nanobind/stl/string.h>

#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/tensor_object.h"
#include "runtime/fusion/guards.h"

/// What tenon.fuse() is made of.
namespace tenon::python {
namespace {

using fusion::TracedFunction;

std::vector<Tensor> to_list(nb::handle tensors, const char* what) {
  const auto found = to_tensors(tensors, what);
  return {found.begin(), found.end()};
}

TracedFunction trace(nb::callable function, nb::handle inputs) {
  const auto call = [&](const std::vector<Tensor>& given) {
    return to_list(function(*to_tuple({given.begin(), given.end()})), "results");
  };
  return fusion::trace(call, to_list(inputs, "inputs"));
}

/// Guards of a tuple of tensors.
class TensorGuards {
 public:
  explicit TensorGuards(nb::tuple tensors) {
    for (const nb::handle one : tensors) guards_.emplace_back(tensor_of(one.ptr()));
  }
  /// Whether these are as many tensors, and the guards hold for them.
  bool hold(nb::tuple tensors) const {
    if (tensors.size() != guards_.size()) return false;
    for (size_t i = 0; i < guards_.size(); ++i) {
      PyObject* const one = PyTuple_GET_ITEM(tensors.ptr(), static_cast<Py_ssize_t>(i));
      if (!is_tensor(one) || !guards_[i].holds(tensor_of(one))) return false;
    }
    return true;
  }

 private:
  std::vector<fusion::Guard> guards_;
};

void build(TracedFunction& traced, const std::string& python) {
  const nb::gil_scoped_release unlocked;
  fusion::build(traced, python);
}

nb::object run(const TracedFunction& traced, nb::handle inputs, nb::handle captured) {
  const auto results =
      fusion::run(traced, to_list(inputs, "inputs"), to_list(captured, "captured"));
  return to_tuple({results.begin(), results.end()});
}

}  // namespace

void add_fusion(nb::module_& module) {
  nb::module_ part = module.def_submodule("_fusion", "Functions as operators with fused kernels.");
  nb::class_<TracedFunction>(part, "TracedFunction")
      .def_ro("records_gradients", &TracedFunction::records_gradients)
      .def_ro("depends_on_gradients", &TracedFunction::depends_on_gradients)
      .def_prop_ro("is_one_operator", &TracedFunction::is_one_operator)
      .def_prop_ro("operator_name",
                   [](const TracedFunction& traced) { return traced.steps[0].operator_name; })
      .def_prop_ro("yaml",
                   [](const TracedFunction& traced) {
                     std::string all;
                     for (const auto& step : traced.steps) all += step.yaml;
                     return all;
                   })
      .def_prop_ro("inputs",
                   [](const TracedFunction& traced) {
                     nb::list list;
                     for (const size_t i : traced.steps[0].inputs) {
                       if (i < traced.num_inputs) list.append(i);
                     }
                     return list;
                   })
      .def_prop_ro("captured", [](const TracedFunction& traced) {
        return to_tuple({traced.captured.begin(), traced.captured.end()});
      });
  nb::class_<TensorGuards>(part, "TensorGuards")
      .def(nb::init<nb::tuple>(), nb::arg("tensors"))
      .def("hold", &TensorGuards::hold, nb::arg("tensors"));
  part.def("trace", &trace, nb::arg("function"), nb::arg("inputs"));
  part.def("build", &build, nb::arg("traced"), nb::arg("python"));
  part.def("run", &run, nb::arg("traced"), nb::arg("inputs"), nb::arg("captured"));
  part.def(
      "records_gradients",
      [](nb::handle tensors) { return fusion::records_gradients(to_list(tensors, "tensors")); },
      nb::arg("tensors"));
  part.def("is_tracing", &fusion::is_tracing);
}

}  // namespace tenon::python
