#include "codegen/ir/print.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/ir/names.h"

namespace tenon::codegen::ir {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// The text of an object whose lists are printed item by item: all of them as JSON values at once
/// would take several times the memory.
class Document {
 public:
  explicit Document(int indent) : indent_(indent) {}

  void add(const char* key, const Json& value) {
    begin(key);
    append(value, 1);
  }
  void begin_list(const char* key) {
    begin(key);
    text_ += '[';
    first_ = true;
  }
  void add(const Json& item) {
    separate(2);
    append(item, 2);
  }
  void end_list() {
    if (!first_) break_line(1);
    text_ += ']';
    first_ = false;
  }
  std::string finish() && {
    break_line(0);
    text_ += '}';
    return std::move(text_);
  }

 private:
  void begin(const char* key) {
    separate(1);
    text_ += Json(key).dump() + (indent_ < 0 ? ":" : ": ");
  }
  void separate(int depth) {
    if (!first_) text_ += ',';
    first_ = false;
    break_line(depth);
  }
  void break_line(int depth) {
    if (indent_ >= 0) text_ += "\n" + std::string(static_cast<size_t>(depth * indent_), ' ');
  }
  void append(const Json& value, int depth) {
    const std::string text = value.dump(indent_);
    // A value has no line break but those of its indentation.
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      text_.append(text, at, end - at);
      if (end < text.size()) break_line(depth);
      at = end + 1;
    }
  }

  int indent_;
  std::string text_ = "{";
  bool first_ = true;
};

/// One function for each part; a class, so that each may call those after it.
class Printer {
 public:
  explicit Printer(const Library& library) : library_(library) {}

  std::string run(int indent) const {
    Document document(indent);
    document.add("version", kVersion);
    document.add("library", library_.name);
    document.add("in_tree", library_.in_tree);
    document.add("cuda", library_.cuda);
    if (library_.backend) {
      document.add("backend",
                   {{"key", library_.backend->key}, {"namespace", library_.backend->ns}});
    }
    document.begin_list("operators");
    for (const Entry& entry : library_.operators)
      document.add(library_.backend ? print_backend_entry(entry) : print_entry(entry));
    document.end_list();
    document.begin_list("files");
    for (const File& file : library_.files) document.add(print_file(file));
    document.end_list();
    if (library_.unused_sources) document.add("unused_sources", *library_.unused_sources);
    return std::move(document).finish();
  }

 private:
  template <class T>
  static Json list(const std::vector<T>& items) {
    Json result = Json::array();
    for (const T& item : items) result.push_back(print(item));
    return result;
  }

  template <class T>
  static Json or_null(const std::optional<T>& value) {
    return value ? print(*value) : Json(nullptr);
  }

  // ---- forms

  static Json print(const Argument& argument) {
    return {{"name", argument.name},
            {"type", argument.type},
            {"owned", argument.owned},
            {"default", argument.default_text},
            {"schema_type", argument.schema_type},
            {"is_tensor", argument.is_tensor},
            {"is_optional_tensor", argument.is_optional_tensor},
            {"is_tensor_list", argument.is_tensor_list},
            {"is_mutable", argument.is_mutable},
            {"kwarg_only", argument.kwarg_only}};
  }

  static Json print(const Parameter& parameter) {
    return {
        {"name", parameter.name}, {"type", parameter.type}, {"default", parameter.default_text}};
  }

  static Json print(const Api& api) {
    return {
        {"parameters", list(api.parameters)}, {"call", api.call}, {"has_options", api.has_options}};
  }

  static Json print(const Return& ret) {
    return {{"name", ret.name},
            {"is_tensor", ret.is_tensor},
            {"is_tensor_list", ret.is_tensor_list},
            {"is_mutable", ret.is_mutable}};
  }

