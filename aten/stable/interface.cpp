// The table of aten/stable/interface.h.
#include "aten/stable/interface.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "aten/common/thread_value.h"
#include "aten/core/parallel.h"
#include "aten/core/scalar_type.h"
#include "aten/core/thread_state.h"
#include "aten/dispatch/alias_library.h"
#include "aten/dispatch/check_value.h"
#include "aten/dispatch/default_argument.h"
#include "aten/dispatch/load_library.h"
#include "aten/dispatch/registration.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/iterator/plan.h"
#include "aten/registration/derivative.h"
#include "aten/registration/library.h"
#include "aten/stable/values.h"
#include "tenon/config.h"

namespace tenon::stable_interface {
namespace {

/// The thread's last error. The exception itself goes on through a library that reports it as it
/// got it, so that its class and what Python holds of it are kept.
struct LastError {
  std::string text;
  int32_t status = TENON_OK;
  std::exception_ptr exception;
};
thread_local ThreadValue<LastError> last_error;

int32_t status_of(const std::exception& error) {
  if (dynamic_cast<const ValueError*>(&error)) return TENON_VALUE_ERROR;
  if (dynamic_cast<const TypeError*>(&error)) return TENON_TYPE_ERROR;
  if (dynamic_cast<const IndexError*>(&error)) return TENON_INDEX_ERROR;
  if (dynamic_cast<const NotImplementedError*>(&error)) return TENON_NOT_IMPLEMENTED;
  return TENON_ERROR;
}

/// Calls f; what it throws becomes the thread's error.
template <class F>
int32_t guarded(F f) noexcept {
  try {
    f();
    return TENON_OK;
  } catch (const std::exception& error) {
    *last_error = {error.what(), status_of(error), std::current_exception()};
  } catch (...) {
    *last_error = {"an error of unknown type", TENON_ERROR, std::current_exception()};
  }
  return last_error->status;
}

int32_t set_error(int32_t status, const char* text) noexcept {
  const bool same =
      last_error->exception && last_error->status == status && last_error->text == text;
  if (!same) *last_error = {text, status, nullptr};
  return status;
}

[[noreturn]] void raise_last(int32_t status) {
  const LastError error = std::exchange(*last_error, LastError());
  if (error.exception && error.status == status) std::rethrow_exception(error.exception);
  switch (status) {
  case TENON_VALUE_ERROR: throw ValueError(error.text);
  case TENON_TYPE_ERROR: throw TypeError(error.text);
  case TENON_INDEX_ERROR: throw IndexError(error.text);
  case TENON_NOT_IMPLEMENTED: throw NotImplementedError(error.text);
  default: throw Error(error.text);
  }
}

void* allocate(size_t bytes) noexcept { return std::malloc(bytes ? bytes : 1); }
void release_value(TenonValue* value) noexcept { release(*value); }

Device device_from(int32_t type, int32_t index) {
  return Device(static_cast<DeviceType>(type), static_cast<DeviceIndex>(index));
}
TenonTensor shared_handle(const TensorBase& t) {
  return handle(IntrusivePtr<TensorImpl>(t.impl()).detach());
}

int32_t tensor_empty(const int64_t* sizes, const int64_t* strides, int64_t dim, int32_t dtype,
                     int32_t type, int32_t index, TenonTensor* result) noexcept {
  return guarded([&] {
    const IntArrayRef shape(sizes, static_cast<size_t>(dim));
    const auto element = static_cast<ScalarType>(dtype);
    const Device device = device_from(type, index);
    *result = shared_handle(
        strides ? empty_strided(shape, {strides, static_cast<size_t>(dim)}, element, device)
                : empty(shape, element, device));
  });
}

int32_t tensor_from_memory(void* data, const int64_t* sizes, const int64_t* strides, int64_t dim,
                           int32_t dtype, int32_t type, int32_t index,
                           void (*release_memory)(void*), void* context,
                           TenonTensor* result) noexcept {
  return guarded([&] {
    const auto n = static_cast<size_t>(dim);
    const auto options =
        TensorOptions().dtype(static_cast<ScalarType>(dtype)).device(device_from(type, index));
    std::function<void(void*)> deleter;
    if (release_memory) deleter = [=](void*) { release_memory(context); };
    *result = shared_handle(from_blob(data, IntArrayRef(sizes, n),
                                      strides ? IntArrayRef(strides, n) : IntArrayRef(),
                                      std::move(deleter), options));
  });
}

void tensor_retain(TenonTensor t) noexcept { IntrusivePtr<TensorImpl>::share(impl_of(t)).detach(); }
void tensor_release(TenonTensor t) noexcept { IntrusivePtr<TensorImpl>::adopt(impl_of(t)); }
int64_t tensor_dim(TenonTensor t) noexcept {
  return static_cast<int64_t>(impl_of(t)->sizes.size());
}
const int64_t* tensor_sizes(TenonTensor t) noexcept { return impl_of(t)->sizes.data(); }
const int64_t* tensor_strides(TenonTensor t) noexcept { return impl_of(t)->strides.data(); }
int64_t tensor_numel(TenonTensor t) noexcept { return impl_of(t)->numel; }
int32_t tensor_dtype(TenonTensor t) noexcept { return static_cast<int32_t>(impl_of(t)->dtype); }
int32_t tensor_layout(TenonTensor t) noexcept { return static_cast<int32_t>(impl_of(t)->layout); }
void tensor_device(TenonTensor t, int32_t* type, int32_t* index) noexcept {
  *type = static_cast<int32_t>(impl_of(t)->device.type());
  *index = impl_of(t)->device.index();
}
int32_t tensor_is_contiguous(TenonTensor t) noexcept { return impl_of(t)->contiguous; }
TensorBase borrowed(TenonTensor t) {
  return TensorBase(IntrusivePtr<TensorImpl>::share(impl_of(t)));
}
int32_t tensor_requires_grad(TenonTensor t) noexcept { return borrowed(t).requires_grad(); }
int32_t tensor_data(TenonTensor t, void** data) noexcept {
  return guarded([&] { *data = borrowed(t).data_ptr(); });
}

// ---- Operators

int32_t operator_find(const char* name, TenonOperator* result) noexcept {
  return guarded([&] { *result = handle(get_operator(name)); });
}

Stack stack_of(const TenonValue* arguments, int64_t count) {
  Stack stack;
  for (int64_t i = 0; i < count; ++i) stack.push_back(read(arguments[i]));
  return stack;
}

void give_results(const OperatorEntry& op, const Stack& stack, TenonValue* results,
                  int64_t capacity, int64_t* count) {
  TENON_CHECK(static_cast<int64_t>(stack.size()) <= capacity, "[", op.qualified_name(), "] gives ",
              stack.size(), " results, the caller has room for ", capacity);
  for (size_t i = 0; i < stack.size(); ++i) results[i] = give(stack[i]);
  *count = static_cast<int64_t>(stack.size());
}

void check_count(const OperatorEntry& op, int64_t count) {
  const size_t expected = schema_of(op)->args.size();
  TENON_CHECK_TYPE(count == static_cast<int64_t>(expected), "[", op.qualified_name(), "] takes ",
                   expected, " arguments, got ", count);
}

int32_t operator_call(TenonOperator op, const TenonValue* arguments, int64_t count,
                      TenonValue* results, int64_t capacity, int64_t* result_count) noexcept {
  return guarded([&] {
    check_count(entry_of(op), count);
    Stack stack = stack_of(arguments, count);
    entry_of(op).call_boxed(stack);
    give_results(entry_of(op), stack, results, capacity, result_count);
  });
}

DispatchKeySet keys_from(uint64_t bits) {
  return {static_cast<uint8_t>(bits & 0xff), static_cast<uint8_t>(bits >> 8 & 0xff)};
}
uint64_t bits_of(DispatchKeySet keys) { return keys.layers | uint64_t{keys.backends} << 8; }

int32_t operator_redispatch(TenonOperator op, uint64_t keys, const char* layer,
                            const TenonValue* arguments, int64_t count, TenonValue* results,
                            int64_t capacity, int64_t* result_count) noexcept {
  return guarded([&] {
    const auto without = layer_of(parse_dispatch_key(layer));
    TENON_CHECK_VALUE(without, "operator_redispatch: '", layer, "' is no layer");
    check_count(entry_of(op), count);
    Stack stack = stack_of(arguments, count);
    redispatch_boxed(entry_of(op), keys_from(keys).remove(*without), stack);
    give_results(entry_of(op), stack, results, capacity, result_count);
  });
}

/// Whether the overload takes the values; arguments behind them are left out.
bool takes(const schema::FunctionSchema& schema, const Stack& values) {
  if (schema.args.size() < values.size() || schema.is_out()) return false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    if (i >= values.size()) {
      if (!argument.default_value && !argument.type.is_optional()) return false;
      continue;
    }
    try {
      detail::check_value(values[i], argument.type);
    } catch (const detail::ValueMismatch&) {
      return false;
    }
  }
  return true;
}

int32_t call(const char* name, const TenonValue* arguments, int64_t count, TenonValue* results,
             int64_t capacity, int64_t* result_count) noexcept {
  return guarded([&] {
    Stack stack = stack_of(arguments, count);
    const std::vector<OperatorEntry*> overloads = operators_named(name);
    TENON_CHECK_VALUE(!overloads.empty(), "no operator '", name, "'");
    for (const OperatorEntry* op : overloads) {
      const auto schema = schema_of(*op);
      if (!takes(*schema, stack)) continue;
      for (size_t i = stack.size(); i < schema->args.size(); ++i) {
        const auto& argument = schema->args[i];
        stack.push_back(argument.default_value
                            ? default_argument(*argument.default_value, argument.type)
                            : Value());
      }
      op->call_boxed(stack);
      return give_results(*op, stack, results, capacity, result_count);
    }
    std::string message = detail::concat("[", name, "] no overload takes (");
    for (size_t i = 0; i < stack.size(); ++i)
      message.append(i ? ", " : "").append(stack[i].type_name());
    message.append("); there are:");
    for (const OperatorEntry* op : overloads) message.append("\n  ").append(op->info->schema);
    detail::raise<TypeError>(message);
  });
}

// ---- Registration

Library& library_of(TenonLibrary library) { return *reinterpret_cast<Library*>(library); }

/// What this thread's library has opened while it starts. What has started is never closed: the
/// registry refers to the library's code.
thread_local std::vector<std::unique_ptr<Library>>* opened = nullptr;

int32_t library_open(const char* ns, const char* place, TenonLibrary* result) noexcept {
  return guarded([&] {
    TENON_CHECK(opened, "library_open: libraries are opened by `start` alone");
    opened->push_back(std::make_unique<Library>(
        ns, Library::FRAGMENT, DispatchKey::CompositeImplicit, std::string(place)));
    *result = reinterpret_cast<TenonLibrary>(opened->back().get());
  });
}

int32_t library_define(TenonLibrary library, const char* schema) noexcept {
  return guarded([&] { library_of(library).def(schema); });
}

/// A library's kernel as a boxed one.
BoxedKernel boxed(TenonKernel kernel, void* state, bool counts_changes) {
  // Looked up by the first call: it takes a lock. (std::call_once would want thread-local memory of
  // the C++ library in the place that is reserved at the program's start.)
  struct Known {
    std::atomic<const schema::FunctionSchema*> schema{nullptr};
    std::mutex mutex;
    std::shared_ptr<const schema::FunctionSchema> owned;

    const schema::FunctionSchema* of(const OperatorEntry& op) {
      const schema::FunctionSchema* found = schema.load(std::memory_order_acquire);
      if (found) return found;
      std::lock_guard lock(mutex);
      owned = schema_of(op);
      schema.store(owned.get(), std::memory_order_release);
      return owned.get();
    }
  };
  return [=, known = std::make_shared<Known>()](const OperatorEntry& op, DispatchKeySet keys,
                                                Stack& stack) {
    const schema::FunctionSchema* const schema = known->of(op);
    const size_t first = stack.size() - schema->args.size();
    Results results(schema->returns.size());
    {
      const Lent arguments(stack.data() + first, schema->args.size());
      const int32_t status = kernel(state, handle(op), bits_of(keys), arguments.data(),
                                    arguments.size(), results.data(), results.size());
      if (status != TENON_OK) raise_last(status);
    }
    for (size_t i = 0; counts_changes && i < schema->args.size(); ++i) {
      if (schema->args[i].is_mutable() && stack[first + i].is_tensor())
        stack[first + i].to_tensor().unsafe_impl()->bump_version();
    }
    stack.resize(first);
    for (size_t i = 0; i < schema->returns.size(); ++i) stack.push_back(results.take(i));
  };
}

int32_t library_kernel(TenonLibrary library, const char* name, const char* key, TenonKernel kernel,
                       void* state) noexcept {
  return guarded([&] {
    const DispatchKey place = parse_dispatch_key(key);
    library_of(library).impl(name, place,
                             boxed(kernel, state, place <= DispatchKey::CompositeExplicit));
  });
}

int32_t library_derivative(TenonLibrary library, const char* name,
                           const TenonDerivative* given) noexcept {
  return guarded([&] {
    BoxedDerivative derivative;
    derivative.saved_arguments = given->saved_arguments;
    derivative.saved_results = given->saved_results;
    derivative.backward = [backward = given->backward,
                           state = given->state](const BoxedDerivative::Call& call) {
      const Lent gradients(call.gradients.data(), call.gradients.size());
      const Lent results(call.results.data(), call.results.size());
      const Lent arguments(call.arguments.data(), call.arguments.size());
      const std::vector<uint8_t> wanted(call.wanted.begin(), call.wanted.end());
      const Lent argument_sizes(call.argument_sizes.data(), call.argument_sizes.size());
      const Lent result_sizes(call.result_sizes.data(), call.result_sizes.size());
      Results out(call.arguments.size());
      const TenonBackwardCall lent{handle(call.op), gradients.data(),      results.data(),
                                   results.size(),  arguments.data(),      arguments.size(),
                                   wanted.data(),   argument_sizes.data(), result_sizes.data()};
      const int32_t status = backward(state, &lent, out.data());
      if (status != TENON_OK) raise_last(status);
      Stack stack;
      for (size_t i = 0; i < call.arguments.size(); ++i) stack.push_back(out.take(i));
      return stack;
    };
    library_of(library).impl(name, DispatchKey::Autograd, recorded_with(std::move(derivative)));
  });
}

// ---- Threads

int64_t thread_count() noexcept { return get_num_threads(); }
void parallel_for_pieces(int64_t begin, int64_t end, int64_t grain,
                         void (*f)(void*, int64_t, int64_t), void* context) noexcept {
  tenon::parallel_for(begin, end, grain, [=](int64_t b, int64_t e) { f(context, b, e); });
}
int32_t is_recording() noexcept {
  constexpr uint8_t kTangents = DispatchKeySet(DispatchLayer::ForwardGrad).layers;
  return GradMode::is_enabled() || thread_state.batched_gradients ||
         !(thread_state.skipped_layers & kTangents);
}
int32_t set_recording(int32_t on) noexcept {
  const bool before = GradMode::is_enabled();
  GradMode::set_enabled(on != 0);
  return before;
}
int32_t default_dtype() noexcept { return static_cast<int32_t>(get_default_dtype()); }

int32_t result_type_of(const TenonValue* values, int64_t count, int32_t* dtype) noexcept {
  return guarded([&] {
    std::vector<TensorBase> tensors;
    std::vector<Scalar> numbers;
    for (int64_t i = 0; i < count; ++i) {
      const Value value = read(values[i]);
      if (value.is_tensor()) {
        tensors.push_back(value.to_tensor());
      } else if (!value.is_none()) {
        numbers.push_back(value.to_scalar());
      }
    }
    std::vector<const TensorBase*> tensor_pointers;
    for (const TensorBase& t : tensors) tensor_pointers.push_back(&t);
    std::vector<const Scalar*> number_pointers;
    for (const Scalar& n : numbers) number_pointers.push_back(&n);
    *dtype = static_cast<int32_t>(native::result_type(tensor_pointers, number_pointers));
  });
}

constexpr TenonInterface kTable = {
    TENON_INTERFACE_MAJOR,
    TENON_INTERFACE_MINOR,
    sizeof(TenonInterface),
    TENON_VERSION,
    set_error,
    [] { return last_error->text.c_str(); },
    allocate,
    release_value,
    tensor_empty,
    tensor_from_memory,
    tensor_retain,
    tensor_release,
    tensor_dim,
    tensor_sizes,
    tensor_strides,
    tensor_numel,
    tensor_dtype,
    tensor_layout,
    tensor_device,
    tensor_is_contiguous,
    tensor_requires_grad,
    tensor_data,
    operator_find,
    operator_call,
    operator_redispatch,
    library_open,
    library_define,
    library_kernel,
    thread_count,
    parallel_for_pieces,
    is_recording,
    set_recording,
    call,
    library_derivative,
    default_dtype,
    result_type_of,
};

/// Lets a library register its operators. Error that names both versions if it needs another one
/// of the interface; the library's own errors, after which nothing of it is registered.
void start_library(const void* exported, const std::string& path) {
  const auto& library = *static_cast<const TenonStableLibrary*>(exported);
  const bool newer = library.minor > TENON_INTERFACE_MINOR;
  TENON_CHECK(library.major == TENON_INTERFACE_MAJOR && !newer, path, " was built for version ",
              library.major, ".", library.minor, " of the stable interface; Tenon ", TENON_VERSION,
              " has version ", TENON_INTERFACE_MAJOR, ".", TENON_INTERFACE_MINOR, ". ",
              library.major < TENON_INTERFACE_MAJOR
                  ? "Build the library with the headers of this Tenon"
                  : "Use a newer Tenon, or build the library with the headers of this one");
  std::vector<std::unique_ptr<Library>> libraries;
  opened = &libraries;
  const int32_t status = library.start(&kTable);
  opened = nullptr;
  if (status != TENON_OK) raise_last(status);
  // Never destroyed: libraries unregister what graphs and handles may refer to.
  static auto& started = *new std::vector<std::unique_ptr<Library>>;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  for (auto& one : libraries) started.push_back(std::move(one));
}

[[maybe_unused]] const bool is_set = [] {
  detail::set_starter_of_stable_libraries(start_library);
  return true;
}();

}  // namespace
}  // namespace tenon::stable_interface
