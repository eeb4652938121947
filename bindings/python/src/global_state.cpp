#include "aten/core/parallel.h"
#include "aten/core/print.h"
#include "bindings/python/src/caster.h"
#include "bindings/python/src/named_values.h"
#include "runtime/serialization/training/rng_state.h"

/// Generators, the default dtype, how tensors are printed, threads.
namespace tenon::python {

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
  module.def("_default_generator", [] { return nb::steal(wrap(default_generator())); });
  module.def("_get_num_threads", &get_num_threads);
  module.def("_set_num_threads", &set_num_threads);
  module.def("get_default_dtype", [] { return nb::steal(wrap(get_default_dtype())); });
  module.def("set_default_dtype", [](nb::handle type) {
    TENON_CHECK_TYPE(is_dtype(type.ptr()), "invalid dtype object");
    set_default_dtype(dtype_of(type.ptr()));
  });
  module.def("promote_types", [](nb::handle a, nb::handle b) {
    TENON_CHECK_TYPE(is_dtype(a.ptr()) && is_dtype(b.ptr()), "promote_types() expects two dtypes");
    return nb::steal(wrap(promote_types(dtype_of(a.ptr()), dtype_of(b.ptr()))));
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
