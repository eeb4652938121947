#include "aten/core/deterministic.h"
#include "aten/core/parallel.h"
#include "aten/core/print.h"
#include "aten/iterator/plan.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"
#include "runtime/serialization/training/rng_state.h"

/// Generators, the default dtype, how tensors are printed, threads.
namespace tenon::python {
namespace {

/// A number of the kind of `object`, which is all that its type depends on.
Scalar kind_of(PyObject* object) {
  if (PyBool_Check(object)) return true;
  if (PyLong_Check(object)) return int64_t{1};
  if (PyFloat_Check(object)) return 1.0;
  TENON_CHECK_TYPE(PyComplex_Check(object), "result_type() expects tensors and numbers, got ",
                   Py_TYPE(object)->tp_name);
  return std::complex<double>(1);
}

}  // namespace

void add_global_state(nb::module_& module) {
  module.def("manual_seed", [](nb::int_ seed) {
    const uint64_t value = PyLong_AsUnsignedLongLongMask(seed.ptr());
    manual_seed(value);
    return nb::steal(wrap(default_generator()));
  });
  module.def(
      "_set_print_options",
      [](int precision, int64_t threshold, int64_t edgeitems, int64_t linewidth,
         std::optional<bool> sci_mode) {
        print_options() = {precision, threshold, edgeitems, linewidth, sci_mode};
      },
      nb::arg("precision"), nb::arg("threshold"), nb::arg("edgeitems"), nb::arg("linewidth"),
      nb::arg("sci_mode").none());
  module.def("_plain_repr", [](const Tensor& t) { return to_string(t); });
  module.def("_default_generator", [] { return nb::steal(wrap(default_generator())); });
  module.def("_get_num_threads", &get_num_threads);
  module.def("_set_num_threads", &set_num_threads);
  module.def("_set_deterministic_algorithms", &set_deterministic_algorithms);
  module.def("get_default_dtype", [] { return nb::steal(wrap(get_default_dtype())); });
  module.def("set_default_dtype", [](nb::handle type) {
    TENON_CHECK_TYPE(is_dtype(type.ptr()), "invalid dtype object");
    set_default_dtype(dtype_of(type.ptr()));
  });
  module.def("promote_types", [](nb::handle a, nb::handle b) {
    for (const auto& [at, given] : {std::pair(1, a), std::pair(2, b)})
      TENON_CHECK_TYPE(is_dtype(given.ptr()), "promote_types(): argument 'type", at, "' (position ",
                       at, ") must be torch.dtype, not ", Py_TYPE(given.ptr())->tp_name);
    return nb::steal(wrap(promote_types(dtype_of(a.ptr()), dtype_of(b.ptr()))));
  });
  module.def("result_type", [](nb::handle tensor1, nb::handle tensor2) {
    std::vector<const TensorBase*> tensors;
    std::vector<Scalar> kinds;
    std::vector<const Scalar*> numbers;
    kinds.reserve(2);
    for (const nb::handle operand : {tensor1, tensor2}) {
      if (is_tensor(operand.ptr())) {
        tensors.push_back(&tensor_of(operand.ptr()));
      } else {
        numbers.push_back(&kinds.emplace_back(kind_of(operand.ptr())));
      }
    }
    return nb::steal(wrap(native::result_type(tensors, numbers)));
  });
  module.def("can_cast", [](nb::handle from, nb::handle to) {
    TENON_CHECK_TYPE(is_dtype(from.ptr()) && is_dtype(to.ptr()), "can_cast() expects two dtypes");
    return can_cast(dtype_of(from.ptr()), dtype_of(to.ptr()));
  });
  module.def("_get_rng_state", [](nb::handle generator) {
    TENON_CHECK_TYPE(is_generator(generator.ptr()), "expected a Generator");
    return tenon::serialization::rng_state(generator_of(generator.ptr()));
  });
  module.def("_set_rng_state", [](nb::handle generator, const Tensor& state) {
    TENON_CHECK_TYPE(is_generator(generator.ptr()), "expected a Generator");
    serialization::set_rng_state(state, generator_of(generator.ptr()));
  });
}

}  // namespace tenon::python
