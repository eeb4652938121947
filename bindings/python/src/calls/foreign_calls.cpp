#include "bindings/python/src/calls/foreign_calls.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "aten/core/donated_memory.h"
#include "aten/dispatch/alias_library.h"
#include "aten/generated_support/tensor_factories.h"
#include "autograd/autograd.h"
#include "bindings/python/src/named_values.h"
#include "codegen/schema/parser.h"

namespace tenon::python {

thread_local RecordedCall* recorded_call = nullptr;

namespace {

/// The shape of an array, which is row-major.
struct Form {
  DimVector sizes;
  ScalarType dtype;

  explicit Form(const TensorBase& t)
      : sizes(t.sizes().begin(), t.sizes().end()), dtype(t.scalar_type()) {}
  Tensor over(void* data) const {
    return from_blob(data, sizes, TensorOptions().dtype(dtype).device(kCPU));
  }
};

/// Where an array belongs in the arguments.
struct Place {
  size_t argument;
  std::optional<size_t> item;  ///< of a list of tensors
};

/// All tensors of a stack, in order; lists of them one by one.
template <class F>
void each_tensor(const Stack& stack, const F& f) {
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].is_tensor()) f(stack[i].to_tensor(), Place{i, std::nullopt});
    if (!stack[i].is_tensor_list()) continue;
    const auto& list = stack[i].to_tensors();
    for (size_t k = 0; k < list.size(); ++k) f(list[k], Place{i, k});
  }
}

std::vector<Tensor> tensors_of(const Stack& stack) {
  std::vector<Tensor> list;
  each_tensor(stack, [&](const TensorBase& t, Place) { list.emplace_back(t); });
  return list;
}

bool has_gradient(ScalarType dtype) { return is_floating_point(dtype) || is_complex(dtype); }

/// The form of the operator that writes its results to tensors it is given, or null.
const OperatorEntry* find_out_form(const OperatorEntry& entry, const schema::FunctionSchema& own) {
  for (const auto& result : own.returns) {
    if (result.alias || !result.type.is_tensor() || result.type.is_list()) return nullptr;
  }
  for (const OperatorEntry* candidate : operators_named(entry.info->name)) {
    const auto parsed = schema::parse_schema(candidate->info->schema);
    if (!parsed.ok()) continue;
    const auto& args = parsed.schema->args;
    if (args.size() != own.args.size() + own.returns.size()) continue;
    bool fits = true;
    for (size_t i = 0; i < args.size(); ++i) {
      fits = fits && (i < own.args.size()
                          ? !args[i].is_mutable() && !own.args[i].is_mutable() &&
                                args[i].type == own.args[i].type && args[i].name == own.args[i].name
                          : args[i].is_mutable() && args[i].type.is_tensor());
    }
    if (fits) return candidate;
  }
  return nullptr;
}

/// One call of an operator, or of its derivative, on arrays of known forms.
class ForeignCall {
 public:
  ForeignCall(RecordedCall call, const Tensors& arrays, const Stack& results)
      : entry_(call.entry), arguments_(std::move(call.arguments)) {
    std::vector<Place> places;
    for (const auto& array : arrays) {
      arrays_.emplace_back(array);
      const size_t before = places_.size();
      each_tensor(arguments_, [&](const TensorBase& t, Place place) {
        if (places_.size() == before && t.unsafe_impl() == array.unsafe_impl()) {
          places_.push_back(place);
          written_.push_back(call.schema->args[place.argument].is_mutable());
        }
      });
      TENON_CHECK_TYPE(places_.size() > before, "[", entry_->qualified_name(),
                       "] an array is used in the place of what is no tensor");
    }
    for (const auto& t : tensors_of(results)) results_.emplace_back(t);
    out_form_ = find_out_form(*entry_, *call.schema);
  }

