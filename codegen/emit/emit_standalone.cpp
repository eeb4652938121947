#include "codegen/emit/emit_standalone.h"

#include <algorithm>
#include <set>

#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/print_tensor.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/row_expression.h"

namespace tenon::codegen {
namespace {

using schema::Argument;

/// The types of arguments that kernels without the library take.
bool is_plain(const Argument& argument) {
  using schema::BaseType;
  const schema::Type type = argument.type.without_optional();
  if (argument.type.holds_tensors()) return !argument.type.is_tensor_list();
  const bool integer = type.base == BaseType::kInt || type.base == BaseType::kSymInt;
  if (type.is_list()) return integer;
  return integer || type.is(BaseType::kFloat) || type.is(BaseType::kBool) ||
         type.is(BaseType::kScalar);
}

bool calls_library(const ir::Entry& entry) {
  const auto calls = [](const auto& parts) {
    return std::any_of(parts.begin(), parts.end(), [](const auto& part) {
      return part.text.find("tenon::native::") != std::string::npos;
    });
  };
  const bool gradients = entry.node && entry.node->rowwise && calls(entry.node->rowwise->gradients);
  return gradients || (entry.rowwise && calls(entry.rowwise->composed));
}

/// Why there is no kernel, or "".
std::string obstacle(const Operator& op, const ir::Entry& entry, OutputTarget target) {
  if (target != OutputTarget::kC && op.schema.ns.empty())
    return "its name has no namespace, which libraries that register operators need";
  if (!op.as<Pointwise>() && !op.as<Rowwise>()) return "it is of another kind";
  if (op.schema.kind() != schema::SchemaKind::kFunctional) return "it writes to its arguments";
  if (entry.kernel && (entry.kernel->masks != 0 || !entry.kernel->draws.empty()))
    return "its results have several dtypes or are drawn";
  if (entry.kernel && op.check) return "its `check` is a function of the library";
  if (entry.node && !entry.node->formulas.empty())
    return "its derivative is a formula of operators";
  const auto composed = [](const ir::PointwiseGradient& gradient) {
    return gradient.kind == ir::GradientKind::kOperators;
  };
  if (entry.node &&
      std::any_of(entry.node->pointwise.begin(), entry.node->pointwise.end(), composed))
    return "its derivative reads more tensors than one kernel does";
  if (target != OutputTarget::kC && calls_library(entry))
    return "made of operators it calls functions that only the library has";
  for (const Argument& argument : op.schema.args) {
    if (!is_plain(argument) || argument.name == "dtype" || is_half_to_float(argument))
      return "argument `" + argument.name + "` is of a kind that only the library knows";
    if (op.as<Pointwise>() && argument.type.is_optional_tensor())
      return "tensor `" + argument.name + "` may be absent";
  }
  return "";
}

void describe_rows(const Operator& op, const ir::Entry& entry, ir::Standalone& out) {
  const Rowwise& spec = *op.as<Rowwise>();
  out.dims = spec.over->text;
  if (const Argument* argument = op.schema.find_arg(out.dims)) {
    const schema::Type type = argument->type.without_optional();
    const bool sizes = type.is_list() && type.base == schema::BaseType::kSymInt;
    out.over = sizes ? "sizes" : type.is_list() ? "list" : "number";
    if (argument->type.is_optional() && !sizes) out.over = "optional_" + out.over;
  } else {
    out.over = out.dims == "all" ? "all" : "numbers";
  }
  out.keepdim = op.schema.find_arg("keepdim") ? "keepdim" : spec.keepdim ? "true" : "false";
  for (const Argument& argument : op.schema.args) {
    const bool element = argument.type.is_tensor() && !holds_name(spec.rows, argument.name) &&
                         !holds_name(spec.columns, argument.name);
    if (element) out.elements.push_back(argument.name);
  }
  for (const ir::RowResult& result : entry.rowwise->kernel.outputs)
    out.widens |= result.kind == ir::RowKind::kRow && result.dtype != ir::RowDtype::kLong;
}

/// The results of a pointwise entry made of operators.
std::vector<std::string> compose(const Operator& op) {
  if (op.as<Pointwise>()->cases.size() != op.schema.returns.size()) return {};
  const std::optional<expr::Expression> expression = differentiable_expression(op);
  if (!expression) return {};
  expr::TensorTextOptions options;
  for (const Argument& argument : op.schema.args) {
    const bool scalar = argument.type.is(schema::BaseType::kScalar);
    if (!argument.type.holds_tensors() && !scalar) options.plain_scalars.insert(argument.name);
  }
  std::vector<std::string> texts;
  for (const expr::NodeId output : expression->outputs)
    texts.push_back(expr::print_tensor_ops(expression->graph, output, options).text);
  return texts;
}

/// The names that gradients read, sorted into what they are.
std::optional<ir::GradientCall> gradient_call(const Operator& op, const ir::Entry& entry,
                                              const std::vector<std::string>& elements) {
  if (!entry.node) return std::nullopt;
  std::set<std::string> read;
  std::vector<std::string> row_elements;
  const auto add = [&](const auto& names) { read.insert(names.begin(), names.end()); };
  for (const ir::GradientKernel& kernel : entry.node->kernels)
    add(kernel.inputs), add(kernel.scalars);
  ir::GradientCall call;
  for (const ir::PointwiseGradient& gradient : entry.node->pointwise) {
    call.inputs.push_back(entry.node->inputs[gradient.input].name);
    if (gradient.kind != ir::GradientKind::kKernel) read.insert(gradient.text);
  }
  if (entry.node->rowwise) {
    const ir::RowKernel& kernel = entry.node->rowwise->kernel;
    add(kernel.scalars);
    for (const ir::RowGradient& gradient : entry.node->rowwise->gradients)
      call.inputs.push_back(entry.node->inputs[gradient.input].name);
    for (const ir::RowInput& input : kernel.inputs) {
      read.insert(input.name);
      if (input.kind == ir::RowKind::kElement) row_elements.push_back(input.name);
    }
  }
  const size_t results = op.schema.returns.size();
  for (size_t i = 0; i < results; ++i) {
    if (read.contains(expr::grad_name(i, results)))
      call.grads.push_back(expr::grad_name(i, results));
    if (read.contains(expr::result_name(i, results)))
      call.results.push_back(expr::result_name(i, results));
  }
  // A gradient or a result of elements has the shape of the call.
  for (const std::string& name : row_elements) {
    if (op.schema.find_arg(name) == nullptr) call.elements = {name};
  }
  if (call.elements.empty()) call.elements = elements;
  if (op.as<Rowwise>()) add(call.elements);
  for (const Argument& argument : op.schema.args) {
    const bool geometry = op.as<Rowwise>() && is_geometry(op, argument);
    if (geometry || read.contains(argument.name)) call.arguments.push_back(argument.name);
  }
  return call;
}

ir::CallParameter tensor_parameter(const std::string& name, ir::RowKind kind) {
  return {name, "const tenon::Tensor&", "tenon::Tensor", "Tensor " + name, true, false, kind};
}

/// The entry's parameters; of a rowwise one, tensors are what its kernel or its gradients' says.
ir::CallParameter parameter(const Operator& op, const ir::Argument& argument) {
  ir::CallParameter out;
  out.name = argument.name;
  out.type = argument.type;
  out.owned = argument.owned;
  out.schema = argument.schema_type + " " + argument.name;
  if (const size_t at = out.schema.find("SymInt"); at == 0)
    out.schema.erase(0, 3), out.schema[0] = 'i';
  out.tensor = argument.is_tensor || argument.is_optional_tensor;
  out.optional = argument.is_optional_tensor;
  if (const Rowwise* spec = op.as<Rowwise>()) {
    if (holds_name(spec->rows, argument.name)) out.kind = ir::RowKind::kRow;
    if (holds_name(spec->columns, argument.name)) out.kind = ir::RowKind::kColumn;
  }
  return out;
}

std::string batched_rule(const ir::Standalone& entry, const ir::TorchCall& call) {
  if (entry.over.empty()) return "aligned";
  const auto negative = std::count(entry.dims.begin(), entry.dims.end(), '-');
  const auto count = 1 + std::count(entry.dims.begin(), entry.dims.end(), ',');
  const bool numbers = entry.over == "numbers" && negative == count;
  const bool sums = std::find(call.results.begin(), call.results.end(), ir::RowKind::kColumn) !=
                    call.results.end();
  return !sums && (numbers || entry.over == "number") ? "shifted" : "composed";
}

void add_calls(const Operator& op, const ir::Entry& entry, ir::Standalone& out) {
  const ir::Form& form = entry.forms[0];
  out.forward.name = form.name;
  out.forward.ident = entry.ident;
  for (const ir::Argument& argument : form.arguments)
    out.forward.parameters.push_back(parameter(op, argument));
  out.forward.results.resize(form.returns.size(), ir::RowKind::kElement);
  for (size_t i = 0; entry.rowwise && i < form.returns.size(); ++i)
    out.forward.results[i] = entry.rowwise->kernel.outputs[i].kind;
  out.forward.batched = batched_rule(out, out.forward);
  if (!out.gradients) return;
  ir::TorchCall& call = out.backward.emplace();
  call.name = call.ident = "_" + entry.ident + "_backward";
  const size_t results = form.returns.size();
  for (size_t i = 0; i < results; ++i) {
    const std::string name = expr::grad_name(i, results);
    const auto& read = out.gradients->grads;
    if (std::find(read.begin(), read.end(), name) != read.end())
      call.parameters.push_back(tensor_parameter(name, out.forward.results[i]));
  }
  for (size_t i = 0; i < results; ++i) {
    const std::string name = expr::result_name(i, results);
    const auto& read = out.gradients->results;
    if (std::find(read.begin(), read.end(), name) != read.end())
      call.parameters.push_back(tensor_parameter(name, out.forward.results[i]));
  }
  for (const ir::Argument& argument : form.arguments) {
    const auto& read = out.gradients->arguments;
    if (std::find(read.begin(), read.end(), argument.name) != read.end())
      call.parameters.push_back(parameter(op, argument));
  }
  call.results.resize(out.gradients->inputs.size(), ir::RowKind::kElement);
  for (size_t i = 0; entry.node->rowwise && i < call.results.size(); ++i)
    call.results[i] = entry.node->rowwise->gradients[i].kind;
  call.batched = batched_rule(out, call);
}

/// The operators that texts in C++ call, in alphabetical order.
std::vector<std::string> called_operators(const ir::Entry& entry, const ir::Standalone& out) {
  std::string texts;
  for (const std::string& text : out.composed) texts += text;
  if (entry.rowwise) {
    for (const auto& part : entry.rowwise->composed) texts += part.text;
  }
  if (entry.node) {
    for (const auto& gradient : entry.node->pointwise) texts += gradient.text;
  }
  if (entry.node && entry.node->rowwise) {
    for (const auto& gradient : entry.node->rowwise->gradients) texts += gradient.text;
  }
  std::set<std::string> names;
  const std::string prefix = "tenon::";
  for (size_t at = texts.find(prefix); at != std::string::npos; at = texts.find(prefix, at)) {
    at += prefix.size();
    const size_t end = texts.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
    if (end != std::string::npos && end > at && texts[end] == '(')
      names.insert(texts.substr(at, end - at));
  }
  return {names.begin(), names.end()};
}

ir::Standalone describe(const Operator& op, const ir::Entry& entry) {
  ir::Standalone out;
  if (op.as<Rowwise>()) {
    describe_rows(op, entry, out);
  } else {
    out.elements = entry.kernel->inputs;
    out.composed = compose(op);
  }
  out.called = called_operators(entry, out);
  out.gradients = gradient_call(op, entry, out.elements);
  add_calls(op, entry, out);
  return out;
}

}  // namespace

std::vector<ir::File> emit_standalone(const Model& model, OutputTarget target, bool cuda,
                                      ir::Library& library, DiagnosticSink& sink) {
  const RuleScope scope(sink, "standalone_kernel");
  std::vector<size_t> all;
  for (ir::Entry& entry : library.operators) {
    const Operator& op =
        *std::find_if(model.operators().begin(), model.operators().end(),
                      [&](const Operator& one) { return one.name() == entry.name; });
    const std::string why = obstacle(op, entry, target);
    if (!why.empty()) {
      sink.error(op.location, "`" + entry.name +
                                  "` has no kernel without the library, which a functional "
                                  "`pointwise` or `rowwise` entry has: " +
                                  why);
      continue;
    }
    entry.standalone = describe(op, entry);
    all.push_back(all.size());
  }
  std::vector<ir::File> files;
  if (sink.has_errors()) return files;
  const auto add = [&](const std::string& path, const char* tmpl,
                       const std::vector<size_t>& operators) -> ir::File& {
    ir::File& file = files.emplace_back();
    file.path = path;
    file.template_name = tmpl;
    file.operators = operators;
    return file;
  };
  for (const size_t at : all) {
    const ir::Entry& entry = library.operators[at];
    const char* const kind = entry.kernel ? "pointwise" : "rowwise";
    // Read by the one source that is compiled.
    const std::string path = std::string(kind) + "/" + entry.ident + "-inl.h";
    ir::File& file = add(path, entry.kernel ? "pointwise.cpp.j2" : "rowwise.cpp.j2", {at});
    file.base = entry.base;
    file.cpp_namespace = entry.cpp_namespace;
  }
  if (target == OutputTarget::kC) {
    add(library.name + ".h", "c.h.j2", all);
    add(library.name + ".cpp", "c.cpp.j2", all);
  } else if (target == OutputTarget::kStable) {
    add(library.name + ".cpp", "stable.cpp.j2", all);
  } else {
    add(library.name + "_support.h", "torch_support.h.j2", {});
    add(library.name + ".cpp", "torch.cpp.j2", all);
    std::vector<size_t> pointwise;
    for (const size_t at : all) {
      if (library.operators[at].kernel) pointwise.push_back(at);
    }
    if (cuda && !pointwise.empty()) {
      ir::File& file = add(library.name + "_cuda.cu", "pointwise.cu.j2", pointwise);
      file.includes = {"aten/cuda/cuda_pointwise.cuh"};
      file.shard = 0;
    }
  }
  return files;
}

}  // namespace tenon::codegen
