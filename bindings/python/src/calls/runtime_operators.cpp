#include <memory>

#include "aten/dispatch/alias_library.h"
#include "aten/dispatch/default_argument.h"
#include "aten/dispatch/load_library.h"
#include "aten/dispatch/operator_entry.h"
#include "aten/dispatch/registration.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/boxed_values.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/calls/dispatch_arguments.h"
#include "bindings/python/src/calls/foreign_calls.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/named_values.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"

/// Operators of any library by their names, `tenon.ops.mine.swiglu`, through boxed calls: nothing
/// is generated for them.
namespace tenon::python {

using schema::BaseType;

namespace {

/// An overload as the argument parser knows it, made of its schema.
struct RuntimeOverload : Overload {
  const OperatorEntry* entry;
  schema::FunctionSchema schema;
  std::vector<Parameter> list;
  std::string text;
};

/// All overloads of one name.
struct RuntimeFunction : Function {
  std::string text, document;
  std::vector<std::unique_ptr<RuntimeOverload>> all;
  std::vector<const Overload*> pointers;
  PyMethodDef definition;
};

Kind kind_of(const schema::Type& type) {
  const schema::Type plain = type.without_optional();
  const bool list = plain.is_list();
  switch (type.base) {
  case BaseType::kTensor:
    if (!list) return Kind::Tensor;
    return plain.element().is_optional() ? Kind::OptionalTensorList : Kind::TensorList;
  case BaseType::kInt:
  case BaseType::kSymInt: return list ? Kind::IntList : Kind::Int;
  case BaseType::kFloat: return list ? Kind::FloatList : Kind::Float;
  case BaseType::kBool: return list ? Kind::BoolList : Kind::Bool;
  case BaseType::kScalar: return list ? Kind::ScalarList : Kind::Scalar;
  case BaseType::kStr: return Kind::String;
  case BaseType::kScalarType: return Kind::DType;
  case BaseType::kLayout: return Kind::Layout;
  case BaseType::kDevice: return Kind::Device;
  case BaseType::kMemoryFormat: return Kind::MemoryFormat;
  case BaseType::kGenerator: return Kind::Generator;
  default: break;
  }
  throw NotImplementedError("an argument of type " + schema::to_string(type) +
                            " cannot be passed from Python");
}

Value value_of(Arguments& a, size_t i) {
  const Parameter& p = a.overload->parameters[i];
  switch (p.kind) {
  case Kind::Tensor:
  case Kind::Out: return TensorBase(a.tensor(i));
  case Kind::TensorList: {
    const auto list = a.tensors(i);
    return Value::Tensors(list.begin(), list.end());
  }
  case Kind::OptionalTensorList: {
    Value::Tensors list;
    for (const auto& t : a.optional_tensors(i)) list.push_back(t ? TensorBase(*t) : TensorBase());
    return list;
  }
  case Kind::Int: return a.integer(i);
  case Kind::IntList: return IntArrayRef(a.integers(i));
  case Kind::Float: return a.real(i);
  case Kind::FloatList: return a.reals(i);
  case Kind::Bool: return a.boolean(i);
  case Kind::BoolList: {
    Value::Bools list;
    PyObject* const items = a.values[i];
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items); ++k) {
      list.push_back(Arguments::read_boolean(PySequence_Fast_GET_ITEM(items, k)));
    }
    return list;
  }
  case Kind::Scalar: return a.scalar(i);
  case Kind::ScalarList: return a.scalars(i);
  case Kind::String: return a.string(i);
  case Kind::DType: return a.dtype(i);
  case Kind::Layout: return a.layout(i);
  case Kind::Device: return a.device(i);
  case Kind::MemoryFormat: return a.memory_format(i);
  case Kind::Generator: return a.generator(i);
  }
  return {};
}

PyObject* call_boxed(Arguments& a) {
  const auto& overload = static_cast<const RuntimeOverload&>(*a.overload);
  const auto& args = overload.schema.args;
  Stack stack;
  stack.reserve(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (a.given(i)) {
      stack.push_back(value_of(a, i));
    } else if (a.values[i] && overload.list[i].kind == Kind::Bool && !args[i].type.is_optional()) {
      stack.push_back(false);  // None is false, as in PyTorch's operators
    } else if (args[i].default_value && (!a.values[i] || !args[i].type.is_optional())) {
      stack.push_back(default_argument(*args[i].default_value, args[i].type));
    } else {
      stack.emplace_back();
    }
  }
  if (recorded_call) *recorded_call = {overload.entry, &overload.schema, stack};
  {
    const Unlocked unlocked(a);
    overload.entry->call_boxed(stack);
  }
  const auto& returns = overload.schema.returns;
  TENON_CHECK(stack.size() == returns.size(), "[", overload.schema.name, "] returned ",
              stack.size(), " values, expected ", returns.size());
  if (returns.empty()) return none();
  if (returns.size() == 1) return wrap_value(stack[0], returns[0].type);
  Object tuple = Object::adopt(PyTuple_New(static_cast<Py_ssize_t>(returns.size())));
  for (size_t i = 0; i < returns.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     wrap_value(stack[i], returns[i].type));
  }
  return tuple.release();
}

