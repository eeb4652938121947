#include "codegen/emit/explain.h"

#include <algorithm>
#include <map>

#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

std::string text(const Json& value) { return value.get<std::string>(); }

/// None (calls without tensors), CPU, CUDA, Meta, PrivateUse1.
constexpr size_t kNumSlots = 5;

std::string join(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ", ") + word;
  return result;
}

std::string place(const Location& location) {
  return location.valid() ? short_source(location) + ":" + std::to_string(location.line) : "";
}

/// Indices of the entries that `name` leads to: by name or a form's name, else by base name.
std::vector<size_t> find_entries(const Json& ir, const std::string& name) {
  std::vector<size_t> by_base;
  for (size_t i = 0; i < ir["operators"].size(); ++i) {
    const Json& entry = ir["operators"][i];
    for (const Json& form : entry["forms"]) {
      const std::string overload = text(form["overload"]);
      const std::string full = text(form["name"]) + (overload.empty() ? "" : "." + overload);
      if (full == name || entry["name"] == name) return {i};
    }
    if (entry["base"] == name) by_base.push_back(i);
  }
  return by_base;
}

class Explanation {
 public:
  Explanation(const Model& model, const Json& ir, size_t index, std::ostream& out)
      : model_(model), ir_(ir), index_(index), entry_(ir["operators"][index]),
        ref_(*model.find(text(entry_["name"]))), op_(model.op(ref_)),
        derivative_(model.derivative_of(ref_.op)), out_(out) {}

  void print() {
    out_ << text(entry_["name"]) << "  (" << place(op_.location) << ")\n";
    print_keys();
    out_ << "forms:\n";
    for (const Json& form : entry_["forms"]) print_form(form);
    if (op_.is_alias()) {
      out_ << "files:\n  include \"" << text(entry_["header"]) << "\"\n";
      return;
    }
    print_shapes();
    print_derivative();
    out_ << "files:\n  include \"" << text(entry_["header"]) << "\"\n";
    for (const Json& file : ir_["files"]) {
      for (const Json& member : file["operators"]) {
        if (member == index_) out_ << "  " << text(file["path"]) << "\n";
      }
    }
  }

 private:
  std::string key_place(std::string_view key) const {
    const Location* location = op_.key_location(key);
    return location == nullptr ? "" : place(*location);
  }

  void print_keys() {
    if (op_.pointwise) {
      for (const PointwiseCase& one : op_.pointwise->cases) {
        std::vector<std::string> when;
        for (const std::string* selector : {&one.output, &one.category, &one.backend}) {
          if (!selector->empty()) when.push_back(*selector);
        }
        out_ << "pointwise" << (when.empty() ? "" : " (" + join(when) + ")") << ": "
             << one.expression.text << "\n";
      }
    }
    if (op_.update) {
      for (const NamedExpressions::Part& part : op_.update->parts) {
        out_ << "pointwise" << (part.name.text.empty() ? "" : " (" + part.name.text + ")") << ": "
             << part.expression.text << "\n";
      }
    }
    if (op_.rowwise) {
      for (const RowwiseSpec::Part& part : op_.rowwise->parts) {
        out_ << "rowwise" << (part.name.text.empty() ? "" : " (" + part.name.text + ")") << ": "
             << part.expression.text << "\n";
      }
    }
    if (op_.composite != Composite::kNo) {
      const Json& composition = entry_["composition"];
      if (op_.composition) out_ << "composite: " << op_.composition->text << "\n";
      if (!composition.is_null() && !composition["kernel"].is_null()) {
        out_ << "  could be one kernel: `pointwise: " << text(composition["kernel"]) << "`\n";
      }
      out_ << (op_.composition ? "  " : "composite: ")
           << (op_.composite == Composite::kImplicit
                   ? "implicit, computed and differentiated by the operators that it calls"
                   : "explicit, computed by the operators that it calls")
           << "\n";
    }
    if (op_.is_alias()) {
      out_ << "another name of " << op_.alias_of->text << " ("
           << place(model_.op(*model_.find(op_.alias_of->text)).location)
           << "): no kernels and no derivative of its own\n";
    }
    if (op_.python_module) out_ << "Python module: " << op_.python_module->text << "\n";
    std::vector<std::string> tags;
    for (const LocatedName& tag : op_.tags) tags.push_back(tag.text);
    if (!tags.empty()) out_ << "tags: " << join(tags) << "\n";
  }