  static Json print(const Thunk& thunk) {
    Json result = {{"symbol", thunk.symbol}, {"kind", name_in(kThunkKinds, thunk.kind)}};
    switch (thunk.kind) {
    case ThunkKind::kPointwise: result["form"] = name_in(kForms, thunk.form); break;
    case ThunkKind::kComposition: result["owns_result"] = thunk.owns_result; break;
    case ThunkKind::kStructured:
      result["form"] = name_in(kForms, thunk.form);
      result["kernel"] = text_or_null(thunk.kernel);
      result["meta"] = thunk.meta;
      break;
    case ThunkKind::kDirect:
      result["kernel"] = thunk.kernel;
      result["owns_result"] = thunk.owns_result;
      break;
    case ThunkKind::kInplaceFromFunctional: result["functional"] = thunk.functional; break;
    case ThunkKind::kOutFromFunctional:
      result["functional"] = thunk.functional;
      result["like_out"] = thunk.like_out;
      result["any_shape"] = thunk.any_shape;
      break;
    case ThunkKind::kPointwiseMixed:
    case ThunkKind::kUpdate:
    case ThunkKind::kUpdateComposed:
    case ThunkKind::kRowwise:
    case ThunkKind::kRowwiseComposed:
    case ThunkKind::kForeach: break;
    }
    return result;
  }

  static Json print(const Dispatch& dispatch) {
    Json table = Json::object();
    for (const auto& [slot, symbol] : dispatch.table) table[slot] = symbol;
    return {{"thunks", list(dispatch.thunks)}, {"table", std::move(table)}};
  }

  static Json print(const Autograd& autograd) {
    Json result = {{"kind", name_in(kForms, autograd.kind)}};
    if (autograd.kind == schema::SchemaKind::kOut) return result;
    result["differentiable"] = autograd.differentiable;
    if (autograd.kind != schema::SchemaKind::kInplace) return result;
    result["changes_geometry"] = autograd.changes_geometry;
    result["constant"] = text_or_null(autograd.constant);
    return result;
  }

  static Json print(const FormName& form) { return {{"ident", form.ident}, {"name", form.name}}; }

  /// What a form is, without how it runs.
  static Json print_schema(const Form& form) {
    return {{"ident", form.ident},
            {"name", form.name},
            {"base", form.base},
            {"overload", form.overload},
            {"namespace", form.ns},
            {"error_name", form.ns == "aten" ? form.name : form.ns + "::" + form.name},
            {"schema", form.schema},
            {"source", form.place.source},
            {"file", form.place.file},
            {"line", form.place.line},
            {"kind", schema::to_string(form.kind)},
            {"derived", form.derived},
            {"method", form.method},
            {"function", form.function},
            {"arguments", list(form.arguments)},
            {"api", print(form.api)},
            {"outs", form.outs},
            {"returns", list(form.returns)},
            {"return_type", form.return_type},
            {"keys", form.keys},
            {"is_view", form.is_view}};
  }

  static Json print(const Form& form) {
    Json result = print_schema(form);
    result["of"] = or_null(form.of);
    result["dispatch"] = print(form.dispatch);
    result["autograd"] = or_null(form.autograd);
    result["cpp_namespace"] = form.cpp_namespace;
    return result;
  }

  static Json print(const KernelDeclaration& declaration) {
    Json result = {{"name", declaration.name},
                   {"kind", name_in(kDeclarationKinds, declaration.kind)},
                   {"backend", declaration.backend}};
    if (declaration.kind == DeclarationKind::kMeta) result["result"] = declaration.result;
    if (declaration.kind == DeclarationKind::kStructured) result["outputs"] = declaration.outputs;
    return result;
  }

  // ---- kernels

  static Json print(const NamedText& one) { return {{"name", one.name}, {"text", one.text}}; }

  static Json print(const KernelBody& body) {
    return {{"functor", body.functor},
            {"types", body.types},
            {"statements", body.statements},
            {"results", body.results},
            {"modular", body.modular}};
  }

  static Json print(const Kernel& kernel) {
    return {{"ident", kernel.ident},
            {"inputs", kernel.inputs},
            {"scalars", kernel.scalars},
            {"num_outputs", kernel.num_outputs},
            {"promotion", name_in(kPromotions, kernel.promotion)},
            {"promoting_inputs", kernel.promoting_inputs},
            {"promoting_scalars", kernel.promoting_scalars},
            {"cost", kernel.cost},
            {"bodies", list(kernel.bodies)}};
  }

  static Json print(const ForwardKernel& kernel) {
    Json result = print(static_cast<const Kernel&>(kernel));
    result["defaults"] = list(kernel.defaults);
    result["masks"] = kernel.masks;
    result["draws"] = kernel.draws;
    return result;
  }

  static Json print(const GradientKernel& kernel) {
    Json result = print(static_cast<const Kernel&>(kernel));
    result["outputs"] = kernel.outputs;
    return result;
  }

