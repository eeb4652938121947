#include "codegen/emit/emit_python.h"

#include <map>
#include <tuple>

namespace tenon::codegen {
namespace {

using schema::BaseType;
using schema::Type;

/// What a value of one base type is called: in Parameter::Kind, among the conversions of
/// Arguments, and in signatures for people.
struct Spelling {
  const char* kind;
  const char* get;
  const char* text;
};

Spelling spelling_of(BaseType base) {
  switch (base) {
  case BaseType::kTensor: return {"Tensor", "tensor", "Tensor"};
  case BaseType::kInt:
  case BaseType::kSymInt:
  case BaseType::kDeviceIndex: return {"Int", "integer", "int"};
  case BaseType::kFloat: return {"Float", "real", "float"};
  case BaseType::kBool:
  case BaseType::kSymBool: return {"Bool", "boolean", "bool"};
  case BaseType::kStr: return {"String", "string", "str"};
  case BaseType::kScalar: return {"Scalar", "scalar", "Number"};
  case BaseType::kScalarType: return {"DType", "dtype", "dtype"};
  case BaseType::kLayout: return {"Layout", "layout", "layout"};
  case BaseType::kDevice: return {"Device", "device", "device"};
  case BaseType::kMemoryFormat: return {"MemoryFormat", "memory_format", "memory_format"};
  case BaseType::kGenerator: return {"Generator", "generator", "Generator"};
  default: break;
  }
  return {"", "", ""};
}

/// An argument as the tables of Python's argument parser know it, and for its signature.
struct Parameter {
  ir::PythonParameter row;
  std::string read;  ///< the conversion
  std::string type_text;
  std::string default_cpp, default_text;
};

/// Empty for a type that Python does not pass.
std::optional<Parameter> emit_parameter(const schema::Argument& argument,
                                        const std::string& default_cpp) {
  const Type& type = argument.type;
  const Type plain = type.without_optional();
  const Spelling spelling = spelling_of(type.base);
  if (!*spelling.kind) return std::nullopt;
  std::string kind = spelling.kind, get = spelling.get, text = spelling.text;
  const bool elements_optional = plain.is_list() && plain.element().is_optional();
  if (plain.is_list()) {
    kind = (elements_optional ? "Optional" : "") + kind + "List";
    get = (elements_optional ? "optional_" : "") + get + "s";
    text = "tuple of " + text + "s";
  }
  if (type.is_optional()) get = "optional_" + get;
  if (argument.is_mutable() && get == "tensor") get = "mutable_tensor";
  const int64_t size = type.list_size().value_or(0);
  if (plain.is_list() && type.base == BaseType::kBool) get += "<" + std::to_string(size) + ">";
  std::string fallback = default_cpp;
  const bool none = fallback == "::std::nullopt" || (type.is_optional() && fallback == "{}");
  if (none) fallback.clear();
  if (plain.is_list() && !fallback.empty() && fallback[0] != '{') fallback = "{" + fallback + "}";
  // None is PyTorch's way to leave out a list that is empty by default.
  const bool takes_none = type.is_optional() || (plain.is_list() && argument.default_value &&
                                                 argument.default_value->text == "[]");
  return Parameter{{argument.name == "self" ? "input" : argument.name, kind, takes_none,
                    argument.default_value.has_value(), size},
                   get,
                   type.is_optional() ? text + "?" : text,
                   fallback,
                   argument.default_value ? argument.default_value->text : ""};
}

/// "(Tensor input, Number other, *, Number alpha=1) -> Tensor"
std::string signature_text(const std::vector<Parameter>& parameters, size_t positional,
                           const std::string& results) {
  std::string text = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (i) text += ", ";
    if (i == positional) text += "*, ";
    text += p.type_text + " " + p.row.name;
    if (p.row.has_default) text += "=" + p.default_text;
  }
  return text + ") -> " + results;
}

std::string results_text(const schema::FunctionSchema& schema) {
  const auto one = [](const schema::Return& r) {
    const std::string text = spelling_of(r.type.base).text;
    return r.type.is_list() ? "tuple of " + text + "s" : text;
  };
  if (schema.returns.empty()) return "None";
  if (schema.returns.size() == 1) return one(schema.returns[0]);
  std::string text = "(";
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const auto& r = schema.returns[i];
    text += (i ? ", " : "") + one(r) + (r.name.empty() ? "" : " " + r.name);
  }
  return text + ")";
}

