#include "codegen/modules/explain_module.h"

namespace tenon::codegen::modules {
namespace {

std::string joined(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

class ModuleExplanation {
 public:
  ModuleExplanation(const Family& family, const Module& module, const std::string& library,
                    std::ostream& out)
      : family_(family), module_(module), library_(library), out_(out) {}

  void print() {
    out_ << module_.signature_text.text << "\n  " << module_.location.file_name() << ":"
         << module_.location.line << "\n";
    if (!module_.comment.empty()) out_ << "  " << module_.comment << "\n";
    classes();
    arguments();
    states("parameters", module_.parameters);
    states("buffers", module_.buffers);
    submodules();
    if (!module_.checks.empty()) out_ << "\nchecks\n";
    for (const Expression& check : module_.checks) out_ << "  " << check.text.text << "\n";
    forward();
    shown();
    state_dict();
  }

 private:
  void classes() {
    const std::string& name = module_.name;
    const std::string file = library_ + "/nn/modules/" + family_.name.text + ".h";
    out_ << "\nC++     ";
    if (module_.cpp) {
      out_ << library_ << "::nn::" << name << (module_.holder ? "" : " (its handle by hand)")
           << ", " << name << "Impl";
      if (!module_.arguments.empty()) out_ << ", " << name << "Options";
      out_ << ": " << file;
    } else {
      out_ << "by hand";
    }
    out_ << "\nPython  ";
    if (module_.python) {
      out_ << library_ << ".nn." << name << ": nn/modules/" << family_.name.text << ".py";
    } else {
      out_ << "by hand";
    }
    out_ << "\n";
    if (!module_.python_base.empty() || !module_.cpp_base.empty())
      out_ << "bases by hand: "
           << joined({module_.cpp_base.empty() ? "none in C++" : module_.cpp_base + " in C++",
                      module_.python_base.empty() ? "none in Python"
                                                  : module_.python_base + " in Python"})
           << "\n";
  }

  void arguments() {
    if (module_.arguments.empty()) return;
    out_ << "\narguments\n";
    for (const Argument& argument : module_.arguments) {
      out_ << "  " << argument.name();
      if (argument.schema.default_value) {
        out_ << " = " << argument.schema.default_value->text;
      } else {
        out_ << ", required";
      }
      if (!argument.words.empty()) out_ << "; one of " << joined(argument.words);
      if (!argument.fallback.empty()) out_ << "; if absent, the value of " << argument.fallback;
      if (argument.expand) out_ << "; one number stands for all dimensions";
      if (argument.is_legacy()) out_ << "; in Python alone";
      out_ << "\n";
    }
  }

  void states(const char* title, const std::vector<State>& states) {
    if (states.empty()) return;
    out_ << "\n" << title << "\n";
    for (const State& state : states) {
      std::vector<std::string> sizes, init;
      for (const Expression& size : state.sizes) {
        if (size.text.text != "{}") sizes.push_back(size.text.text);
      }
      for (const Expression& call : state.init) init.push_back(call.text.text);
      out_ << "  " << state.name.text << " [" << joined(sizes) << "]";
      if (!state.dtype.empty()) out_ << " of " << state.dtype;
      if (state.when) out_ << ", if " << state.when->text.text;
      if (!state.given.empty()) out_ << ", or the argument " << state.given;
      if (!init.empty()) out_ << "; reset_parameters() calls " << joined(init, "; ");
      out_ << "\n";
    }
  }

  void submodules() {
    if (module_.submodules.empty()) return;
    out_ << "\nsubmodules\n";
    for (const Submodule& one : module_.submodules) {
      std::vector<std::string> values;
      for (const Submodule::Value& value : one.values)
        values.push_back((value.argument.text.empty() ? "" : value.argument.text + "=") +
                         value.value.text.text.substr(value.value.tree.offset));
      out_ << "  " << one.name.text << ": " << one.type.text << "(" << joined(values) << ")\n";
    }
  }

  void forward() {
    out_ << "\nforward";
    if (!module_.calls.empty()) {
      out_ << "\n  calls nn.functional." << module_.calls
           << " with the arguments and states of the same names\n";
    } else if (module_.forward) {
      std::vector<std::string> taken;
      for (const Argument& argument : module_.forward->arguments) taken.push_back(argument.name());
      out_ << "(" << joined(taken) << ")\n  " << module_.forward->body.text.text << "\n";
    } else {
      out_ << "\n  by hand\n";
    }
  }

  void shown() {
    if (module_.shown.empty()) return;
    std::vector<std::string> parts;
    for (const ShownPart& part : module_.shown)
      parts.push_back(part.name + (part.if_changed ? " (if it is not the default)" : ""));
    out_ << "\nprinting shows " << joined(parts) << "\n";
  }

  void state_dict() {
    std::vector<std::string> names;
    for (const auto* states : {&module_.parameters, &module_.buffers}) {
      for (const State& state : *states) names.push_back(state.name.text);
    }
    for (const Submodule& one : module_.submodules) names.push_back(one.name.text + ".*");
    out_ << "\nstate dict: " << (names.empty() ? "nothing" : joined(names));
    if (module_.version) out_ << "; version " << *module_.version;
    out_ << "\n";
  }

  const Family& family_;
  const Module& module_;
  const std::string& library_;
  std::ostream& out_;
};

}  // namespace

bool explain_module(const Declarations& declarations, const std::string& name, std::ostream& out) {
  for (const Family& family : declarations.families) {
    for (const Module& module : family.modules) {
      if (module.name != name) continue;
      ModuleExplanation(family, module, declarations.library, out).print();
      return true;
    }
  }
  return false;
}

}  // namespace tenon::codegen::modules
