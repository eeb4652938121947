#include "autograd/checkpoint/checkpoint.h"
#include "autograd/tools/functional.h"
#include "autograd/tools/gradcheck.h"
#include "bindings/python/src/calls/caster.h"

/// gradcheck, derivatives of functions, activation checkpointing.
namespace tenon::python {

using autograd::variable_list;
namespace functional = autograd::functional;

namespace {

/// f(*inputs)
variable_list call(const Kept& f, const variable_list& inputs) {
  const nb::gil_scoped_acquire locked;
  try {
    return to_tensors(nb::handle(f.get())(*to_tuple(inputs)), "the results of the function");
  } catch (nb::python_error& error) {
    rethrow_carried(error);
    throw;
  }
}

functional::MultiFunction to_function(nb::handle f) {
  return [kept = keep(f)](const variable_list& inputs) { return call(kept, inputs); };
}
autograd::CheckedFunction to_checked(nb::handle f) {
  return [kept = keep(f)](const Tensors& inputs) { return to_vector(call(kept, to_list(inputs))); };
}

using ProductFunction = functional::Product (*)(const functional::MultiFunction&,
                                                const variable_list&, const variable_list&,
                                                const functional::Options&);
using MatrixFunction = std::vector<variable_list> (*)(const functional::MultiFunction&,
                                                      const variable_list&,
                                                      const functional::Options&);

functional::Options functional_options(bool create_graph, bool strict, bool forward) {
  return {create_graph, strict,
          forward ? functional::Strategy::Forward : functional::Strategy::Reverse};
}

void add_product(nb::module_& module, const char* name, ProductFunction f) {
  module.def(name, [f](nb::callable function, const Tensors& inputs, const Tensors& v,
                       bool create_graph, bool strict, bool forward) {
    const auto result = f(to_function(function), to_list(inputs), to_list(v),
                          functional_options(create_graph, strict, forward));
    return nb::make_tuple(to_tuple(result.outputs), to_tuple(result.product));
  });
}
void add_matrix(nb::module_& module, const char* name, MatrixFunction f) {
  module.def(name, [f](nb::callable function, const Tensors& inputs, bool create_graph, bool strict,
                       bool forward) {
    nb::list rows;
    for (const auto& row : f(to_function(function), to_list(inputs),
                             functional_options(create_graph, strict, forward))) {
      rows.append(to_tuple(row));
    }
    return nb::tuple(rows);
  });
}

autograd::GradcheckOptions gradcheck_options(const nb::kwargs& given) {
  autograd::GradcheckOptions options;
  options.any_precision = true;  // Python warns of it
  const auto take = [&](const char* name, auto& value) {
    if (given.contains(name)) value = nb::cast<std::decay_t<decltype(value)>>(given[name]);
  };
  take("eps", options.eps);
  take("atol", options.atol);
  take("rtol", options.rtol);
  take("nondet_tol", options.nondet_tol);
  take("check_undefined_grad", options.check_undefined_grad);
  take("check_batched_grad", options.check_batched_grad);
  take("check_backward_ad", options.check_backward_ad);
  take("check_forward_ad", options.check_forward_ad);
  take("fast_mode", options.fast_mode);
  take("raise_exception", options.raise_exception);
  return options;
}

/// A Python context manager as checkpoint() enters it.
autograd::CheckpointContext to_context(nb::handle manager) {
  return [kept = keep(manager)]() -> std::shared_ptr<void> {
    const nb::gil_scoped_acquire locked;
    nb::handle(kept.get()).attr("__enter__")();
    return std::shared_ptr<void>(nullptr, [kept](void*) {
      const nb::gil_scoped_acquire again;
      try {
        nb::handle(kept.get()).attr("__exit__")(nb::none(), nb::none(), nb::none());
      } catch (nb::python_error& error) {
        error.discard_as_unraisable("leaving a context of checkpoint");
      }
    });
  };
}

autograd::CheckpointOptions to_options(std::optional<bool> use_reentrant, bool preserve_rng_state,
                                       nb::object context_fn, bool determinism_check,
                                       std::optional<bool> early_stop, bool debug) {
  autograd::CheckpointOptions options;
  options.debug = debug;
  options.use_reentrant = use_reentrant;
  options.preserve_rng_state = preserve_rng_state;
  options.determinism_check = determinism_check;
  options.early_stop = early_stop;
  if (!context_fn.is_none()) {
    options.context_fn = [kept = keep(context_fn)] {
      const nb::gil_scoped_acquire locked;
      const nb::object both = nb::handle(kept.get())();
      return std::pair(to_context(both[0]), to_context(both[1]));
    };
  }
  return options;
}

}  // namespace

void add_differentiation(nb::module_& module) {
  module.def("_gradcheck", [](nb::callable f, const Tensors& inputs, nb::kwargs options) {
    return autograd::gradcheck(to_checked(f), inputs, gradcheck_options(options));
  });
  module.def("_gradgradcheck", [](nb::callable f, const Tensors& inputs, const Tensors& grads,
                                  nb::kwargs options) {
    return autograd::gradgradcheck(to_checked(f), inputs, grads, gradcheck_options(options));
  });
  add_product(module, "_vjp", functional::vjp);
  add_product(module, "_jvp", functional::jvp);
  add_product(module, "_vhp", functional::vhp);
  add_product(module, "_hvp", functional::hvp);
  add_matrix(module, "_jacobian", functional::jacobian);
  add_matrix(module, "_hessian", functional::hessian);
  module.def(
      "_checkpoint",
      [](nb::callable f, const Tensors& inputs, std::optional<bool> use_reentrant,
         bool preserve_rng_state, nb::object context_fn, bool determinism_check,
         std::optional<bool> early_stop, bool debug) {
        return to_tuple(autograd::checkpoint(
            [kept = keep(f)](const variable_list& args) { return call(kept, args); },
            to_list(inputs),
            to_options(use_reentrant, preserve_rng_state, context_fn, determinism_check, early_stop,
                       debug)));
      },
      nb::arg("f"), nb::arg("inputs"), nb::arg("use_reentrant").none(),
      nb::arg("preserve_rng_state"), nb::arg("context_fn").none(), nb::arg("determinism_check"),
      nb::arg("early_stop").none(), nb::arg("debug"));
}

}  // namespace tenon::python