  static Json print(const UpdateKernel& kernel) {
    Json result = print(static_cast<const Kernel&>(kernel));
    result["given"] = kernel.given;
    result["absent"] = kernel.absent;
    result["written"] = kernel.written;
    result["numbers"] = list(kernel.numbers);
    result["composed"] = kernel.composed;
    return result;
  }

  static Json print(const TensorName& tensor) {
    return {{"name", tensor.name}, {"optional", tensor.optional}};
  }

  static Json print(const Update& update) {
    return {{"written", list(update.written)},
            {"reads", list(update.reads)},
            {"kernels", list(update.kernels)},
            {"operators", update.operators},
            {"headers", update.headers}};
  }

  // ---- rows

  static Json print(const RowInput& input) {
    return {{"name", input.name},         {"kind", name_in(kRowKinds, input.kind)},
            {"position", input.position}, {"promotes", input.promotes},
            {"optional", input.optional}, {"absent", input.absent}};
  }

  static Json print(const RowResult& result) {
    return {{"kind", name_in(kRowKinds, result.kind)},
            {"dtype", name_in(kRowDtypes, result.dtype)}};
  }

  static Json print(const expr::RowStep::Reduction& one) {
    return {{"name", one.name},
            {"kind", one.kind},
            {"text", one.text},
            {"factor", one.factor},
            {"whole", one.whole}};
  }

  static Json print(const expr::RowStep::Store& one) {
    return {{"output", one.output}, {"text", one.text}, {"adds", one.adds}, {"whole", one.whole}};
  }

  static Json print(const RowStep& row_step) {
    const expr::RowStep& step = row_step.step;
    return {{"kind", name_in(kRowSteps, step.kind)},
            {"loads", step.loads},
            {"row_values", step.row_values},
            {"statements", step.statements},
            {"values", list(step.values)},
            {"reductions", list(step.reductions)},
            {"stores", list(step.stores)},
            {"spills", list(step.spills)},
            {"position", row_step.position ? Json(*row_step.position) : Json(nullptr)},
            {"place", row_step.position ? "" : step.position},
            {"needed", step.needed},
            {"outputs", step.outputs},
            {"ahead", row_step.ahead}};
  }

  static Json print(const CudaRows& cuda) {
    return {{"steps", list(cuda.steps)}, {"kept", cuda.kept}, {"sums", cuda.sums}};
  }

  static Json print(const RowKernel& kernel) {
    Json types = Json::array();
    if (!kernel.of_bits) types = {"f32", "f64"};
    if (!kernel.floating) types.push_back("i64");
    return {{"ident", kernel.ident},
            {"inputs", list(kernel.inputs)},
            {"scalars", kernel.scalars},
            {"outputs", list(kernel.outputs)},
            {"num_spills", kernel.spill_outputs.size()},
            {"spill_outputs", kernel.spill_outputs},
            {"across", kernel.across},
            {"reads_once", kernel.reads_once},
            {"narrow", kernel.narrow},
            {"last_values", kernel.last_values},
            {"last_reads", kernel.last_reads},
            {"floating", kernel.floating},
            {"needs_elements", kernel.needs_elements},
            {"uses_index", kernel.uses_index},
            {"types", std::move(types)},
            {"num_passes", kernel.num_passes},
            {"steps", list(kernel.steps)},
            {"cuda", print(kernel.cuda)}};
  }

  static Json print(const RowConversion& one) {
    return {{"name", one.name},
            {"kind", name_in(kConversions, one.kind)},
            {"position", one.position},
            {"optional", one.optional},
            {"absent", one.absent}};
  }

  static Json print(const ComposedRow& one) {
    return {{"kind", name_in(kRowKinds, one.kind)},
            {"dtype", name_in(kRowDtypes, one.dtype)},
            {"text", one.text}};
  }

  static Json print(const Rowwise& rowwise) {
    return {{"shape", rowwise.shape},
            {"as_float", text_or_null(rowwise.as_float)},
            {"kernel", print(rowwise.kernel)},
            {"composed", list(rowwise.composed)},
            {"conversions", list(rowwise.conversions)},
            {"defaults", list(rowwise.defaults)},
            {"dtype", rowwise.dtype},
            {"like", rowwise.like},
            {"operators", rowwise.operators},
            {"readable", rowwise.readable},
            {"headers", rowwise.headers}};
  }

