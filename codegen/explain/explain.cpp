#include "codegen/explain/explain.h"

#include <algorithm>

#include "codegen/schema/suggest.h"

namespace tenon::codegen {
namespace {

/// None (calls without tensors), CPU, CUDA, Meta, PrivateUse1, SparseCPU, SparseCsrCPU. A composite
/// may serve Unresolved too.
constexpr size_t kNumSlots = 7;

std::string join(const std::vector<std::string>& words) {
  std::string result;
  for (const std::string& word : words) result += (result.empty() ? "" : ", ") + word;
  return result;
}

std::string place(const Location& location) {
  return location.valid() ? location.file_name() + ":" + std::to_string(location.line) : "";
}

/// Indices of the entries that `name` leads to: by name or a form's name, else by base name.
std::vector<size_t> find_entries(const ir::Library& library, const std::string& name) {
  std::vector<size_t> by_base;
  for (size_t i = 0; i < library.operators.size(); ++i) {
    const ir::Entry& entry = library.operators[i];
    for (const ir::Form& form : entry.forms) {
      const std::string full = form.name + (form.overload.empty() ? "" : "." + form.overload);
      if (full == name || entry.name == name) return {i};
    }
    if (entry.base == name) by_base.push_back(i);
  }
  return by_base;
}

std::string describe(const ir::Entry& entry, const ir::Thunk& thunk) {
  switch (thunk.kind) {
  case ir::ThunkKind::kPointwise: return "kernel generated from `pointwise`";
  case ir::ThunkKind::kPointwiseMixed:
    return std::string("kernel generated from `pointwise`, with ") +
           (entry.kernel->draws.empty() ? "results of several dtypes" : "random numbers");
  case ir::ThunkKind::kUpdate: return "kernel generated from `pointwise`, into what is written";
  case ir::ThunkKind::kUpdateComposed: return "the operators that the expressions stand for";
  case ir::ThunkKind::kRowwise: return "kernel generated from `rowwise`";
  case ir::ThunkKind::kRowwiseComposed: return "the operators that the expression stands for";
  case ir::ThunkKind::kComposition: return "the operators of the expression";
  case ir::ThunkKind::kForeach: return "the operators of the expression, for each place";
  case ir::ThunkKind::kStructured:
    return "shapes by " + thunk.meta +
           (thunk.kernel.empty() ? ", no computation" : ", kernel " + thunk.kernel);
  case ir::ThunkKind::kDirect: return "kernel " + thunk.kernel;
  case ir::ThunkKind::kInplaceFromFunctional:
    return "computes " + thunk.functional + ", copies into self";
  case ir::ThunkKind::kOutFromFunctional:
    return "computes " + thunk.functional + ", copies into the outputs";
  }
  return "";
}

const char* describe(ir::SavedKind kind) {
  switch (kind) {
  case ir::SavedKind::kOptionalTensor: return "argument, may be absent";
  case ir::SavedKind::kTensor:
  case ir::SavedKind::kTensorList:
  case ir::SavedKind::kOptionalTensorList: return "argument";
  case ir::SavedKind::kResult:
  case ir::SavedKind::kResultList: return "result";
  case ir::SavedKind::kValue:
  case ir::SavedKind::kResultValue: break;
  }
  return "value";
}

/// The rule of ir::Form::batching (emit_batching.h) in words.
std::string describe_batching(const std::optional<std::string>& rule) {
  if (!rule)
    return "a rule by hand in aten/batching, else one example after another; `batched` gives one";
  const std::string kind = rule->substr(0, rule->find(' '));
  const bool random = rule->ends_with(" random") || *rule == "random";
  const auto word = [&] {
    const size_t at = rule->find(' ');
    return at == std::string::npos ? "" : rule->substr(at + 1, rule->find(' ', at + 1) - at - 1);
  };
  std::string text;
  if (kind.empty() || kind == "random") text = "by the operators that it calls";
  if (kind == "elements") text = "one call, with the batch as a dimension in front";
  if (kind == "rows") text = "one call, with the batch as a dimension of the rows";
  if (kind == "along") text = "one call, as `batched` says";
  if (kind == "via") text = "calls " + word() + " with the batch";
  if (kind == "inplace") text = "by " + word() + ", then a copy";
  if (kind == "out") text = "refused";
  return text + (random ? "; `randomness` says what is drawn" : "");
}

class Explanation {
 public:
  Explanation(const Model& model, const ir::Library& library, size_t index, std::ostream& out)
      : model_(model), library_(library), index_(index), entry_(library.operators[index]),
        ref_(*model.find(entry_.name)), op_(model.op(ref_)),
        derivative_(model.derivative_of(ref_.op)), out_(out) {}