  /// Of the results, as the other library has them.
  void set_dtypes(const std::vector<ScalarType>& dtypes) {
    TENON_CHECK(dtypes.size() == results_.size(), "expected ", results_.size(), " dtypes");
    for (size_t i = 0; i < dtypes.size(); ++i) {
      if (results_[i].dtype != dtypes[i]) out_form_ = nullptr;
      results_[i].dtype = dtypes[i];
    }
  }
  /// Makes it the derivative: it takes gradients of the results that have one after the arrays, and
  /// gives those of the arrays `wanted`.
  void differentiate(std::vector<size_t> wanted) {
    for (const size_t i : wanted) {
      TENON_CHECK(i < arrays_.size() && has_gradient(arrays_[i].dtype), "[",
                  entry_->qualified_name(), "] array ", i, " has no gradient");
    }
    wanted_ = std::move(wanted);
  }

  std::string name() const { return entry_->qualified_name(); }

  void run(void* const* given, size_t given_count, void* const* results, size_t count) const {
    Tensors arrays;
    for (size_t i = 0; i < arrays_.size() && i < given_count; ++i) {
      arrays.push_back(arrays_[i].over(given[i]));
    }
    if (wanted_) return run_derivative(arrays, given, given_count, results, count);
    check_counts(given_count, arrays_.size(), count, results_.size());
    const NoGradGuard guard;
    Stack stack = filled(arrays);
    if (out_form_) {
      for (size_t i = 0; i < count; ++i) stack.emplace_back(results_[i].over(results[i]));
      out_form_->call_boxed(stack);
      return;
    }
    entry_->call_boxed(stack);
    const Tensors found = tensors_of(stack);
    TENON_CHECK(found.size() == count, "[", name(), "] gave ", found.size(), " tensors, expected ",
                count);
    for (size_t i = 0; i < count; ++i) write(found[i], results_[i], results[i]);
  }

 private:
  void run_derivative(Tensors& arrays, void* const* given, size_t given_count, void* const* results,
                      size_t count) const {
    std::vector<const Form*> graded;
    for (const auto& form : results_) {
      if (has_gradient(form.dtype)) graded.push_back(&form);
    }
    check_counts(given_count, arrays_.size() + graded.size(), count, wanted_->size());
    const AutoGradMode recorded(true);
    Tensors leaves;
    for (const size_t i : *wanted_) leaves.push_back(arrays[i].set_requires_grad(true));
    Stack stack = filled(arrays);
    entry_->call_boxed(stack);
    Tensors outputs, grads;
    size_t next = arrays_.size();
    const Tensors found = tensors_of(stack);
    TENON_CHECK(found.size() == results_.size(), "[", name(), "] gave ", found.size(),
                " tensors, expected ", results_.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!has_gradient(results_[i].dtype)) continue;
      void* const data = given[next++];
      if (!found[i].requires_grad()) continue;
      outputs.push_back(found[i]);
      // In JAX the gradient of a function of complex numbers is not conjugated.
      grads.push_back(results_[i].over(data).to(found[i].scalar_type()).conj());
    }
    deliver(differentiated(outputs, leaves, grads, results), results);
  }

  /// The gradients, most of which lie where they belong.
  Tensors differentiated(const Tensors& outputs, const Tensors& leaves, const Tensors& grads,
                         void* const* results) const {
    std::vector<DonatedMemory::Block> blocks;
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (reinterpret_cast<uintptr_t>(results[i]) % 64 == 0) {
        blocks.push_back({results[i], static_cast<size_t>(leaves[i].nbytes())});
      }
    }
    const DonatedMemory donated(std::move(blocks));
    return autograd::grad(outputs, leaves, grads,
                          {.allow_unused = true, .materialize_grads = true});
  }

  void deliver(Tensors gradients, void* const* results) const {
    const NoGradGuard guard;
    const auto in_place = [&](size_t i) {
      return gradients[i].data_ptr() == results[i] && gradients[i].is_contiguous() &&
             gradients[i].scalar_type() == arrays_[(*wanted_)[i]].dtype &&
             !gradients[i].is_conj() && !gradients[i].is_neg();
    };
    const auto borrowed = [&](const Tensor& t) {
      return std::count(results, results + gradients.size(), t.storage().data()) > 0;
    };
    for (size_t i = 0; i < gradients.size(); ++i) {
      gradients[i] = gradients[i].conj();
      // It may lie where another one belongs.
      if (!in_place(i) && borrowed(gradients[i])) gradients[i] = gradients[i].clone();
    }
    for (size_t i = 0; i < gradients.size(); ++i) {
      if (!in_place(i)) write(gradients[i], arrays_[(*wanted_)[i]], results[i]);
    }
  }

  void check_counts(size_t given, size_t expected, size_t results, size_t expected_results) const {
    TENON_CHECK(given == expected && results == expected_results, "[", name(), "] expected ",
                expected, " arrays and ", expected_results, " results, got ", given, " and ",
                results);
  }

  Stack filled(const Tensors& arrays) const {
    Stack stack = arguments_;
    for (size_t i = 0; i < arrays.size(); ++i) {
      // The other library's arrays do not change.
      const Tensor array = written_[i] ? arrays[i].clone() : arrays[i];
      const auto [argument, item] = places_[i];
      if (!item) {
        stack[argument] = array;
        continue;
      }
      auto list = stack[argument].to_tensors();
      list[*item] = array;
      stack[argument] = std::move(list);
    }
    return stack;
  }

  static void write(const Tensor& from, const Form& form, void* to) {
    form.over(to).copy_(from.detach());
  }

  const OperatorEntry* entry_;
  const OperatorEntry* out_form_;
  Stack arguments_;  // a tensor without data stands for each array
  std::vector<Form> arrays_, results_;
  std::vector<Place> places_;  // of the arrays
  std::vector<bool> written_;
  std::optional<std::vector<size_t>> wanted_;
};