  static Json print(const RowGradient& gradient) {
    return {{"input", gradient.input},
            {"kind", name_in(kRowKinds, gradient.kind)},
            {"text", gradient.text},
            {"readable", gradient.readable},
            {"sizes", text_or_null(gradient.sizes)}};
  }

  static Json print(const RowGrad& grad) {
    return {{"name", grad.name},
            {"result", grad.result},
            {"kind", name_in(kRowKinds, grad.kind)},
            {"always", grad.always},
            {"optional", grad.optional}};
  }

  static Json print(const RowGradients& rows) {
    return {{"grads", list(rows.grads)},         {"kernel", print(rows.kernel)},
            {"gradients", list(rows.gradients)}, {"conversions", list(rows.conversions)},
            {"defaults", list(rows.defaults)},   {"dtype", rows.dtype},
            {"operators", rows.operators}};
  }

  // ---- nodes

  static Json print(const NodeInput& input) {
    return {{"name", input.name}, {"kind", name_in(kInputKinds, input.kind)}};
  }

  static Json print(const SavedValue& saved) {
    Json result = {{"name", saved.name}, {"kind", name_in(kSavedKinds, saved.kind)}};
    if (!saved.type.empty()) {
      result["type"] = saved.type;
      result["init"] = saved.init;
    }
    if (!saved.of.empty()) result["of"] = saved.of;
    if (saved.index) result["index"] = *saved.index;
    if (saved.is_self) result["is_self"] = *saved.is_self;
    result["pointwise"] = saved.pointwise;
    result["users"] = saved.users;
    result["shown"] = saved.shown;
    result["guarded"] = saved.guarded;
    result["shared"] = saved.shared;
    return result;
  }

  static Json print(const NodeFormula& formula) {
    return {{"outputs", formula.outputs},
            {"text", formula.text},
            {"original", formula.original},
            {"not_implemented", formula.not_implemented},
            {"source", formula.place.source},
            {"line", formula.place.line},
            {"file", formula.place.file},
            {"uses_grads", formula.uses_grads},
            {"uses", formula.uses}};
  }

  static Json print(const PointwiseGradient& gradient) {
    return {{"input", gradient.input},
            {"form", name_in(kGradientKinds, gradient.kind)},
            {"text", gradient.text},
            {"readable", gradient.readable},
            {"uses", gradient.uses}};
  }

  static Json print(const ForwardValue& value) {
    return {{"name", value.name},
            {"kind", value.is_result ? "result" : "argument"},
            {"index", value.index},
            {"type", value.type}};
  }

  static Json print(const Tangent& tangent) {
    return {{"name", tangent.name}, {"index", tangent.index}, {"list", tangent.is_list}};
  }

  static Json print(const TangentTerm& term) {
    return {{"text", term.text},
            {"negative", term.negative},
            {"tangents", list(term.tangents)},
            {"conversions", list(term.conversions)}};
  }

  static Json print(const TangentFormula& formula) {
    return {{"outputs", formula.outputs},
            {"original", formula.original},
            {"terms", list(formula.terms)}};
  }

  static Json print(const Forward& forward) {
    return {{"rule", name_in(kTangentRules, forward.rule)},
            {"covered", forward.covered},
            {"uncovered", forward.uncovered},
            {"values", list(forward.values)},
            {"row_shape", text_or_null(forward.row_shape)},
            {"formulas", list(forward.formulas)}};
  }

  static Json print(const Node& node) {
    return {{"name", node.name},
            {"ident", node.ident},
            {"source", node.place.source},
            {"file", node.place.file},
            {"line", node.place.line},
            {"inputs", list(node.inputs)},
            {"num_results", node.num_results},
            {"differentiable_outputs", node.differentiable_outputs},
            {"saved", list(node.saved)},
            {"formulas", list(node.formulas)},
            {"pointwise", list(node.pointwise)},
            {"rowwise", or_null(node.rowwise)},
            {"forward", or_null(node.forward)},
            {"kernels", list(node.kernels)},
            {"operators", node.operators},
            {"headers", node.headers}};
  }

  // ---- entries

  static Json print(const List& one) {
    return {{"name", one.name},
            {"element", one.element},
            {"written", one.written},
            {"conditional", one.conditional}};
  }

  static Json print(const Words& one) { return {{"name", one.name}, {"words", one.words}}; }