  void print() {
    out_ << entry_.name << "  (" << place(op_.location) << ")\n";
    print_keys();
    out_ << "forms:\n";
    for (const ir::Form& form : entry_.forms) print_form(form);
    if (op_.is<AliasOf>()) {
      out_ << "files:\n  include \"" << entry_.header << "\"\n";
      return;
    }
    print_shapes();
    print_derivative();
    out_ << "files:\n  include \"" << entry_.header << "\"\n";
    for (const ir::File& file : library_.files) {
      for (const size_t member : file.operators) {
        if (member == index_) out_ << "  " << file.path << "\n";
      }
    }
  }

 private:
  std::string key_place(std::string_view key) const {
    const Location* location = op_.key_location(key);
    return location == nullptr ? "" : place(*location);
  }

  void print_keys() {
    if (op_.as<Pointwise>()) {
      for (const PointwiseCase& one : op_.as<Pointwise>()->cases) {
        std::vector<std::string> when;
        for (const std::string* selector : {&one.output, &one.category, &one.backend}) {
          if (!selector->empty()) when.push_back(*selector);
        }
        out_ << "pointwise" << (when.empty() ? "" : " (" + join(when) + ")") << ": "
             << one.expression.text << "\n";
      }
    }
    if (op_.as<Update>()) {
      for (const NamedExpressions::Part& part : op_.as<Update>()->parts) {
        out_ << "pointwise" << (part.name.text.empty() ? "" : " (" + part.name.text + ")") << ": "
             << part.expression.text << "\n";
      }
    }
    if (op_.as<Rowwise>()) {
      for (const Rowwise::Part& part : op_.as<Rowwise>()->parts) {
        out_ << "rowwise" << (part.name.text.empty() ? "" : " (" + part.name.text + ")") << ": "
             << part.expression.text << "\n";
      }
    }
    if (op_.composition() != nullptr || op_.is<CompositeFunction>()) {
      const std::optional<ir::Composition>& composition = entry_.composition;
      if (op_.composition()) {
        out_ << (op_.is<Foreach>() ? "foreach: " : "composite: ") << op_.composition()->text.text
             << "\n";
      }
      if (composition && !composition->inplace.empty()) {
        out_ << "  in place: " << composition->inplace << "\n";
      }
      if (composition) print_parts(*composition);
      if (composition && composition->kernel) {
        out_ << "  could be one kernel: `pointwise: " << *composition->kernel << "`\n";
      }
      out_ << (op_.composition() ? "  " : "composite: ")
           << (op_.is_composite_implicit()
                   ? "implicit, computed and differentiated by the operators that it calls"
                   : "explicit, computed by the operators that it calls")
           << "\n";
    }
    if (const AliasOf* alias = op_.as<AliasOf>()) {
      out_ << "another name of " << alias->of->text << " ("
           << place(model_.op(*model_.find(alias->of->text)).location)
           << "): no kernels and no derivative of its own\n";
    }
    if (op_.python_module) out_ << "Python module: " << op_.python_module->text << "\n";
    std::vector<std::string> tags;
    for (const LocatedName& tag : op_.tags) tags.push_back(tag.text);
    if (!tags.empty()) out_ << "tags: " << join(tags) << "\n";
  }

  /// What is one kernel of a composition.
  void print_parts(const ir::Composition& composition) {
    if (composition.guard.empty() && !composition.parts.empty()) {
      out_ << "  with the parts that are kernels: " << op_.composition()->fusion->text << "\n";
    }
    for (const ir::FusedPart& part : composition.parts) {
      const auto kernel = std::find_if(library_.operators.begin(), library_.operators.end(),
                                       [&](const auto& one) { return one.name == part.kernel; });
      out_ << "  fused kernel " << part.kernel << ": " << part.num_operators
           << " operators; for each element of Float it moves " << 4 * part.traffic
           << " bytes, the operators one by one " << 4 * part.unfused_traffic << "\n";
      for (const std::string& text : kernel->expression.value_or(std::vector<std::string>()))
        out_ << "    " << text << "\n";
      if (kernel->rowwise) print_passes(kernel->rowwise->kernel);
    }
    if (!composition.guard.empty()) out_ << "  fused if " << composition.guard << "\n";
  }

