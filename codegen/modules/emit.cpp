#include "codegen/modules/emit.h"

#include <algorithm>
#include <map>

#include "codegen/modules/language.h"
#include "codegen/modules/python_statements.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::modules {
namespace {

using expr::Formula;
using nlohmann::ordered_json;

/// "AdaptiveAvgPool2d" of "adaptive_avg_pool2d".
std::string camel_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
    } else {
      text += upper ? char(std::toupper(c)) : c;
      upper = false;
    }
  }
  return text;
}

/// "tenon/ops/add.h" of "add", "mine/ops/f.h" of "mine::f".
std::vector<std::string> headers_of(const std::set<std::string>& operators) {
  std::vector<std::string> headers;
  for (const std::string& name : operators) {
    const size_t colons = name.find("::");
    headers.push_back(colons == std::string::npos
                          ? "tenon/ops/" + name + ".h"
                          : name.substr(0, colons) + "/ops/" + name.substr(colons + 2) + ".h");
  }
  return headers;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

class Emitter {
 public:
  Emitter(const Declarations& declarations, const std::set<std::string>& operators,
          DiagnosticSink& sink)
      : declarations_(declarations), operators_(operators), sink_(sink) {}

  ordered_json family(const Family& family) {
    called_.clear();
    own_names_.clear();
    ordered_json functions = ordered_json::array(), modules = ordered_json::array(),
                 python = ordered_json::array();
    ordered_json options = ordered_json::array();
    for (const Module& module : family.modules) {
      if (module.cpp) options.push_back(module_options(module));
    }
    for (const Function& function : family.functions) functions.push_back(emit_function(function));
    std::set<std::string> bases;
    bool math = false;
    for (const Module& module : family.modules) {
      if (module.cpp) modules.push_back(cpp_module(module));
      if (module.python) python.push_back(python_module(module, math));
      const bool in_family =
          std::any_of(family.modules.begin(), family.modules.end(),
                      [&](const Module& other) { return other.name == module.python_base; });
      if (!module.python_base.empty() && module.python && !in_family)
        bases.insert(module.python_base);
    }
    ordered_json python_functions = ordered_json::array();
    if (declarations_.base) {
      for (const Function& function : family.functions) {
        if (function.body) python_functions.push_back(python_function(function, math));
      }
    }
    std::string text = python_functions.dump();
    for (const ordered_json& one : python) text += one.dump();
    std::map<std::string, std::set<std::string>> imports;  // of other families, by Python
    for (const std::string& name : own_names_) {
      const Family* of = declarations_.base ? declarations_.family_of(name) : nullptr;
      if (of && of->name.text != family.name.text) imports[of->name.text].insert(name);
    }
    return {{"name", family.name.text},
            {"options", options},
            {"functions", functions},
            {"modules", modules},
            {"python", python},
            {"python_functions", python_functions},
            {"headers", headers_of_modules(family)},
            {"imports", imports},
            {"uses_nn", text.find("= nn.") != text.npos},
            {"bases", bases},
            {"math", math},
            {"init", text.find("init.") != text.npos},
            {"helpers", text.find("_helpers.") != text.npos},
            {"uses_module",
             std::any_of(family.modules.begin(), family.modules.end(),
                         [](const Module& m) { return m.python && m.python_base.empty(); })},
            {"uses_operators", text.find("tenon.") != text.npos},
            {"uses_parameters", text.find("parameter(") != text.npos},
            {"uses_parameter_class", text.find("Parameter(") != text.npos},
            {"uses_functional", text.find("F.") != text.npos},
            {"calls", headers_of(called_)}};
  }

 private:
  /// Headers of the families whose modules this one's have as members.
  std::set<std::string> headers_of_modules(const Family& family) {
    std::set<std::string> headers;
    for (const Module& module : family.modules) {
      for (const Submodule& submodule : module.submodules) {
        for (const Declarations* from = &declarations_; from; from = from->base) {
          const Family* of = from->family_of(submodule.type.text);
          if (!of) continue;
          if (of->name.text != family.name.text || from != &declarations_)
            headers.insert(from->library + "/nn/modules/" + of->name.text + ".h");
          break;
        }
      }
    }
    return headers;
  }

  /// The values of a submodule's arguments, in the order of its signature; nothing at mistakes.
  struct Given {
    const Argument* argument;
    const Expression* value;
  };
  std::vector<Given> values_of(const Submodule& submodule, const Module& type) {
    std::vector<Given> all;
    std::vector<std::string> known;
    for (const Argument& argument : type.arguments) {
      if (!is_option(argument)) continue;
      all.push_back({&argument, nullptr});
      known.push_back(argument.name());
    }
    size_t place = 0;
    for (const Submodule::Value& value : submodule.values) {
      const std::string& name = value.argument.text;
      const Location& where =
          name.empty() ? value.value.text.at(value.value.tree.offset) : value.argument.location;
      auto found = all.begin() + static_cast<ptrdiff_t>(std::min(place, all.size()));
      if (name.empty()) {
        ++place;
      } else {
        found = std::find_if(all.begin(), all.end(),
                             [&](const Given& one) { return one.argument->name() == name; });
      }
      if (found == all.end()) {
        sink_.error(where,
                    name.empty() ? "`" + type.name + "` takes " + std::to_string(all.size()) +
                                       " arguments, and here are more"
                                 : "`" + type.name + "` has no argument `" + name + "`",
                    name.empty() ? "" : schema::nearest(name, known));
        continue;
      }
      if (found->value) sink_.error(where, "`" + found->argument->name() + "` is given twice");
      found->value = &value.value;
    }
    for (const Given& one : all) {
      if (!one.value && !one.argument->schema.default_value)
        sink_.error(submodule.type.location,
                    "`" + type.name + "` needs its argument `" + one.argument->name() + "`");
    }
    return all;
  }

  const Module* type_of(const Submodule& submodule) {
    const Module* type = declarations_.find_module(submodule.type.text);
    if (type) return type;
    std::vector<std::string> known;
    for (const Declarations* from = &declarations_; from; from = from->base) {
      for (const Family& family : from->families) {
        for (const Module& module : family.modules) known.push_back(module.name);
      }
    }
    sink_.error(submodule.type.location,
                "`" + submodule.type.text + "` is no module that an entry declares",
                schema::nearest(submodule.type.text, known));
    return nullptr;
  }

  std::string library_of(const Module& type) const {
    return declarations_.family_of(type.name) ? declarations_.library : "tenon";
  }

  std::string cpp_value(const Given& given, Printer& printer) {
    const Formula& tree = given.value->tree;
    const std::string text = printer.print_value(*given.value, *given.argument),
                      type = option_type(*given.argument);
    if (tree.kind == expr::FormulaKind::kBraces) return type + text;
    return type.starts_with("std::vector<") && !is_list(tree, printer) ? type + "{" + text + "}"
                                                                       : text;
  }

  /// Whether the value is a list: an argument of the module that is one.
  static bool is_list(const Formula& tree, const Printer& printer) {
    const Argument* argument =
        tree.kind == expr::FormulaKind::kName ? printer.module()->find(tree.text) : nullptr;
    return argument && argument->schema.type.is_list();
  }

  /// `up = register_module("up", tenon::nn::Linear(tenon::nn::LinearOptions(a, b).bias(false)))`.
  ordered_json cpp_submodule(const Submodule& submodule, Printer& printer) {
    const Module* type = type_of(submodule);
    if (!type) return nullptr;
    const std::string name = library_of(*type) + "::nn::" + type->name;
    std::string required, others;
    for (const Given& given : values_of(submodule, *type)) {
      if (!given.value) continue;
      const std::string value = cpp_value(given, printer);
      if (!given.argument->schema.default_value) {
        required += (required.empty() ? "" : ", ") + value;
      } else {
        others += "." + given.argument->name() + "(" + value + ")";
      }
    }
    const std::string made = type->arguments.empty()
                                 ? name + "()"
                                 : name + "(" + name + "Options(" + required + ")" + others + ")";
    return {{"type", name},
            {"name", submodule.name.text},
            {"line", submodule.name.text + " = register_module(\"" + submodule.name.text + "\", " +
                         made + ");"}};
  }

  std::string python_submodule(const Submodule& submodule, Printer& printer) {
    const Module* type = declarations_.find_module(submodule.type.text);
    if (!type) return {};  // reported in cpp_submodule()
    std::string values;
    for (const Submodule::Value& value : submodule.values) {
      const std::string& name = value.argument.text;
      values += (values.empty() ? "" : ", ") + (name.empty() ? "" : python_name(name) + "=") +
                printer.print(value.value);
    }
    if (makes_tensors(*type))
      values += std::string(values.empty() ? "" : ", ") + "device=device, dtype=dtype";
    const bool own = declarations_.family_of(type->name) != nullptr;
    if (own) own_names_.insert(type->name);
    return "self." + submodule.name.text + " = " + (own ? "" : "nn.") + type->name + "(" + values +
           ")";
  }

  /// Whether the constructor in Python takes `device` and `dtype`.
  bool makes_tensors(const Module& module, int depth = 0) {
    if (depth > 50) {
      sink_.error(module.location, "module `" + module.name + "` has itself as a submodule");
      return false;
    }
    const auto of_submodule = [&](const Submodule& one) {
      const Module* type = declarations_.find_module(one.type.text);
      return type && makes_tensors(*type, depth + 1);
    };
    return !module.parameters.empty() ||
           std::any_of(module.buffers.begin(), module.buffers.end(),
                       [](const State& s) { return !s.sizes.empty(); }) ||
           std::any_of(module.submodules.begin(), module.submodules.end(), of_submodule);
  }

  static bool is_option(const Argument& argument) {
    return !argument.is_legacy() && !(argument.name() == "return_indices");
  }

  /// A class of options: its constructor takes what has no default.
  ordered_json options_class(const std::string& name, const std::string& comment,
                             const std::vector<Argument>& arguments) {
    ordered_json members = ordered_json::array(), required = ordered_json::array(), first = nullptr,
                 reduction = nullptr;
    for (const Argument& argument : arguments) {
      std::string type = option_type(argument), alias;
      if (type.find(", ") != std::string::npos) {
        alias = type;
        type = argument.name() + "_t";
      }
      ordered_json member = {
          {"name", argument.name()},
          {"type", type},
          {"alias", alias},
          // The constructor takes the value of what may be absent.
          {"given", type.starts_with("std::optional<") ? type.substr(14, type.size() - 15) : type},
          {"fallback", argument.fallback},
          {"is_word", !argument.words.empty() && !argument.schema.type.is_list()},
          {"default", argument.fallback.empty() ? cpp_default(argument) : ""}};
      const bool needed = !argument.schema.default_value;
      if (needed) required.push_back(member);
      if (!needed && first.is_null()) first = member;
      if (argument.name() == "reduction") reduction = member;
      members.push_back(std::move(member));
    }
    // The first argument that has a default may be given alone, and so may the reduction.
    if (!first.is_null() && first["is_word"]) first = nullptr;
    return {{"name", name},
            {"comment", lines_of(comment)},
            {"members", members},
            {"required", required},
            {"word", required.empty() ? reduction : ordered_json(nullptr)},
            {"first", required.empty() ? first : ordered_json(nullptr)}};
  }

  std::vector<Argument> module_option_arguments(const Module& module) {
    std::vector<Argument> all;
    for (const Argument& argument : module.arguments) {
      if (is_option(argument)) all.push_back(argument);
    }
    return all;
  }

  ordered_json module_options(const Module& module) {
    return options_class(module.name + "Options", "Options of " + module.name + ".",
                         module_option_arguments(module));
  }

  ordered_json emit_function(const Function& function) {
    std::vector<Argument> options;
    ordered_json positional = ordered_json::array(), passed = ordered_json::array(),
                 parameters = ordered_json::array();
    const bool all_positional =
        function.positional || std::all_of(function.arguments.begin(), function.arguments.end(),
                                           [](const Argument& a) { return a.is_tensor(); });
    for (const Argument& argument : function.arguments) {
      const std::string default_text = argument.fallback.empty() ? cpp_default(argument) : "";
      parameters.push_back({{"type", parameter_type(argument)}, {"name", argument.name()}});
      const bool is_positional =
          all_positional || (argument.is_tensor() && !argument.schema.default_value);
      if (is_positional) {
        positional.push_back({{"type", parameter_type(argument)},
                              {"name", argument.name()},
                              {"default", default_text}});
        passed.push_back(argument.name());
      } else {
        options.push_back(argument);
        passed.push_back("options." + argument.name() + "()");
      }
    }
    const std::string options_name =
        (function.options.empty() ? camel_case(function.name()) : function.options);
    ordered_json options_json = nullptr;
    if (!options.empty()) {
      options_json = options_class(options_name + "FuncOptions",
                                   "Options of functional::" + function.name() + ".", options);
      // A module's options are the function's if they are the same.
      options_json["same_as"] = "";
      for (const Family& family : declarations_.families) {
        for (const Module& module : family.modules) {
          if (!module.cpp || module.name != options_name) continue;
          const ordered_json other = module_options(module);
          if (other["members"] == options_json["members"]) {
            options_json["same_as"] = other["name"];
          }
        }
      }
    }
    ordered_json body = ordered_json::array();
    if (function.body) body = function_body(function);
    return {{"name", function.name()},
            {"comment", lines_of(function.comment)},
            {"result", result_type(function.schema.returns)},
            {"parameters", parameters},
            {"positional", positional},
            {"passed", passed},
            {"options", options_json},
            {"body", body}};
  }

  /// A function of a library beside Tenon, in Python.
  ordered_json python_function(const Function& function, bool& math) {
    Printer printer(Language::kPython,
                    {&declarations_, &operators_, nullptr, &function.arguments, false, true},
                    sink_);
    std::string parameters;
    for (const Argument& argument : function.arguments) {
      parameters += (parameters.empty() ? "" : ", ") + python_name(argument.name());
      if (std::string usual = python_default(argument); !usual.empty()) parameters += "=" + usual;
    }
    const std::string body = printer.print(*function.body);
    math = math || printer.uses_math();
    own_names_.insert(printer.own_names().begin(), printer.own_names().end());
    return {{"name", function.name()},
            {"comment", lines_of(function.comment)},
            {"parameters", parameters},
            {"body", body}};
  }

  ordered_json function_body(const Function& function) {
    Printer printer(Language::kCpp,
                    {&declarations_, &operators_, nullptr, &function.arguments, false, true},
                    sink_);
    std::string text = printer.print(*function.body);
    ordered_json lines = ordered_json::array();
    const bool inplace = std::any_of(function.arguments.begin(), function.arguments.end(),
                                     [](const Argument& a) { return a.name() == "inplace"; });
    const std::string call = "tenon::" + function.body->tree.children[0].text + "(";
    if (inplace && text.starts_with(call)) {
      const std::string& self = function.arguments[0].name();
      lines.push_back("if (inplace) {");
      lines.push_back("  Tensor written = " + self + ";");
      lines.push_back("  return tenon::" + function.body->tree.children[0].text + "_(written" +
                      text.substr(call.size() + self.size()) + ";");
      lines.push_back("}");
    }
    lines.push_back("return " + text + ";");
    called_.insert(printer.called().begin(), printer.called().end());
    return lines;
  }

  static std::string result_type(const std::vector<schema::Return>& returns) {
    if (returns.size() == 1) return "Tensor";
    std::string text = "std::tuple<";
    for (size_t i = 0; i < returns.size(); ++i) text += i ? ", Tensor" : "Tensor";
    return text + ">";
  }

  /// The arguments of `forward` that calls a function: its tensors that the module has not.
  std::vector<Argument> forward_arguments(const Module& module) {
    if (module.forward) return module.forward->arguments;
    std::vector<Argument> all;
    const Function* function = called_function(module);
    if (!function) return all;
    for (const Argument& argument : function->arguments) {
      if (argument.is_tensor() && !module.find(argument.name()) &&
          !module.find_state(argument.name()))
        all.push_back(argument);
    }
    for (const auto& [name, python] : module.forward_names) {
      const auto at = std::find_if(all.begin(), all.end(),
                                   [&](const Argument& one) { return one.name() == name.text; });
      if (at == all.end()) {
        std::vector<std::string> known;
        for (const Argument& one : all) known.push_back(one.name());
        sink_.error(name.location,
                    "`names` names `" + name.text +
                        "`, which is no argument of the module, nor a tensor that forward takes",
                    schema::nearest(name.text, known));
      } else {
        at->attribute = python;
      }
    }
    return all;
  }

  static std::string python_name_in_forward(const Module& module, const std::string& tensor) {
    for (const auto& [name, python] : module.forward_names) {
      if (name.text == tensor) return python;
    }
    return tensor;
  }

  const Function* called_function(const Module& module) {
    const Function* function = declarations_.find_function(module.calls);
    if (!function && !module.calls.empty()) {
      std::vector<std::string> known;
      for (const Family& family : declarations_.families) {
        for (const Function& one : family.functions) known.push_back(one.name());
      }
      sink_.error(module.location, "module `" + module.name + "` calls `" + module.calls +
                                       "`, which no entry declares");
    }
    return function;
  }

  /// The call of a function by what the module has under the names of its arguments.
  std::string call_by_name(const Module& module, Language language, bool with_indices = false) {
    const Function* function = called_function(module);
    if (!function) return {};
    const bool cpp = language == Language::kCpp;
    std::string text;
    bool by_name = false;  // Python: from the first that has a default on
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    for (const Argument& argument : function->arguments) {
      const std::string& name = argument.name();
      const Argument* own = module.find(name);
      std::string value;
      if (module.find_state(name)) {
        value = cpp ? name : "self." + name;
      } else if (own) {
        value = cpp ? "options." + name + "()" : "self." + python_name(own->attribute);
      } else if (name == "training") {
        value = cpp ? "is_training()" : "self.training";
      } else if (argument.is_tensor()) {
        add(cpp ? name : python_name(python_name_in_forward(module, name)));
        continue;
      } else if (!cpp && argument.schema.default_value) {
        continue;
      } else if (argument.schema.default_value) {
        value = cpp_default(argument);
      } else {
        sink_.error(module.location, "module `" + module.name + "` calls `" + function->name() +
                                         "` and has nothing for its argument `" + name + "`");
      }
      by_name = by_name || !argument.is_tensor() || argument.schema.default_value.has_value();
      add(cpp || !by_name ? value : python_name(name) + "=" + value);
    }
    if (!cpp && module.find("return_indices")) add("return_indices=self.return_indices");
    if (with_indices)
      return function_in_cpp(declarations_, function->name() + "_with_indices") + "(" + text + ")";
    return (cpp ? function_in_cpp(declarations_, function->name())
                : function_in_python(declarations_, function->name())) +
           "(" + text + ")";
  }

  ordered_json cpp_module(const Module& module) {
    const std::vector<Argument> options = module_option_arguments(module);
    Printer constructor(Language::kCpp,
                        {&declarations_, &operators_, &module, nullptr, true, false}, sink_);
    ordered_json reset = ordered_json::array(), initialise = ordered_json::array(),
                 members = ordered_json::array();
    for (const Expression& check : module.checks) reset.push_back(constructor.print_check(check));
    for (const bool is_buffer : {false, true}) {
      for (const State& state : is_buffer ? module.buffers : module.parameters) {
        members.push_back(state.name.text);
        reset.push_back(register_state(module, state, is_buffer, constructor));
      }
    }
    ordered_json submodules = ordered_json::array();
    for (const Submodule& submodule : module.submodules) {
      const ordered_json one = cpp_submodule(submodule, constructor);
      if (one.is_null()) continue;
      submodules.push_back(one);
      reset.push_back(one["line"]);
    }
    for (const auto* states : {&module.parameters, &module.buffers}) {
      for (const State& state : *states) {
        for (const Expression& call : state.init) {
          const std::string text = constructor.print_init(call, state.name.text) + ";";
          initialise.push_back((state.when ? "if (" + state.name.text + ".defined()) " : "") +
                               text);
        }
      }
    }
    const std::vector<Argument> arguments = forward_arguments(module);
    Printer printer(Language::kCpp,
                    {&declarations_, &operators_, &module, &arguments, false, false}, sink_);
    const std::vector<std::string> body =
        module.forward ? printer.print_body(module.forward->body)
                       : std::vector{"return " + call_by_name(module, Language::kCpp) + ";"};
    called_.insert(printer.called().begin(), printer.called().end());
    const Function* function = declarations_.find_function(module.calls);
    const auto& returns = module.forward ? module.forward->returns
                          : function     ? function->schema.returns
                                         : std::vector<schema::Return>(1);
    ordered_json parameters = ordered_json::array();
    for (const Argument& argument : arguments) {
      parameters.push_back({{"type", parameter_type(argument)},
                            {"name", argument.name()},
                            {"default", cpp_default(argument)}});
    }
    const ordered_json made_of = options_class("", "", options);
    ordered_json required = made_of["required"];
    if (required.empty() && !made_of["first"].is_null()) required.push_back(made_of["first"]);
    const bool has_default = made_of["required"].empty();
    return {{"name", module.name},
            {"comment", lines_of(module.comment)},
            {"constructor", required},
            {"has_default", has_default},
            {"base", module.cpp_base},
            {"holder", module.holder},
            {"members", members},
            {"submodules", submodules},
            {"reset", reset},
            {"initialise", initialise},
            {"result", result_type(returns)},
            {"parameters", parameters},
            {"forward", body},
            {"with_indices", module.find("return_indices")
                                 ? ordered_json(call_by_name(module, Language::kCpp, true))
                                 : ordered_json(nullptr)},
            {"shown", cpp_shown(module)}};
  }

  std::string register_state(const Module& module, const State& state, bool is_buffer,
                             Printer& printer) {
    const std::string& name = state.name.text;
    std::string value = "options." + state.given + "()";
    if (!state.sizes.empty()) {
      std::string sizes = size_list(module, state, printer);
      if (sizes.empty()) {
        for (const Expression& size : state.sizes)
          sizes += (sizes.empty() ? "{" : ", ") + printer.print(size);
        sizes += "}";
      }
      if (state.sizes.size() == 1 && state.sizes[0].text.text == "{}") sizes = "{}";
      const std::string made = "tenon::empty(" + sizes + ", TensorOptions(" +
                               (state.dtype == "long" ? "kLong" : "") + "))";
      value = state.given.empty() ? made : value + ".defined() ? " + value + " : " + made;
      called_.insert("empty");
    }
    const std::string kind = is_buffer ? "buffer" : "parameter";
    std::string more;
    if (state.when) {
      const std::string condition = printer.print(*state.when);
      value = "(" + condition + ") ? " + value + " : Tensor()";
      // What there is not needs no gradient.
      if (!is_buffer) more = ", " + condition;
    }
    return name + " = register_" + kind + "(\"" + name + "\", " + value + more + ");";
  }

  /// Whether the option has another value than its default.
  static std::string changed(const Argument& argument) {
    const std::string value = "options." + argument.name() + "()", usual = cpp_default(argument);
    if (usual == "false") return value;
    if (usual == "true") return "!" + value;
    if (usual == "std::nullopt") return value + ".has_value()";
    return "tenon::nn::functional::detail::differs(" + value + ", " + option_type(argument) + "(" +
           usual + "))";
  }

  ordered_json cpp_shown(const Module& module) {
    ordered_json parts = ordered_json::array();
    for (const ShownPart& part : module.shown_cpp.value_or(module.shown)) {
      const Argument* argument = module.find(part.name);
      if (!argument) {
        sink_.error(module.location, "`repr` of `" + module.name + "` names `" + part.name +
                                         "`, which is no argument");
        continue;
      }
      parts.push_back({{"name", part.bare ? "" : part.name},
                       {"value", "options." + part.name + "()"},
                       {"when", part.if_changed ? changed(*argument) : ""}});
    }
    return parts;
  }

  ordered_json python_module(const Module& module, bool& math) {
    Printer constructor(Language::kPython,
                        {&declarations_, &operators_, &module, nullptr, true, false}, sink_);
    ordered_json statements = ordered_json::array(), initialise = ordered_json::array();
    const bool takes_options = makes_tensors(module);
    const bool has_tensors =
        !module.parameters.empty() || std::any_of(module.buffers.begin(), module.buffers.end(),
                                                  [](const State& s) { return !s.sizes.empty(); });
    for (const Argument& argument : module.arguments) {
      if (std::string line = python_assignment(module, argument); !line.empty())
        statements.push_back(line);
    }
    for (const Expression& check : module.checks)
      statements.push_back(constructor.print_check(check));
    if (has_tensors) statements.push_back("options = options_of(device, dtype)");
    for (const bool is_buffer : {false, true}) {
      for (const State& state : is_buffer ? module.buffers : module.parameters) {
        statements.push_back(python_register(module, state, is_buffer, constructor));
      }
    }
    for (const Submodule& submodule : module.submodules)
      statements.push_back(python_submodule(submodule, constructor));
    Printer later(Language::kPython,
                  {&declarations_, &operators_, &module, nullptr, false, false, true}, sink_);
    for (const auto* states : {&module.parameters, &module.buffers}) {
      for (const State& state : *states) python_init(state, later, initialise);
    }
    std::string given;
    for (const State& state : module.parameters) given = given.empty() ? state.given : given;
    if (!initialise.empty()) {
      statements.push_back(given.empty()
                               ? "self.reset_parameters()"
                               : "if " + given + " is None:\n            self.reset_parameters()");
    }
    const std::vector<Argument> arguments = forward_arguments(module);
    Printer printer(Language::kPython,
                    {&declarations_, &operators_, &module, &arguments, false, false}, sink_);
    const std::vector<std::string> body =
        module.forward ? printer.print_body(module.forward->body)
                       : std::vector{"return " + call_by_name(module, Language::kPython)};
    own_names_.insert(printer.own_names().begin(), printer.own_names().end());
    if (!module.forward) own_names_.insert(module.calls);
    math = math || constructor.uses_math() || later.uses_math() || printer.uses_math();
    std::string parameters = "self";
    for (const Argument& argument : arguments) {
      parameters += ", " + python_name(argument.attribute);
      if (std::string text = python_default(argument); !text.empty()) parameters += "=" + text;
    }
    return {{"name", module.name},
            {"comment", lines_of(module.comment)},
            {"base", module.python_base.empty() ? "Module" : module.python_base},
            {"base_arguments", module.python_base_arguments},
            {"version", module.version ? ordered_json(*module.version) : ordered_json(nullptr)},
            {"parameters", python_parameters(module, takes_options)},
            {"statements", statements},
            {"initialise", initialise},
            {"forward_parameters", parameters},
            {"forward", body},
            {"shown", python_shown(module)}};
  }

  const Declarations& declarations_;
  const std::set<std::string>& operators_;
  DiagnosticSink& sink_;
  std::set<std::string> called_, own_names_;
};

}  // namespace

