#include "codegen/modules/python_statements.h"

namespace tenon::codegen::modules {

std::string size_list(const Module& module, const State& state, Printer& printer) {
  if (state.sizes.size() == 1) {
    const expr::Formula& tree = state.sizes[0].tree;
    const Argument* argument =
        tree.kind == expr::FormulaKind::kName ? module.find(tree.text) : nullptr;
    if (tree.kind == expr::FormulaKind::kCall || (argument && argument->schema.type.is_list())) {
      return printer.print(state.sizes[0]);
    }
  }
  return {};
}

void python_init(const State& state, Printer& printer, nlohmann::ordered_json& lines) {
  std::vector<std::string> calls;
  const std::string name = "self." + state.name.text;
  for (const Expression& call : state.init) calls.push_back(printer.print_init(call, name));
  if (calls.empty()) return;
  if (state.when) {
    lines.push_back("if " + name + " is not None:");
    for (std::string& call : calls) call = "    " + call;
  }
  for (const std::string& call : calls) lines.push_back(call);
}

std::string python_parameters(const Module& module, bool makes_tensors) {
  std::string text = "self";
  bool keyword_only = false, factory = !makes_tensors;
  for (const Argument& argument : module.arguments) {
    if (argument.schema.kwarg_only && !keyword_only) {
      keyword_only = true;
      if (!factory) text += ", device=None, dtype=None";
      factory = true;
      text += ", *";
    }
    text += ", " + python_name(argument.name());
    if (std::string usual = python_default(argument); !usual.empty()) text += "=" + usual;
  }
  return text + (factory ? "" : ", device=None, dtype=None");
}

std::string python_assignment(const Module& module, const Argument& argument) {
  const std::string name = python_name(argument.name());
  if (!argument.replaced_by.empty()) {
    const std::string by = python_name(argument.replaced_by);
    return by + " = self." + by + " = _helpers.renamed(\"" + name + "\", " + name + ", \"" + by +
           "\", " + by + ")";
  }
  if (argument.is_legacy() || module.find_state(argument.name()) || name.starts_with('_'))
    return {};
  for (const auto* states : {&module.parameters, &module.buffers}) {
    for (const State& state : *states) {
      if (state.given == argument.name()) return {};
    }
  }
  std::string value = name;
  if (name == "reduction" && module.find("size_average")) {
    value = "_helpers.reduction_of(size_average, reduce, reduction)";
  }
  if (!argument.fallback.empty()) {
    value = argument.fallback + " if " + name + " is None else " + name;
  }
  if (argument.expand) {
    const auto size = argument.schema.type.list_size();
    value = size ? "_helpers.expand(" + value + ", " + std::to_string(*size) + ")"
                 : "_helpers.as_tuple(" + value + ")";
  }
  return "self." + python_name(argument.attribute) + " = " + value;
}

std::string python_register(const Module& module, const State& state, bool is_buffer,
                            Printer& printer) {
  const std::string& name = state.name.text;
  if (state.sizes.empty()) return "self.register_buffer(\"" + name + "\", " + state.given + ")";
  std::string sizes = size_list(module, state, printer);
  if (sizes.empty()) {
    for (const Expression& size : state.sizes) {
      sizes += (sizes.empty() ? "(" : ", ") + printer.print(size);
    }
    sizes += state.sizes.size() == 1 ? ",)" : ")";
  }
  if (state.sizes.size() == 1 && state.sizes[0].text.text == "{}") sizes = "()";
  const std::string options =
      state.dtype.empty() ? "options" : "{**options, \"dtype\": tenon." + state.dtype + "}";
  std::string made = is_buffer ? "tenon.empty(" + sizes + ", **" + options + ")"
                               : "parameter(" + sizes + ", " + options + ")";
  if (!state.given.empty()) {
    made += " if " + state.given + " is None else Parameter(" + state.given + ")";
  }
  if (state.when) made += " if " + printer.print(*state.when) + " else None";
  if (is_buffer) return "self.register_buffer(\"" + name + "\", " + made + ")";
  if (!state.when) return "self." + name + " = " + made;
  return "self.register_parameter(\"" + name + "\", " + made + ")";
}

std::string python_shown(const Module& module) {
  std::string fixed;                  // parts that are always shown
  std::vector<std::string> optional;  // those that are shown if they were changed
  for (const ShownPart& part : module.shown) {
    const Argument* argument = module.find(part.name);
    if (!argument) continue;  // reported in cpp_shown()
    const State* state = module.find_state(part.name);
    const std::string attribute = "self." + python_name(argument->attribute);
    const std::string value =
        "{" + attribute + (state ? " is not None" : "") + (part.represented ? "!r}" : "}");
    const std::string shown = (part.bare ? "" : python_name(part.name) + "=") + value;
    if (!part.if_changed) {
      fixed += (fixed.empty() ? "" : ", ") + shown;
      continue;
    }
    std::string usual = python_default(*argument);
    const auto size = argument->schema.type.list_size();
    if (argument->expand && size) {
      std::string tuple;
      for (int64_t i = 0; i < *size; ++i) tuple += (i ? ", " : "") + usual;
      usual = "(" + tuple + (*size == 1 ? ",)" : ")");
    }
    if (state) {
      optional.push_back("\"" + std::string(fixed.empty() ? "" : ", ") + part.name +
                         "=False\" if " + attribute + " is None else \"\"");
      continue;
    }
    const std::string condition = usual == "False"  ? attribute
                                  : usual == "None" ? attribute + " is not None"
                                                    : attribute + " != " + usual;
    const std::string text =
        usual == "False" ? "\"" + std::string(fixed.empty() ? "" : ", ") + part.name + "=True\""
                         : "f\"" + std::string(fixed.empty() ? "" : ", ") + shown + "\"";
    optional.push_back(text + " if " + condition + " else \"\"");
  }
  std::string text = fixed.empty() ? "" : "f\"" + fixed + "\"";
  if (text.empty() && optional.size() == 1) return optional[0];
  for (const std::string& part : optional) text += (text.empty() ? "(" : " + (") + part + ")";
  return text;
}

}  // namespace tenon::codegen::modules