  /// Why there is this form, and how it is called.
  std::string origin(const ir::Form& form) const {
    const std::string kind(schema::to_string(form.kind));
    std::string result;
    if (form.derived) {
      const std::string asked = key_place("variants");
      result = "derived " + kind + " form, " +
               (asked.empty() ? "as its operator has one" : "from `variants` (" + asked + ")");
    } else {
      result = "written, " + kind;
    }
    std::vector<std::string> calls;
    const bool out = form.kind == schema::SchemaKind::kOut;
    if (form.function) {
      calls.push_back("function " + form.cpp_namespace +
                      "::" + (out ? form.base + "_out" : form.name));
    }
    if (form.method) calls.push_back("method Tensor::" + form.name);
    return result + (calls.empty() ? "" : "; " + join(calls));
  }

  void print_form(const ir::Form& form) {
    out_ << "  " << form.schema << "\n      " << origin(form) << "\n";
    if (form.of) {
      out_ << "      calls " << form.of->ident << "\n";
      return;
    }
    if (!form.keys.empty()) out_ << "      dispatched by " << join(form.keys) << "\n";
    std::vector<std::pair<std::string, std::vector<std::string>>> rows;  // symbol, slots
    for (const auto& [slot, symbol] : form.dispatch.table) {
      const auto row = std::find_if(rows.begin(), rows.end(), [&, &symbol = symbol](const auto& r) {
        return r.first == symbol;
      });
      if (row == rows.end()) {
        rows.push_back({symbol, {slot}});
      } else {
        row->second.push_back(slot);
      }
    }
    for (const auto& [symbol, slots] : rows) {
      for (const ir::Thunk& thunk : form.dispatch.thunks) {
        if (thunk.symbol != symbol) continue;
        const bool everywhere = slots.size() >= kNumSlots;
        out_ << "      " << (everywhere ? "every backend" : join(slots)) << ": "
             << describe(entry_, thunk) << "\n";
      }
    }
    out_ << "      vmap: " << describe_batching(form.batching) << "\n";
    if (!form.autograd) return;
    out_ << "      autograd: "
         << (form.autograd->kind != schema::SchemaKind::kOut && form.autograd->differentiable
                 ? "recorded as " + entry_.node->name
                 : "refused where a tensor requires a gradient")
         << "\n";
  }

  void print_shapes() {
    std::string source;
    if (op_.as<Pointwise>()) {
      source = "tensors are broadcast; dtype rule " + std::string(to_string(*op_.promotion));
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.as<Update>()) {
      source = "what is written has the shape that all are broadcast to, and keeps its dtype";
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.as<Rowwise>()) {
      source = "elements are broadcast, rows over " + op_.as<Rowwise>()->over->text + "; ";
      source += entry_.rowwise->kernel.floating ? "floating types, integers become the default one"
                                                : "real types, integers add up in int64";
      if (op_.check) source += "; values checked by " + op_.check->text;
    } else if (op_.is<Structured>()) {
      source = meta_name(op_) + ", for every backend";
    } else {
      source = "by the kernel itself";
    }
    out_ << "shapes and dtypes: " << source << "\n";
    if (op_.as<Rowwise>()) print_passes(entry_.rowwise->kernel);
    if (op_.as<Update>()) print_updates();
  }

  /// One kernel for each set of tensors that are given.
  void print_updates() {
    for (const ir::UpdateKernel& kernel : entry_.updates->kernels) {
      std::vector<std::string> when;
      for (const std::string& name : kernel.given) when.push_back("with " + name);
      for (const std::string& name : kernel.absent) when.push_back("without " + name);
      out_ << "  kernel " << kernel.ident << (when.empty() ? "" : ", " + join(when)) << ":\n";
      for (const ir::NamedText& number : kernel.numbers) {
        if (number.name == number.text) continue;
        out_ << "    once: " << number.name << " = " << number.text << "\n";
      }
      out_ << "    one pass, reads " << join(kernel.inputs) << ": gives " << join(kernel.written)
           << "\n";
    }
  }

  void print_derivative() {
    if (!entry_.node) {
      out_ << "backward: " << why_not_recorded() << "\n";
      return;
    }
    const ir::Node& node = *entry_.node;
    const bool derived = derivative_ == nullptr;
    out_ << "backward: " << node.name << ", "
         << (derived ? std::string("derived from `") + way() + "` (" + key_place(way()) + ")"
                     : "from " + place(derivative_->location))
         << "\n";
    for (const ir::SavedValue& saved : node.saved) print_saved(node, saved);
    for (const ir::PointwiseGradient& one : node.pointwise) {
      out_ << "  grad of " << node.inputs[one.input].name << " = " << one.readable << "\n";
    }
    if (node.rowwise) {
      for (const ir::RowGradient& one : node.rowwise->gradients) {
        out_ << "  grad of " << node.inputs[one.input].name << " = " << one.readable
             << (one.kind == ir::RowKind::kColumn ? ", summed over the rows" : "") << "\n";
      }
      print_passes(node.rowwise->kernel);
    }
    for (const ir::NodeFormula& formula : node.formulas) {
      out_ << "  grad of " << inputs(node, formula.outputs) << " = " << formula.original << "\n";
    }
    for (const ir::GradientKernel& kernel : node.kernels) {
      out_ << "  fused kernel " << kernel.ident << " for " << inputs(node, kernel.outputs) << "\n";
    }
    print_forward(node);
  }

