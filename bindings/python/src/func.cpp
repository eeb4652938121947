#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "aten/batching/batched_tensor.h"
#include "autograd/batched.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/named_values.h"

/// Batched tensors and the derivatives of functions: what tenon.func is made of.
namespace tenon::python {
namespace {

using namespace batching;

BatchRandomness to_randomness(const std::string& word) {
  if (word == "error") return BatchRandomness::Error;
  if (word == "same") return BatchRandomness::Same;
  TENON_CHECK(word == "different",
              "Only allowed values for randomness are 'error', 'different', or ", "'same'. Got ",
              word);
  return BatchRandomness::Different;
}

struct BelowScope {
  explicit BelowScope(int64_t number) : level(level_of_number(number)) {}
  void begin() { guard.emplace(*level); }
  Level level;
  std::optional<BelowLevel> guard;
};

}  // namespace

void add_func(nb::module_& module) {
  nb::module_ part = module.def_submodule("_func", "Batched tensors and derivatives of functions.");
  part.def("push_vmap", [](int64_t size, const std::string& randomness) {
    return begin_level(size, to_randomness(randomness));
  });
  part.def("pop_vmap", &end_level);
  part.def("current_level", [] { return current_level() ? current_level()->number : 0; });
  part.def("is_batched", [](const Tensor& t) { return is_batched(t); });
  part.def("batch_level", [](const Tensor& t) { return is_batched(t) ? level_of(t)->number : 0; });
  part.def("batch_value", [](const Tensor& t) {
    TENON_CHECK_VALUE(is_batched(t), "[batch_value] the tensor is not batched");
    return value_of(t);
  });
  part.def("add_batch_dim", [](const Tensor& t, int64_t dim, int64_t level) {
    return add_batch_dim(t, dim, level_of_number(level));
  });
  part.def("remove_batch_dim", [](const Tensor& t, int64_t level, int64_t size, int64_t out_dim) {
    const Level of = level_of_number(level);
    TENON_CHECK_VALUE(of->size == size, "[remove_batch_dim] level ", level, " has ", of->size,
                      " examples, got ", size);
    return remove_batch_dim(t, of, out_dim);
  });
  part.def("batched_everywhere", &batched_everywhere);
  part.def("fresh_input", &autograd::func::fresh_input);
  part.def(
      "gradients",
      [](nb::handle outputs, nb::handle inputs, nb::handle given, std::optional<bool> create_graph,
         std::optional<bool> retain_graph) {
        const auto list = [](nb::handle tensors, const char* what) {
          if (tensors.is_none()) return std::vector<Tensor>();
          const auto found = to_tensors(tensors, what);
          return std::vector<Tensor>(found.begin(), found.end());
        };
        const auto out = list(outputs, "outputs"), in = list(inputs, "inputs"),
                   grads = list(given, "grad_outputs");
        std::vector<Tensor> results;
        {
          const nb::gil_scoped_release unlocked;
          results = autograd::func::gradients(out, in, grads, create_graph, retain_graph);
        }
        return nb::list(to_tuple({results.begin(), results.end()}));
      },
      nb::arg("outputs"), nb::arg("inputs"), nb::arg("grad_outputs").none(),
      nb::arg("create_graph").none() = nb::none(), nb::arg("retain_graph").none() = nb::none());
  part.def("leave", [](nb::handle tensors, nb::handle inputs) {
    const auto all = to_tensors(tensors, "tensors"), fresh = to_tensors(inputs, "inputs");
    const std::vector<Tensor> results =
        autograd::func::leave({all.begin(), all.end()}, {fresh.begin(), fresh.end()});
    return nb::list(to_tuple({results.begin(), results.end()}));
  });
  nb::class_<BelowScope>(part, "BelowLevel",
                         "`with BelowLevel(level)`: the level and those above it are none.")
      .def(nb::init<int64_t>())
      .def("__enter__", [](BelowScope& scope) { scope.begin(); })
      .def("__exit__", [](BelowScope& scope, nb::args) { scope.guard.reset(); });
  part.def("set_vmap_fallback_warning_enabled", &set_loop_warnings);
  part.def("is_vmap_fallback_warning_enabled", &loop_warnings);
}

}  // namespace tenon::python