/// What a parameter takes, as type checkers read it.
std::string hint_of(const ir::PythonParameter& parameter) {
  static const std::map<std::string, const char*> kHints = {
      {"Tensor", "Tensor"},
      {"TensorList", "Sequence[Tensor]"},
      {"OptionalTensorList", "Sequence[Optional[Tensor]]"},
      {"Int", "_int"},
      {"IntList", "Sequence[_int]"},
      {"Float", "_float"},
      {"FloatList", "Sequence[_float]"},
      {"Bool", "_bool"},
      {"BoolList", "Sequence[_bool]"},
      {"Scalar", "Number"},
      {"ScalarList", "Sequence[Number]"},
      {"String", "_str"},
      {"DType", "Union[_dtype, _type]"},
      {"Layout", "_layout"},
      {"Device", "Union[_device, _str, _int]"},
      {"MemoryFormat", "_memory_format"},
      {"Generator", "Generator"},
      {"Out", "Tensor"},
  };
  std::string hint = kHints.at(parameter.kind);
  if (parameter.kind == "Out" && parameter.size > 1) hint = "Tuple[Tensor, ...]";
  if (parameter.kind == "IntList" && parameter.size > 0) hint = "Union[_int, Sequence[_int]]";
  return parameter.optional ? "Optional[" + hint + "]" : hint;
}

/// What a call gives, as type checkers read it.
std::string result_hint(const ir::PythonCall& call) {
  static const std::map<std::string, const char*> kHints = {
      {"Tensor", "Tensor"}, {"TensorList", "Tuple[Tensor, ...]"},
      {"Bool", "_bool"},    {"Int", "_int"},
      {"Scalar", "Number"}, {"Float", "_float"},
  };
  if (call.return_kinds.empty()) return "None";
  std::string text;
  for (const std::string& kind : call.return_kinds)
    text += (text.empty() ? "" : ", ") + std::string(kHints.at(kind));
  return call.return_kinds.size() == 1 ? text : "Tuple[" + text + "]";
}

std::string parameter_stub(const ir::PythonParameter& parameter) {
  // `from` is a word of the language.
  const std::string name = parameter.name == "from" ? "from_" : parameter.name;
  return name + ": " + hint_of(parameter) + (parameter.has_default ? " = ..." : "");
}

ir::PythonStub stub_of(const ir::PythonCall& call, bool method) {
  std::string text = method ? "self" : "";
  for (size_t i = 0; i < call.parameters.size(); ++i) {
    if (method && static_cast<int>(i) == call.self) continue;
    if (!text.empty()) text += ", ";
    if (i == call.positional) text += "*, ";
    text += parameter_stub(call.parameters[i]);
  }
  return {text, result_hint(call)};
}

/// `x.view(2, 3)`: the same with the numbers of its only list each as an argument, if it has one.
std::optional<ir::PythonStub> varargs_stub(const ir::PythonCall& call, bool method) {
  const size_t first = method ? 1 : 0;
  const size_t list = method && call.self == 0 ? 1 : 0;
  if (call.positional != first + 1 || call.parameters.size() <= first) return std::nullopt;
  if (call.parameters[list].kind != "IntList") return std::nullopt;
  std::string text = (method ? "self, *" : "*") + call.parameters[first].name + ": _int";
  for (size_t i = first + 1; i < call.parameters.size(); ++i)
    text += ", " + parameter_stub(call.parameters[i]);
  return ir::PythonStub{text, result_hint(call)};
}

}  // namespace