  const char* way() const { return op_.as<Rowwise>() ? "rowwise" : "pointwise"; }

  /// What a row kernel does, one line for each way along the row.
  void print_passes(const ir::RowKernel& kernel) {
    out_ << "  kernel " << kernel.ident << ", over each row:\n";
    print_steps(kernel.steps);
    if (!library_.cuda) return;
    std::vector<std::string> kept;
    for (const size_t k : kernel.cuda.kept) kept.push_back(kernel.inputs[k].name);
    out_ << "  on CUDA";
    if (!kept.empty()) out_ << ", " << join(kept) << " in registers where the row is short";
    if (kernel.cuda.steps == kernel.steps) {
      out_ << ": the same\n";
    } else {
      out_ << ":\n";
      print_steps(kernel.cuda.steps);
    }
  }

  void print_steps(const std::vector<ir::RowStep>& steps) {
    size_t pass = 0;
    for (const ir::RowStep& step : steps) {
      switch (step.kind) {
      case expr::RowStep::Kind::kPass: out_ << "    pass " << ++pass; break;
      case expr::RowStep::Kind::kPick: out_ << "    the element at " << step.position; break;
      case expr::RowStep::Kind::kValues: out_ << "    values of the row"; break;
      }
      std::vector<std::string> gives;
      for (const ir::NamedText& one : step.values) gives.push_back(one.name);
      for (const auto& one : step.reductions) gives.push_back(one.name + " (" + one.kind + ")");
      for (const ir::NamedText& one : step.spills) gives.push_back(one.name);
      for (const auto& one : step.stores) {
        gives.push_back("output " + std::to_string(one.output) + (one.adds ? " (added up)" : ""));
      }
      if (!step.loads.empty()) out_ << ", reads " << join(step.loads);
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

  template <class Indices>
  static std::string inputs(const ir::Node& node, const Indices& indices) {
    std::vector<std::string> names;
    for (const size_t index : indices) names.push_back(node.inputs[index].name);
    return join(names);
  }

  void print_saved(const ir::Node& node, const ir::SavedValue& saved) {
    out_ << "  saves " << saved.name << " (" << describe(saved.kind);
    const bool is_value =
        saved.kind == ir::SavedKind::kValue || saved.kind == ir::SavedKind::kResultValue;
    if (is_value && saved.init != saved.name) out_ << ", " << saved.init;
    out_ << "): the gradient of " << inputs(node, saved.users) << " needs it";
    out_ << (saved.guarded ? "; only where that is wanted\n" : "\n");
  }

  /// How forward mode computes tangents.
  void print_forward(const ir::Node& node) {
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
    if (node.forward && !node.forward->row_shape.empty()) {
      for (const ir::TangentFormula& formula : node.forward->formulas) {
        out_ << "  tangent of " << op_.schema.return_name(formula.outputs[0]) << " = "
             << formula.original << "\n";
      }
      return;
    }
    const char* text = "by differentiating the gradients";
    if (node.forward && node.forward->rule == ir::TangentRule::kElementWise) {
      text = "what multiplies gradients multiplies them";
    } else if (node.forward && node.forward->rule == ir::TangentRule::kElementWiseOfReals) {
      text = "what multiplies gradients multiplies them; of complex tensors by differentiating the "
             "gradients";
    }
    out_ << "  tangents: " << text << "\n";
  }

  const Model& model_;
  const ir::Library& library_;
  size_t index_;
  const ir::Entry& entry_;
  OperatorRef ref_;
  const Operator& op_;
  const Derivative* derivative_;
  std::ostream& out_;
};

}  // namespace

bool explain(const Model& model, const ir::Library& library, const std::string& name,
             std::ostream& out, std::ostream& errors) {
  const std::vector<size_t> entries = find_entries(library, name);
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
    Explanation(model, library, entries[i], out).print();
  }
  return true;
}

}  // namespace tenon::codegen
