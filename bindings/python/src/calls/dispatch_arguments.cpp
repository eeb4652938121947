#include "bindings/python/src/calls/dispatch_arguments.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "aten/dispatch/default_argument.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registration.h"
#include "bindings/python/src/calls/boxed_values.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/calls/shown_operators.h"
#include "codegen/schema/printer.h"
#include "tenon/ops/item.h"

namespace tenon::python {

using schema::BaseType;

namespace {

bool same_number(const Value& a, const Value& b) {
  const Scalar x = a.to_scalar(), y = b.to_scalar();
  if (x.is_complex() || y.is_complex()) return false;
  return x.is_integral(true) == y.is_integral(true) && x.toDouble() == y.toDouble();
}

template <class T>
bool same_items(const T& a, const T& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

/// Whether an argument is the default of its type. No tensor is.
bool is_same(const Value& a, const Value& b, const schema::Type& type) {
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (type.base == BaseType::kTensor || type.base == BaseType::kGenerator) return false;
  if (type.without_optional().is_list()) {
    switch (type.base) {
    case BaseType::kFloat: return same_items(a.to_doubles(), b.to_doubles());
    case BaseType::kBool: return same_items(a.to_bools(), b.to_bools());
    case BaseType::kScalar: return false;
    default: return same_items(a.to_ints(), b.to_ints());
    }
  }
  switch (type.base) {
  case BaseType::kStr: return a.to_str() == b.to_str();
  case BaseType::kBool: return a.to_bool() == b.to_bool();
  case BaseType::kFloat: return a.to_double() == b.to_double();
  case BaseType::kScalar: return same_number(a, b);
  case BaseType::kDevice: return a.to_device() == b.to_device();
  default: return a.to_int() == b.to_int();
  }
}

bool is_default(const Value& value, const schema::Argument& argument) {
  return argument.default_value &&
         is_same(value, default_argument(*argument.default_value, argument.type), argument.type);
}

nb::object to_python(const Value& value, const schema::Type& type) {
  if (value.is_tensor() && value.to_tensor().is_wrapped_number()) {
    const ExcludeLayers exclude(kPythonLayers);
    return nb::steal(wrap(Tensor(value.to_tensor()).item()));
  }
  return nb::steal(wrap_value(value, type));
}

/// PyTorch's own bindings say on which device a factory's tensor is made, and that it is not
/// pinned.
Value filled_in(const schema::FunctionSchema& schema, const schema::Argument& argument,
                const Value& value) {
  if (!value.is_none() || !argument.kwarg_only) return value;
  if (!schema.tensor_options()) return value;
  const bool has_tensors = std::any_of(schema.args.begin(), schema.args.end(),
                                       [](const auto& a) { return a.type.holds_tensors(); });
  const std::string_view name = schema.name;
  const bool made_like = name.ends_with("_like") || name == "new_zeros" || name == "new_ones" ||
                         name == "new_empty" || name == "new_full";
  if (argument.name == "pin_memory" && (!has_tensors || made_like)) return false;
  return argument.name == "device" && !has_tensors ? Value(Device(kCPU)) : value;
}

[[noreturn]] void refuse_result(nb::handle result, const char* type) {
  const nb::str kind = nb::repr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(result.ptr()))));
  tenon::detail::raise<Error>("Unable to cast Python instance of type ", kind.c_str(),
                              " to C++ type '", type, "'");
}

Value read_result(const OperatorEntry& op, nb::handle result, const schema::Type& type) {
  if (type.is_tensor() || type.is_optional_tensor()) {
    if (!result.is_none() && !is_tensor(result.ptr())) refuse_result(result, "at::Tensor");
  } else if (type.is_tensor_list() && !PyList_Check(result.ptr()) && !PyTuple_Check(result.ptr())) {
    refuse_result(result, "std::vector<at::Tensor>");
  }
  return read_value(
      result, type,
      tenon::detail::concat("[", op.qualified_name(), "] the result of __torch_dispatch__"));
}

}  // namespace

namespace {

/// The schema of the operator under whose name Python sees this one.
std::shared_ptr<const schema::FunctionSchema> schema_shown(const OperatorEntry& op) {
  const auto [name, overload] = shown_name(op);
  const OperatorEntry* const shown = find_operator(name, overload);
  return schema_of(shown ? *shown : op);
}

}  // namespace

nb::object overload_object(const OperatorEntry& op) {
  static auto& known = *new std::unordered_map<const OperatorEntry*, PyObject*>;
  PyObject*& object = known[&op];
  if (!object) {
    const auto [name, overload] = shown_name(op);
    const nb::object find = nb::module_::import_("tenon._ops").attr("_overload");
    object = find(name, overload).release().ptr();
  }
  return nb::borrow(object);
}

CallArguments to_python_arguments(const OperatorEntry& op, const schema::FunctionSchema& own,
                                  const Value* values) {
  const std::shared_ptr<const schema::FunctionSchema> shown = schema_shown(op);
  const schema::FunctionSchema& schema = shown->args.size() == own.args.size() ? *shown : own;
  CallArguments call;
  const auto add = [&](const Value& value, const schema::Type& type) {
    nb::object object = to_python(value, type);
    if (value.is_tensor() || value.is_tensor_list()) call.tensors.push_back(object);
    return object;
  };
  size_t positional = schema.num_positional();
  while (positional > 0 && is_default(values[positional - 1], schema.args[positional - 1])) {
    --positional;
  }
  call.args = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(positional)));
  for (size_t i = 0; i < positional; ++i) {
    PyTuple_SET_ITEM(call.args.ptr(), static_cast<Py_ssize_t>(i),
                     add(values[i], own.args[i].type).release().ptr());
  }
  nb::dict keywords;
  for (size_t i = schema.num_positional(); i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    const Value value = filled_in(schema, argument, values[i]);
    if (is_default(value, argument)) continue;
    keywords[argument.name.c_str()] = add(value, own.args[i].type);
  }
  add_shown_arguments(op, keywords);
  call.keywords = keywords;
  return call;
}

void read_python_results(const OperatorEntry& op, const schema::FunctionSchema& schema,
                         nb::handle result, const std::vector<Value>& arguments, Stack& stack) {
  const auto& returns = schema.returns;
  std::vector<Value> written;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (schema.args[i].is_mutable() && schema.args[i].type.is_tensor())
      written.push_back(arguments[i]);
  }
  size_t next = 0;
  const auto read = [&](nb::handle one, const schema::Return& r) {
    if (r.is_mutable() && r.type.is_tensor()) {
      stack.push_back(written.at(next++));
    } else {
      stack.push_back(read_result(op, one, r.type));
    }
  };
  if (returns.empty()) return;
  if (returns.size() == 1) return read(result, returns[0]);
  const bool sequence = PyTuple_Check(result.ptr()) || PyList_Check(result.ptr());
  const size_t size = sequence ? nb::len(result) : 1;
  TENON_CHECK(sequence && size == returns.size(), "[", op.qualified_name(),
              "] __torch_dispatch__ must return ", returns.size(), " results, got ",
              sequence ? "" : Py_TYPE(result.ptr())->tp_name, sequence ? std::to_string(size) : "");
  for (size_t i = 0; i < size; ++i) read(nb::object(result[i]), returns[i]);
}

}  // namespace tenon::python