std::unique_ptr<RuntimeOverload> make_overload(const OperatorEntry& entry) {
  auto parsed = schema::parse_schema(entry.info->schema);
  TENON_CHECK(parsed.ok(), "the schema of ", entry.info->name, " cannot be read");
  auto overload = std::make_unique<RuntimeOverload>();
  overload->entry = &entry;
  overload->schema = std::move(*parsed.schema);
  const auto& args = overload->schema.args;
  TENON_CHECK(args.size() <= kMaximumParameters, "[", entry.info->name, "] has more than ",
              kMaximumParameters, " arguments");
  for (const auto& arg : args) {
    const Kind kind = kind_of(arg.type);
    const bool has_default = arg.default_value.has_value();
    const bool optional = arg.type.is_optional() || (kind == Kind::Bool && has_default);
    overload->list.push_back(
        {arg.name.c_str(), kind, optional, has_default, arg.type.list_size().value_or(0)});
  }
  const std::string text = schema::to_string(overload->schema);
  overload->text = text.substr(text.find('('));
  overload->signature = overload->text.c_str();
  overload->parameters = overload->list.data();
  overload->count = static_cast<uint8_t>(args.size());
  overload->positional = static_cast<uint8_t>(overload->schema.num_positional());
  overload->self = -1;
  overload->call = &call_boxed;
  return overload;
}

PyObject* call_runtime(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const auto* function = static_cast<const RuntimeFunction*>(PyCapsule_GetPointer(self, nullptr));
  return call_function(*function, nullptr, args, count, names);
}

/// The function of some overloads of one name, which Python may keep as long as it likes. Classes
/// that take its calls are told of `callable`, or of the function itself.
nb::object make_function(const std::string& name, const std::vector<OperatorEntry*>& entries,
                         nb::handle callable) {
  auto function = std::make_unique<RuntimeFunction>();
  for (const OperatorEntry* entry : entries) function->all.push_back(make_overload(*entry));
  function->text = name.substr(name.rfind(':') + 1);
  for (const auto& one : function->all) function->pointers.push_back(one.get());
  function->name = function->text.c_str();
  for (const auto& one : function->all) {
    function->document += function->text + one->signature + "\n";
  }
  function->overloads = function->pointers.data();
  function->count = function->pointers.size();
  function->definition = {function->name,
                          reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_runtime)),
                          METH_FASTCALL | METH_KEYWORDS, function->document.c_str()};
  // Kept for good: Python may keep the function as long as it likes.
  RuntimeFunction* const kept = function.release();
  const nb::object capsule = nb::steal(PyCapsule_New(kept, nullptr, nullptr));
  nb::object made = nb::steal(PyCFunction_NewEx(&kept->definition, capsule.ptr(), nullptr));
  set_callable(*kept, callable.is_none() ? made.ptr() : callable.ptr());
  return made;
}

/// The function of all overloads of "mine::swiglu"; None if there is no such operator.
nb::object find_function(const std::string& name, nb::handle callable) {
  std::vector<OperatorEntry*> entries;
  for (OperatorEntry* entry : operators_named(name)) entries.push_back(entry);
  return entries.empty() ? nb::none() : make_function(name, entries, callable);
}

/// The function of one overload; None if there is no such operator.
nb::object find_overload(const std::string& name, const std::string& overload,
                         nb::handle callable) {
  OperatorEntry* const entry = find_operator(name, overload);
  return entry ? make_function(name, {entry}, callable) : nb::none();
}

nb::object python_default(const schema::Argument& argument) {
  if (!argument.default_value) return nb::none();
  return nb::steal(
      wrap_value(default_argument(*argument.default_value, argument.type), argument.type));
}

/// None, or (the sets before and after the call, whether it is written).
nb::object alias_in_python(const std::optional<schema::Alias>& alias) {
  if (!alias) return nb::none();
  const auto text = [](const std::vector<char>& names) {
    nb::list list;
    for (const char name : names) list.append(nb::str(&name, 1));
    return list;
  };
  return nb::make_tuple(text(alias->before), text(alias->after), alias->after_wildcard,
                        alias->is_write);
}

/// What an overload's schema says: (its text, the arguments, the results); None if there is none.
nb::object schema_in_python(const std::string& name, const std::string& overload) {
  const OperatorEntry* const entry = find_operator(name, overload);
  if (!entry) return nb::none();
  const auto schema = schema_of(*entry);
  nb::list arguments, returns;
  for (const schema::Argument& a : schema->args) {
    arguments.append(nb::make_tuple(a.name, schema::to_string(a.type), a.kwarg_only,
                                    a.default_value.has_value(), python_default(a),
                                    alias_in_python(a.alias), a.type.list_size()));
  }
  for (const schema::Return& r : schema->returns) {
    returns.append(nb::make_tuple(r.name, schema::to_string(r.type), alias_in_python(r.alias)));
  }
  const std::string text = schema::to_string(*schema);
  return nb::make_tuple(text.substr(text.find('(')), arguments, returns);
}

}  // namespace

void add_runtime_operators(nb::module_& module) {
  module.def("_find_operator", &find_function, nb::arg("name"),
             nb::arg("callable").none() = nb::none());
  module.def("_find_overload", &find_overload, nb::arg("name"), nb::arg("overload"),
             nb::arg("callable").none() = nb::none());
  module.def("_overload_schema", &schema_in_python);
  module.def("_overloads", [](const std::string& name) {
    std::vector<std::string> overloads;
    for (const OperatorEntry* entry : operators_named(name))
      overloads.emplace_back(entry->info->overload);
    return overloads;
  });
  module.def(
      "_load_library",
      [](const std::string& path, bool replace) {
        return load_library(path, replace ? SameName::Replace : SameName::Keep);
      },
      nb::arg("path"), nb::arg("replace") = false);
  module.def("_operator_schemas", [](const std::string& prefix) {
    std::vector<std::pair<std::string, std::string>> list;
    for (const OperatorEntry* entry : all_operators()) {
      if (std::string_view(entry->info->name).starts_with(prefix)) {
        list.emplace_back(entry->info->name, entry->info->schema);
      }
    }
    return list;
  });
}

}  // namespace tenon::python
