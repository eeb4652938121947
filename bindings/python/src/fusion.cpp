#include "runtime/fusion/trace_function.h"

#include <nanobind/stl/string.h>

#include "aten/dispatch/load_library.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/tensor_object.h"
#include "runtime/fusion/build.h"
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

void build(const TracedFunction& traced, const std::string& python) {
  const nb::gil_scoped_release unlocked;
  load_library(fusion::build_library(traced.yaml, traced.dtypes, python), SameName::Replace);
}

}  // namespace

void add_fusion(nb::module_& module) {
  nb::module_ part = module.def_submodule("_fusion", "Functions as operators with fused kernels.");
  nb::class_<TracedFunction>(part, "TracedFunction")
      .def_ro("operator_name", &TracedFunction::operator_name)
      .def_ro("yaml", &TracedFunction::yaml)
      .def_prop_ro("inputs",
                   [](const TracedFunction& traced) {
                     nb::list list;
                     for (const size_t i : traced.inputs) list.append(i);
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
  part.def("is_tracing", &fusion::is_tracing);
}

}  // namespace tenon::python