  static Json print(const Composition& composition) {
    return {{"locals", list(composition.locals)},
            {"result", composition.result},
            {"unused", composition.unused},
            {"operators", composition.operators},
            {"headers", composition.headers},
            {"kernel", composition.kernel ? Json(*composition.kernel) : Json(nullptr)},
            {"lists", list(composition.lists)},
            {"words", list(composition.words)},
            {"inplace", text_or_null(composition.inplace)},
            {"out", text_or_null(composition.out)}};
  }

  static Json print(const Alias& alias) {
    return {{"name", alias.name}, {"base", alias.base}, {"header", alias.header}};
  }

  Json print_entry(const Entry& entry) const {
    Json aliases = Json::array();
    for (const size_t at : entry.aliases) {
      for (const Form& form : library_.operators[at].forms) aliases.push_back(print(form));
    }
    Json result = {{"name", entry.name},
                   {"ident", entry.ident},
                   {"base", entry.base},
                   {"namespace", entry.ns},
                   {"header", entry.header},
                   {"error_name", entry.error_name},
                   {"source", entry.place.source},
                   {"line", entry.place.line},
                   {"forms", list(entry.forms)},
                   {"declarations", list(entry.declarations)},
                   {"check", entry.check ? Json(*entry.check) : Json(nullptr)},
                   {"alias", or_null(entry.alias)},
                   {"aliases", std::move(aliases)},
                   {"kernel", or_null(entry.kernel)},
                   {"updates", or_null(entry.updates)},
                   {"rowwise", or_null(entry.rowwise)},
                   {"composition", or_null(entry.composition)},
                   {"node", or_null(entry.node)}};
    if (entry.expression) result["expression"] = *entry.expression;
    if (!library_.unused_sources) return result;
    result["selected"] = entry.selected;
    if (entry.selected) result["reached_from"] = entry.reached_from;
    return result;
  }

  /// One with a kernel of a device.
  static Json print_backend_entry(const Entry& entry) {
    const KernelDeclaration& kernel = entry.declarations[0];
    Json forms = Json::array();
    for (const Form& form : entry.forms) forms.push_back(print_schema(form));
    return {{"name", entry.name},    {"ident", entry.ident},
            {"base", entry.base},    {"into", kernel.kind == DeclarationKind::kStructured},
            {"kernel", kernel.name}, {"declarations", list(entry.declarations)},
            {"node", nullptr},       {"forms", std::move(forms)}};
  }

  // ---- files

  static Json print(const PythonParameter& p) {
    return {{"name", p.name},
            {"kind", p.kind},
            {"optional", p.optional},
            {"has_default", p.has_default},
            {"size", p.size}};
  }

  static Json print(const PythonArgument& argument) {
    return {{"read", argument.read}, {"at", argument.at}, {"default", argument.default_text}};
  }

  static Json print(const PythonChecked& checked) {
    return {{"dtype", checked.dtype}, {"out", checked.out}};
  }

  static Json print(const PythonCall& call) {
    return {{"ident", call.ident},
            {"name", call.name},
            {"schema", call.schema},
            {"namespace", call.ns},
            {"signature", call.signature},
            {"return_kinds", call.return_kinds},
            {"parameters", list(call.parameters)},
            {"arguments", list(call.arguments)},
            {"positional", call.positional},
            {"self", call.self},
            {"again", call.again},
            {"requires_grad", call.requires_grad},
            {"checked", or_null(call.checked)},
            {"returns", call.returns},
            {"names", call.names}};
  }

  static Json print(const PythonFunction& function) {
    return {{"name", function.name},     {"module", function.module},
            {"method", function.method}, {"ident", function.ident},
            {"calls", function.calls},   {"expression", function.expression}};
  }

  Json print_file(const File& file) const {
    Json result = {{"path", file.path}, {"template", file.tmpl}, {"operators", file.operators}};
    if (!file.base.empty()) {
      result["base"] = file.base;
      result["namespace"] = file.ns;
    }
    if (file.python) {
      Json calls = Json::array();
      for (const auto& [entry, form] : file.python->calls)
        calls.push_back(print(*library_.operators[entry].forms[form].python));
      result["calls"] = std::move(calls);
      result["functions"] = list(file.python->functions);
    }
    if (file.shard) result["shard"] = *file.shard;
    if (file.shards) result["shards"] = *file.shards;
    return result;
  }

  const Library& library_;
};

}  // namespace

std::string print(const Library& library, int indent) { return Printer(library).run(indent); }

}  // namespace tenon::codegen::ir