  /// Why there is this form, and how it is called.
  std::string origin(const Json& form) const {
    std::string result;
    if (form["derived"]) {
      const std::string asked = key_place("variants");
      result = "derived " + text(form["kind"]) + " form, " +
               (asked.empty() ? "as its operator has one" : "from `variants` (" + asked + ")");
    } else {
      result = "written, " + text(form["kind"]);
    }
    std::vector<std::string> calls;
    const bool out = form["kind"] == "out";
    if (form["function"]) {
      calls.push_back("function " + text(form["cpp_namespace"]) + "::" +
                      text(form["base"] == form["name"] || out ? form["base"] : form["name"]) +
                      (out ? "_out" : ""));
    }
    if (form["method"]) calls.push_back("method Tensor::" + text(form["name"]));
    return result + (calls.empty() ? "" : "; " + join(calls));
  }

  std::string describe(const Json& thunk) const {
    const std::string kind = text(thunk["kind"]);
    if (kind == "pointwise") return "kernel generated from `pointwise`";
    if (kind == "pointwise_mixed") {
      return "kernel generated from `pointwise`, with " +
             std::string(entry_["kernel"]["draws"].empty() ? "results of several dtypes"
                                                           : "random numbers");
    }
    if (kind == "update") return "kernel generated from `pointwise`, into what is written";
    if (kind == "update_composed") return "the operators that the expressions stand for";
    if (kind == "rowwise") return "kernel generated from `rowwise`";
    if (kind == "rowwise_composed") return "the operators that the expression stands for";
    if (kind == "inplace_from_functional") {
      return "computes " + text(thunk["functional"]) + ", copies into self";
    }
    if (kind == "out_from_functional") {
      return "computes " + text(thunk["functional"]) + ", copies into the outputs";
    }
    if (kind == "composition") return "the operators of the expression";
    const bool has_kernel = thunk.contains("kernel") && !thunk["kernel"].is_null();
    if (kind == "structured") {
      return "shapes by " + text(thunk["meta"]) +
             (has_kernel ? ", kernel " + text(thunk["kernel"]) : ", no computation");
    }
    return has_kernel ? "kernel " + text(thunk["kernel"]) : kind;
  }