std::optional<ir::PythonCall> emit_python_call(const schema::FunctionSchema& schema,
                                               const ir::Form& form, const std::string& module) {
  ir::PythonCall call;
  std::vector<Parameter> parameters;
  std::vector<size_t> outs;
  const bool is_out = schema.is_out();
  // In Python `out` is a tensor or a tuple of some, not as many as there happen to be.
  for (const schema::Argument* out : schema.out_args()) {
    if (is_out && out->type.is_tensor_list()) return std::nullopt;
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    std::optional<Parameter> p = emit_parameter(argument, form.arguments[i].default_text);
    if (!p) return std::nullopt;
    if (is_out && argument.is_mutable() && argument.kwarg_only) {
      call.arguments.push_back({"out", 0, std::to_string(outs.size())});
      outs.push_back(i);
      continue;
    }
    if (argument.name == "self") call.self = static_cast<int>(parameters.size());
    if (!argument.kwarg_only) ++call.positional;
    call.arguments.push_back({p->read, parameters.size(), p->default_cpp});
    parameters.push_back(std::move(*p));
  }
  const size_t out_at = parameters.size();
  if (is_out) {
    for (const size_t i : outs) call.arguments[i].at = out_at;
    parameters.push_back({{"out", "Out", false, false, static_cast<int64_t>(outs.size())},
                          "",
                          outs.size() > 1 ? "tuple of Tensors" : "Tensor",
                          "",
                          ""});
  }
  if (const std::optional<size_t> options = schema.tensor_options()) {
    if (is_out) call.checked = {*options, outs[0]};
    call.requires_grad = static_cast<int>(parameters.size());
    parameters.push_back({{"requires_grad", "Bool", false, true, 0}, "", "bool", "", "False"});
  }
  bool named = schema.returns.size() > 1;
  for (const auto& r : schema.returns) {
    call.return_kinds.push_back(std::string(spelling_of(r.type.base).kind) +
                                (r.type.is_list() ? "List" : ""));
    named = named && !r.name.empty();
    call.names.push_back(r.name);
  }
  if (!named) call.names.clear();
  call.ident = form.ident;
  call.name = form.name;
  call.schema = form.schema;
  call.cpp_namespace = form.cpp_namespace;
  call.module = module;
  call.signature = signature_text(parameters, call.positional, results_text(schema));
  // What an operator writes and returns is the object that the caller gave.
  call.again = is_out ? static_cast<int>(out_at) : form.return_type == "tenon::Tensor&" ? 0 : -1;
  call.returns = form.return_type == "void" ? "nothing" : named ? "named" : "value";
  call.function = form.function;
  call.method = form.method && !is_out && call.self >= 0;
  for (Parameter& p : parameters) call.parameters.push_back(std::move(p.row));
  return call;
}

void emit_python(const std::vector<ir::Entry>& operators, const std::vector<size_t>& members,
                 ir::File& file) {
  using Key = std::tuple<bool, std::string, std::string>;  // method, module, name
  std::map<Key, ir::PythonFunction> functions;
  // First what makes a result, then the forms with `out`, so that messages list them that way.
  for (const bool out : {false, true}) {
    for (const size_t at : members) {
      const ir::Entry& op = operators[at];
      for (const ir::Form& form : op.forms) {
        if ((form.kind == schema::SchemaKind::kOut) != out || !form.python) continue;
        const ir::PythonCall& call = *form.python;
        const auto add = [&](bool method) {
          const std::string module = method ? "" : call.module;
          ir::PythonFunction& function = functions[{method, module, call.name}];
          if (function.calls.empty()) {
            function.name = call.name;
            function.module = module;
            function.method = method;
            function.ident = (method ? "method_" : "function_") + call.name;
            if (op.expression) function.expression = *op.expression;
          }
          function.calls.push_back(call.ident);
        };
        if (call.function) add(false);
        if (call.method) add(true);
        file.calls.push_back(call);
      }
    }
  }
  for (auto& [key, function] : functions) file.functions.push_back(std::move(function));
}

void emit_stubs(ir::File& file) {
  std::map<std::string, const ir::PythonCall*> calls;
  for (const ir::PythonCall& call : file.calls) calls[call.ident] = &call;
  for (ir::PythonFunction& function : file.functions) {
    for (const std::string& ident : function.calls) {
      const ir::PythonCall& call = *calls.at(ident);
      function.stubs.push_back(stub_of(call, function.method));
      if (auto stub = varargs_stub(call, function.method))
        function.stubs.push_back(*std::move(stub));
    }
  }
  file.calls.clear();
}

}  // namespace tenon::codegen