ordered_json emit(const Declarations& declarations, const std::set<std::string>& operators,
                  DiagnosticSink& sink) {
  Emitter emitter(declarations, operators, sink);
  ordered_json families = ordered_json::array(), files = ordered_json::array();
  const std::string python =
      declarations.base ? "python/" + declarations.library + "/" : "python/nn/modules/";
  const auto add_file = [&](const std::string& path, const std::string& template_name,
                            std::vector<size_t> of) {
    files.push_back({{"path", path}, {"template_name", template_name}, {"operators", of}});
  };
  std::vector<size_t> all;
  for (const Family& family : declarations.families) {
    const size_t at = families.size();
    all.push_back(at);
    const ordered_json one = emitter.family(family);
    const std::string& name = family.name.text;
    if (!one["options"].empty() || !one["functions"].empty()) {
      add_file(declarations.library + "/nn/options/" + name + ".h", "options.h.j2", {at});
      add_file(declarations.library + "/nn/" + name + ".cpp", "family.cpp.j2", {at});
    }
    if (!one["functions"].empty())
      add_file(declarations.library + "/nn/functional/" + name + ".h", "functional.h.j2", {at});
    if (!one["modules"].empty())
      add_file(declarations.library + "/nn/modules/" + name + ".h", "modules.h.j2", {at});
    if (!one["python"].empty() || !one["python_functions"].empty())
      add_file(python + name + ".py", "module.py.j2", {at});
    families.push_back(one);
  }
  add_file(declarations.library + "/nn/functional.h", "functional_all.h.j2", all);
  add_file(declarations.library + "/nn/modules.h", "modules_all.h.j2", all);
  // Tenon's own modules have a page of the site (cmake/site), with docstrings.
  if (declarations.base) add_file("docs/modules.md", "modules.md.j2", all);
  return {{"library", declarations.library}, {"operators", families}, {"files", files}};
}

}  // namespace tenon::codegen::modules