  void print_form(const Json& form) {
    out_ << "  " << text(form["schema"]) << "\n      " << origin(form) << "\n";
    if (!form["of"].is_null()) {
      out_ << "      calls " << text(form["of"]["ident"]) << "\n";
      return;
    }
    std::vector<std::string> keys;
    for (const Json& key : form["keys"]) keys.push_back(text(key));
    if (!keys.empty()) out_ << "      dispatched by " << join(keys) << "\n";
    std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // symbol, slots
    for (const auto& [slot, value] : form["dispatch"]["table"].items()) {
      const std::string symbol = text(value);
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == symbol; });
      if (row == rows.end()) {
        rows.push_back({symbol, {slot}});
      } else {
        row->second.push_back(slot);
      }
    }
    for (const auto& [symbol, slots] : rows) {
      for (const Json& thunk : form["dispatch"]["thunks"]) {
        if (thunk["symbol"] == symbol) {
          const bool everywhere = slots.size() == kNumSlots;
          out_ << "      " << (everywhere ? "every backend" : join(slots)) << ": "
               << describe(thunk) << "\n";
        }
      }
    }
    const Json& autograd = form["autograd"];
    if (autograd.is_null()) return;
    const bool recorded =
        autograd.contains("differentiable") && autograd["differentiable"].get<bool>();
    out_ << "      autograd: "
         << (recorded ? "recorded as " + text(entry_["node"]["name"])
                      : "refused where a tensor requires a gradient")
         << "\n";
  }

  void print_shapes() {
    std::string source;
    if (op_.pointwise) {
      source = "tensors are broadcast; dtype rule " + std::string(to_string(op_.promotion));
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.update) {
      source = "what is written has the shape that all are broadcast to, and keeps its dtype";
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.rowwise) {
      source = "elements are broadcast, rows over " + op_.rowwise->over->text + "; ";
      source += entry_["rowwise"]["kernel"]["floating"].get<bool>()
                    ? "floating types, integers become the default one"
                    : "real types, integers add up in int64";
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.structured) {
      for (const Json& declaration : entry_["declarations"]) {
        if (declaration["kind"] == "meta")
          source = text(declaration["name"]) + ", for every backend";
      }
    } else {
      source = "by the kernel itself";
    }
    out_ << "shapes and dtypes: " << source << "\n";
    if (op_.rowwise) print_passes(entry_["rowwise"]["kernel"]);
    if (op_.update) print_updates();
  }

  /// One kernel for each set of tensors that are given.
  void print_updates() {
    for (const Json& kernel : entry_["updates"]["kernels"]) {
      std::vector<std::string> when;
      for (const Json& name : kernel["given"]) when.push_back("with " + text(name));
      for (const Json& name : kernel["absent"]) when.push_back("without " + text(name));
      out_ << "  kernel " << text(kernel["ident"]) << (when.empty() ? "" : ", " + join(when))
           << ":\n";
      for (const Json& number : kernel["numbers"]) {
        if (number["name"] == number["text"]) continue;
        out_ << "    once: " << text(number["name"]) << " = " << text(number["text"]) << "\n";
      }
      std::vector<std::string> reads, gives;
      for (const Json& name : kernel["inputs"]) reads.push_back(text(name));
      for (const Json& name : kernel["written"]) gives.push_back(text(name));
      out_ << "    one pass, reads " << join(reads) << ": gives " << join(gives) << "\n";
    }
  }

  void print_derivative() {
    const Json& node = entry_["node"];
    if (node.is_null()) {
      out_ << "backward: " << why_not_recorded() << "\n";
      return;
    }
    const bool derived = derivative_ == nullptr;
    out_ << "backward: " << text(node["name"]) << ", "
         << (derived ? std::string("derived from `") + way() + "` (" + key_place(way()) + ")"
                     : "from " + place(derivative_->location))
         << "\n";
    for (const Json& saved : node["saved"]) print_saved(node, saved);
    for (const Json& one : node["pointwise"]) {
      out_ << "  grad of " << input(node, one["input"]) << " = " << text(one["readable"]) << "\n";
    }
    if (!node["rowwise"].is_null()) {
      for (const Json& one : node["rowwise"]["gradients"]) {
        out_ << "  grad of " << input(node, one["input"]) << " = " << text(one["readable"])
             << (one["kind"] == "Column" ? ", summed over the rows" : "") << "\n";
      }
      print_passes(node["rowwise"]["kernel"]);
    }
    for (const Json& formula : node["formulas"]) {
      out_ << "  grad of " << inputs(node, formula["outputs"]) << " = " << text(formula["original"])
           << "\n";
    }
    for (const Json& kernel : node["kernels"]) {
      out_ << "  fused kernel " << text(kernel["ident"]) << " for "
           << inputs(node, kernel["outputs"]) << "\n";
    }
    print_forward(node);
  }

  const char* way() const { return op_.rowwise ? "rowwise" : "pointwise"; }

  /// What a row kernel does, one line for each way along the row.
  void print_passes(const Json& kernel) {
    out_ << "  kernel " << text(kernel["ident"]) << ", over each row:\n";
    print_steps(kernel, kernel["steps"]);
    if (!ir_["cuda"].get<bool>()) return;
    const Json& cuda = kernel["cuda"];
    std::vector<std::string> kept;
    for (const Json& k : cuda["kept"])
      kept.push_back(text(kernel["inputs"][k.get<size_t>()]["name"]));
    out_ << "  on CUDA";
    if (!kept.empty()) out_ << ", " << join(kept) << " in registers where the row is short";
    if (cuda["steps"] == kernel["steps"]) {
      out_ << ": the same\n";
    } else {
      out_ << ":\n";
      print_steps(kernel, cuda["steps"]);
    }
  }

  void print_steps(const Json& kernel, const Json& steps) {
    size_t pass = 0;
    for (const Json& step : steps) {
      const std::string kind = text(step["kind"]);
      if (kind == "pass") {
        out_ << "    pass " << ++pass;
      } else if (kind == "pick") {
        out_ << "    the element at "
             << text(kernel["inputs"][step["position"].get<size_t>()]["name"]);
      } else {
        out_ << "    values of the row";
      }
      std::vector<std::string> reads, gives;
      for (const Json& name : step["loads"]) reads.push_back(text(name));
      for (const Json& one : step["values"]) gives.push_back(text(one["name"]));
      for (const Json& one : step["reductions"])
        gives.push_back(text(one["name"]) + " (" + text(one["kind"]) + ")");
      for (const Json& one : step["spills"]) gives.push_back(text(one["name"]));
      for (const Json& one : step["stores"]) {
        gives.push_back("output " + std::to_string(one["output"].get<size_t>()) +
                        (one["adds"].get<bool>() ? " (added up)" : ""));
      }
      if (!reads.empty()) out_ << ", reads " << join(reads);
      out_ << ": gives " << join(gives) << "\n";
    }
  }

  std::string why_not_recorded() const {
    if (op_.non_differentiable) {
      return op_.has_key("non_differentiable")
                 ? "none: `non_differentiable` (" + key_place("non_differentiable") + ")"
                 : "none: nothing of it can have a gradient";
    }
    if (op_.is_composite_implicit()) {
      return "that of the operators it calls";
    }
    return "none";
  }

  static std::string input(const Json& node, const Json& index) {
    return text(node["inputs"][index.get<size_t>()]["name"]);
  }

  static std::string inputs(const Json& node, const Json& indices) {
    std::vector<std::string> names;
    for (const Json& index : indices) names.push_back(input(node, index));
    return join(names);
  }

  void print_saved(const Json& node, const Json& saved) {
    static const std::map<std::string, std::string> kKinds = {
        {"tensor", "argument"},      {"optional_tensor", "argument, may be absent"},
        {"tensor_list", "argument"}, {"optional_tensor_list", "argument"},
        {"result", "result"},        {"result_list", "result"},
        {"value", "value"},          {"result_value", "value"},
    };
    const std::string kind = text(saved["kind"]);
    const auto known = kKinds.find(kind);
    out_ << "  saves " << text(saved["name"]) << " ("
         << (known == kKinds.end() ? kind : known->second);
    const bool is_value = kind == "value" || kind == "result_value";
    if (is_value && saved["init"] != saved["name"]) out_ << ", " << text(saved["init"]);
    out_ << "): the gradient of " << inputs(node, saved["users"]) << " needs it";
    out_ << (saved["guarded"] ? "; only where that is wanted\n" : "\n");
  }

  /// How forward mode computes tangents.
  void print_forward(const Json& node) {
    bool written = false;
    for (const FormulaSet& set : derivative_ ? derivative_->sets : std::vector<FormulaSet>()) {
      for (const Formula& formula : set.forward) {
        std::vector<std::string> names;
        for (const LocatedName& name : formula.names) names.push_back(name.text);
        out_ << "  tangent of " << join(names) << " = " << formula.text.text << "\n";
        written = true;
      }
    }
    if (written) return;
    const Json& forward = node["forward"];
    const std::string rule = forward.is_null() ? "" : text(forward["rule"]);
    out_ << "  tangents: "
         << (rule == "ElementWise" ? "what multiplies gradients multiplies them"
             : rule == "ElementWiseOfReals"
                 ? "what multiplies gradients multiplies them; of complex "
                   "tensors by differentiating the gradients"
                 : "by differentiating the gradients")
         << "\n";
  }

  const Model& model_;
  const Json& ir_;
  size_t index_;
  const Json& entry_;
  OperatorRef ref_;
  const Operator& op_;
  const Derivative* derivative_;
  std::ostream& out_;
};

}  // namespace

bool explain(const Model& model, const Json& ir, const std::string& name, std::ostream& out,
             std::ostream& errors) {
  const std::vector<size_t> entries = find_entries(ir, name);
  if (entries.empty()) {
    std::vector<std::string> names;
    for (const Operator& op : model.operators()) names.push_back(op.name());
    const std::string near = schema::nearest(name, names);
    errors << "tenonc: there is no operator '" << name << "'"
           << (near.empty() ? "" : "; did you mean '" + near + "'?") << "\n";
    return false;
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out << "\n";
    Explanation(model, ir, entries[i], out).print();
  }
  return true;
}

}  // namespace tenon::codegen
