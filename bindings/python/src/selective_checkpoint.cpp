#include "autograd/checkpoint/selective_checkpoint.h"

#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/calls/results.h"

/// Checkpointed calls that keep the results of some operators.
namespace tenon::python {

using autograd::CheckpointContext;
using autograd::CheckpointContexts;
using autograd::CheckpointPolicy;

namespace {

nb::object to_python(const Value& value) {
  return std::visit(
      [](const auto& v) -> nb::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, TensorBase>) {
          return nb::cast(Tensor(v));
        } else if constexpr (std::is_same_v<T, Value::Tensors>) {
          nb::list list;
          for (const TensorBase& t : v) list.append(nb::cast(Tensor(t)));
          return list;
        } else if constexpr (std::is_same_v<T, Scalar>) {
          return nb::steal(wrap(v));
        } else if constexpr (std::is_same_v<T, Value::Scalars>) {
          nb::list list;
          for (const Scalar& one : v) list.append(nb::steal(wrap(one)));
          return list;
        } else if constexpr (std::is_same_v<T, Value::Ints> || std::is_same_v<T, Value::Doubles> ||
                             std::is_same_v<T, Value::Bools>) {
          nb::list list;
          for (const auto one : v) list.append(nb::cast(one));
          return list;
        } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> ||
                             std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
          return nb::cast(v);
        } else {
          return nb::none();  // a device or a generator
        }
      },
      value.variant());
}

nb::tuple to_python(ArrayRef<Value> values) {
  nb::list list;
  for (const Value& value : values) list.append(to_python(value));
  return nb::tuple(list);
}

/// policy(name, arguments, results) -> the number of a CheckpointPolicy
autograd::SelectivePolicy to_policy(nb::handle policy) {
  return [kept = keep(policy)](const autograd::SelectiveCall& call) {
    const nb::gil_scoped_acquire locked;
    try {
      return static_cast<CheckpointPolicy>(nb::cast<int>(nb::handle(kept.get())(
          call.op.qualified_name(), to_python(call.arguments), to_python(call.results))));
    } catch (nb::python_error& error) {
      rethrow_carried(error);
      throw;
    }
  };
}

/// One of the two contexts, as a context manager.
class CheckpointScope {
 public:
  explicit CheckpointScope(CheckpointContext context) : context_(std::move(context)) {}
  void enter() { entered_.push_back(context_()); }
  void leave() {
    TENON_CHECK(!entered_.empty(), "a context of checkpoint is left that was not entered");
    entered_.pop_back();
  }

 private:
  CheckpointContext context_;
  std::vector<std::shared_ptr<void>> entered_;
};

nb::tuple to_managers(CheckpointContexts contexts) {
  return nb::make_tuple(CheckpointScope(std::move(contexts.first)),
                        CheckpointScope(std::move(contexts.second)));
}

}  // namespace

void add_selective_checkpoint(nb::module_& module) {
  nb::class_<CheckpointScope>(module, "_CheckpointScope")
      .def("__enter__",
           [](nb::handle self) {
             nb::cast<CheckpointScope&>(self).enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](CheckpointScope& self, nb::args) { self.leave(); });
  module.def("_selective_checkpoint_contexts", [](nb::callable policy, bool allow_mutation) {
    return to_managers(
        autograd::create_selective_checkpoint_contexts(to_policy(policy), allow_mutation));
  });
  module.def("_selective_checkpoint_contexts_of", [](const std::vector<std::string>& operators,
                                                     bool allow_mutation) {
    return to_managers(autograd::create_selective_checkpoint_contexts(operators, allow_mutation));
  });
}

}  // namespace tenon::python