/// Under the names that compiled programs of the other library have; kept for good, as these may
/// be.
struct Calls {
  std::shared_mutex mutex;
  std::map<std::string, std::unique_ptr<const ForeignCall>, std::less<>> by_name;
};
Calls& calls() {
  static Calls* const all = new Calls;
  return *all;
}

/// Called by the other library. Null, or what is wrong, to be freed by the caller.
char* run_call(const char* name, size_t length, void* const* given, size_t given_count,
               void* const* results, size_t count) noexcept {
  try {
    const ForeignCall* call = nullptr;
    {
      const std::shared_lock lock(calls().mutex);
      const auto found = calls().by_name.find(std::string_view(name, length));
      if (found != calls().by_name.end()) call = found->second.get();
    }
    TENON_CHECK(call, "there is no call of Tenon's ", std::string_view(name, length),
                " in this process");
    call->run(given, given_count, results, count);
    return nullptr;
  } catch (const std::exception& error) {
    return strdup(error.what());
  } catch (...) {
    return strdup("an exception of no known type");
  }
}

/// Calls function(*args, **names), and what is kept of that under `name`: the results, of which
/// `dtypes` says what they are to be converted to; with `wanted`, the derivative.
nb::object keep_call(const std::string& name, nb::handle function, nb::tuple args, nb::dict names,
                     const Tensors& arrays, nb::callable dtypes,
                     std::optional<std::vector<size_t>> wanted) {
  RecordedCall recorded;
  nb::object result;
  {
    struct Recording {
      explicit Recording(RecordedCall* call) { recorded_call = call; }
      ~Recording() { recorded_call = nullptr; }
    } const recording(&recorded);
    result = nb::steal(PyObject_Call(function.ptr(), args.ptr(), names.ptr()));
    if (!result) throw nb::python_error();
  }
  TENON_CHECK_TYPE(recorded.entry, "expected an operator of tenon.ops");
  Stack results;
  for (const auto& t : to_tensors(result, "the results of an operator")) results.emplace_back(t);
  auto call = std::make_unique<ForeignCall>(std::move(recorded), arrays, results);
  std::vector<ScalarType> types;
  for (const nb::handle type : nb::borrow<nb::tuple>(dtypes(result))) {
    types.push_back(dtype_of(type.ptr()));
  }
  call->set_dtypes(types);
  if (wanted) call->differentiate(std::move(*wanted));
  const std::unique_lock lock(calls().mutex);
  calls().by_name.try_emplace(name, std::move(call));
  return result;
}

}  // namespace

void add_foreign_calls(nb::module_& module) {
  module.def("_keep_call", &keep_call, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
             nb::arg(), nb::arg().none());
  module.def("_run_call", [] { return reinterpret_cast<uintptr_t>(&run_call); });
}

}  // namespace tenon::python
