#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/pointwise_kernel.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

using schema::Argument;
using schema::Return;
using schema::SchemaKind;

constexpr std::string_view kWays[] = {
    "alias", "pointwise", "rowwise", "dispatch", "structured_delegate", "composite", "foreach"};

bool is_composite_key(std::string_view key) { return key.starts_with("Composite"); }

// Keys whose kernel `pointwise` or `structured_delegate` already gives.
bool is_dense_key(std::string_view key) {
  return key == "CPU" || key == "CUDA" || key == "Meta" || is_composite_key(key);
}

bool all_returns_are_tensors(const schema::FunctionSchema& schema) {
  return !schema.returns.empty() &&
         std::all_of(schema.returns.begin(), schema.returns.end(),
                     [](const Return& ret) { return ret.type.is_tensor() && !ret.alias; });
}

}  // namespace

void computed(const Entry& entry) {
  if (entry.has_unknown_key() || entry.op.is<Structured>()) return;
  for (const std::string_view way : kWays) {
    if (entry.has(way)) return;
  }
  entry.sink.error(
      entry.op.location,
      "`" + entry.op.name() +
          "` does not say how it is computed: add `pointwise`, `rowwise`, `composite`, "
          "`foreach`, `structured`, `dispatch` or `structured_delegate`");
}

void computed_once(const Entry& entry) {
  if (entry.op.is<AliasOf>()) return;  // alias_target reports every key that is too much
  std::vector<std::string_view> used;
  for (const std::string_view way : kWays) {
    if (entry.has(way) && way != "dispatch") used.push_back(way);
  }
  if (used.size() > 1) {
    entry.sink.report(
        {Severity::kError,
         entry.at_key(used[1]),
         "`" + entry.op.name() + "` is already computed by `" + std::string(used[0]) + "`",
         {{entry.at_key(used[0]), "`" + std::string(used[0]) + "` is here"}},
         {}});
  }
  if (used.empty()) return;
  // Kernels of other backends may stand beside an expression or a delegate.
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    if (!is_dense_key(kernel.key)) continue;
    entry.sink.report(
        {Severity::kError,
         kernel.key_location,
         "the kernel for `" + kernel.key + "` already comes from `" + std::string(used[0]) + "`",
         {{entry.at_key(used[0]), "`" + std::string(used[0]) + "` is here"}},
         {}});
  }
}

void structured_schema(const Entry& entry) {
  if (!entry.op.is<Structured>()) return;
  if (entry.kind() != SchemaKind::kFunctional || entry.schema().is_view()) {
    entry.sink.error(entry.at_key("structured"),
                     "`structured` belongs to the functional schema; its out and in-place forms "
                     "are asked for with `variants`");
  } else if (!all_returns_are_tensors(entry.schema())) {
    entry.sink.error(entry.op.at(entry.schema().returns_span),
                     "a structured operator returns tensors only, got `" +
                         schema::returns_to_string(entry.schema().returns) + "`");
  }
  if (!entry.op.upstream.device_guard) {
    entry.sink.error(entry.at_key("device_guard"), "a structured operator needs its device guard");
  }
}

void structured_dispatch(const Entry& entry) {
  if (!entry.op.is<Structured>() || entry.has_unknown_key()) return;
  if (!entry.has("dispatch") && !entry.op.names_backends) {
    entry.sink.error(entry.at_key("structured"),
                     "a structured operator needs its backends, `structured: CPU, CUDA`, or "
                     "`dispatch`, their kernels");
    return;
  }
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    if (!is_composite_key(kernel.key)) continue;
    entry.sink.error(kernel.key_location,
                     "a structured operator has a kernel for each backend, not `" + kernel.key +
                         "`");
  }
}

void structured_only(const Entry& entry) {
  constexpr std::string_view kKeys[] = {"structured_inherits", "precomputed", "ufunc_inner_loop"};
  if (entry.op.is<Structured>() || entry.has_unknown_key()) return;
  for (const std::string_view key : kKeys) {
    if (!entry.has(key)) continue;
    entry.sink.error(entry.at_key(key), "`" + std::string(key) + "` needs `structured: True`");
  }
}

void structured_delegate(const Entry& entry) {
  if (!entry.op.is<Delegate>()) return;
  const LocatedName* delegate = &entry.op.as<Delegate>()->of;
  if (entry.kind() == SchemaKind::kOut) {
    entry.sink.error(delegate->location, "an out schema cannot delegate: others delegate to it");
  }
  if (!entry.op.upstream.device_guard) {
    entry.sink.error(entry.at_key("device_guard"), "a structured operator needs its device guard");
  }
  const OperatorRef* target = entry.model.find(delegate->text);
  if (target == nullptr) {
    std::vector<std::string> names;
    for (const Operator& op : entry.model.operators()) {
      if (op.is<Structured>()) names.push_back(op.name());
    }
    if (!entry.model.complete() || entry.model.is_broken(delegate->text)) return;
    entry.sink.error(delegate->location, "unknown operator `" + delegate->text + "`",
                     schema::nearest(delegate->text, names));
    return;
  }
  const Operator& op = entry.model.op(*target);
  if (op.is<Structured>()) return;
  entry.sink.report({Severity::kError,
                     delegate->location,
                     "`" + delegate->text + "` is not structured",
                     {{op.location, "it is declared here"}},
                     {}});
}

void one_composite_key(const Entry& entry) {
  const DispatchEntry* first = nullptr;
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    // The nested one joins another, unless that excludes all but backends.
    const bool nested = kernel.key == "CompositeImplicitAutogradNestedTensor";
    const bool joins =
        nested && entry.op.find_dispatch("CompositeExplicitAutogradNonFunctional") == nullptr;
    if (!is_composite_key(kernel.key) || joins) continue;
    if (first == nullptr) {
      first = &kernel;
    } else if (first->key != kernel.key) {
      entry.sink.report({Severity::kError,
                         kernel.key_location,
                         "an operator has one composite kernel",
                         {{first->key_location, "the first is `" + first->key + "`"}},
                         {}});
    }
  }
}

void pointwise_schema(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (!entry.has("pointwise") || entry.op.as<Update>() || lacks_write(schema)) return;
  if (entry.kind() != SchemaKind::kFunctional) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "`pointwise` belongs to the functional schema; its out and in-place forms "
                     "are asked for with `variants`");
    return;
  }
  if (!all_returns_are_tensors(schema)) {
    entry.sink.error(entry.op.at(schema.returns_span),
                     "a pointwise operator returns new tensors only, got `" +
                         schema::returns_to_string(schema.returns) + "`");
  }
  const bool has_tensor = std::any_of(schema.args.begin(), schema.args.end(),
                                      [](const Argument& arg) { return arg.type.is_tensor(); });
  if (!has_tensor) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "a pointwise operator needs a Tensor argument, got `" +
                         schema::to_string(schema) + "`");
  }
  size_t num_tensors = schema.returns.size();
  size_t num_generators = 0;
  for (const Argument& arg : schema.args) {
    num_tensors += arg.type.is_tensor();
    const bool generator = arg.type.base == schema::BaseType::kGenerator;
    num_generators += generator;
    if (generator && num_generators == 2) {
      entry.sink.error(entry.op.at(arg.span), "a pointwise operator draws from one generator, got "
                                              "`" +
                                                  schema::to_string(arg) + "` besides");
    }
    const schema::Type value = arg.type.without_optional();
    // What chooses among expressions is gone once it was understood (switches.cpp).
    const bool chooses = value.is(schema::BaseType::kStr) || arg.type.is_optional_tensor();
    if (arg.type.is_tensor() || generator || chooses || is_number(value)) continue;
    const std::string takes = arg.type.is_list() && arg.type.holds_tensors()
                                  ? "no list of tensors"
                                  : "tensors and numbers";
    entry.sink.error(entry.op.at(arg.span), "a pointwise operator takes " + takes + ", got `" +
                                                schema::to_string(arg) + "`");
  }
  if (num_tensors > kMaxKernelTensors) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "a pointwise operator has at most " + std::to_string(kMaxKernelTensors) +
                         " tensors, results included, got " + std::to_string(num_tensors));
  }
  const auto num_numbers = static_cast<size_t>(
      std::count_if(schema.args.begin(), schema.args.end(), [](const Argument& arg) {
        return !arg.type.is_tensor() && arg.type.base != schema::BaseType::kGenerator;
      }));
  if (num_numbers > kMaxKernelNumbers) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "a pointwise operator has at most " + std::to_string(kMaxKernelNumbers) +
                         " numbers, got " + std::to_string(num_numbers));
  }
}

std::vector<std::string> results_without_expression(const Operator& op) {
  std::vector<std::string> missing;
  const size_t count = op.schema.returns.size();
  for (size_t i = 0; count > 1 && i < count; ++i) {
    const std::string name = op.schema.return_name(i);
    const auto is_of = [&](const PointwiseCase& one) { return one.output == name; };
    const std::vector<PointwiseCase>& cases = op.as<Pointwise>()->cases;
    if (std::none_of(cases.begin(), cases.end(), is_of)) missing.push_back(name);
  }
  return missing;
}

void pointwise_cases(const Entry& entry) {
  if (!entry.op.as<Pointwise>()) return;
  const std::vector<PointwiseCase>& cases = entry.op.as<Pointwise>()->cases;
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      const bool same = cases[before].output == cases[i].output &&
                        cases[before].category == cases[i].category &&
                        cases[before].backend == cases[i].backend;
      if (!same) continue;
      entry.sink.report({Severity::kError,
                         cases[i].expression.location,
                         "a second expression for the same case",
                         {{cases[before].expression.location, "the first is here"}},
                         {}});
      break;
    }
  }
  if (!entry.op.as<Pointwise>()->complete) return;
  for (const std::string& name : results_without_expression(entry.op)) {
    const bool unnamed =
        entry.schema().returns.size() > 1 && entry.schema().returns[0].name.empty();
    entry.sink.error(
        entry.op.as<Pointwise>()->location,
        "`pointwise` gives no expression for the output `" + name + "`" +
            (unnamed ? "; name the results, `-> (Tensor out, Tensor mask)`, and write a map" : ""));
  }
}

void promote_needs_pointwise(const Entry& entry) {
  if (!entry.has("promote") || entry.has_unknown_key()) return;
  if (!entry.op.promotion) return;
  const bool elements = entry.op.promotion == Promotion::kElements;
  if (entry.has("rowwise") || (entry.has("pointwise") && elements)) {
    if (entry.has("rowwise") && elements) return;
    entry.sink.error(entry.at_key("promote"),
                     "`promote: elements` is for `rowwise`, and the only rule that it takes");
  } else if (!entry.has("pointwise")) {
    entry.sink.error(entry.at_key("promote"), "`promote` is the dtype rule of `pointwise`; other "
                                              "operators state theirs in aten/meta");
  }
}

void fuse_needs_composition(const Entry& entry) {
  if (!entry.has("fuse") || entry.op.is<Composition>() || entry.has_unknown_key()) return;
  entry.sink.error(entry.at_key("fuse"),
                   "`fuse` says whether parts of a composition are kernels: it needs an expression "
                   "of `composite`");
}

void check_needs_expression(const Entry& entry) {
  if (!entry.op.check || entry.op.is<AliasOf>() || entry.op.composition()) return;
  if (entry.has("pointwise") || entry.has("rowwise") || entry.has_unknown_key()) return;
  entry.sink.error(entry.at_key("check"),
                   "`check` is called before an expression is computed; a kernel in C++ checks its "
                   "own arguments");
}

void batched_needs_kernel(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.batched || entry.has_unknown_key()) return;
  // A composition with a derivative of its own need not be differentiated by its parts.
  const bool by_parts = op.composition() && op.is_composite_implicit();
  if (op.as<Pointwise>() || op.as<Update>() || op.as<Rowwise>() || by_parts || op.is<AliasOf>()) {
    entry.sink.error(entry.at_key("batched"),
                     "`batched` follows from the entry's expression; it is "
                     "for operators whose kernels are written in C++");
  } else if (op.schema.kind() != schema::SchemaKind::kFunctional) {
    entry.sink.error(entry.at_key("batched"),
                     "`batched` is for operators that return new tensors; what writes to tensors "
                     "runs for each example");
  }
}

// Only upstream's files say it: here the tag follows.
void seeded_tag(const Entry& entry) {
  if (entry.model.find_tag(kSeededTag) == nullptr || entry.op.has_tag(kSeededTag)) return;
  const Randomness random = randomness(entry.schema());
  const auto report = [&](const schema::Span& span, const std::string& what) {
    entry.sink.error(entry.op.at(span), what + " needs the tag `" + std::string(kSeededTag) + "`");
  };
  if (random.generator != nullptr) {
    report(random.generator->span, "an operator that takes a Generator");
  } else if (random.by_name) {
    report(entry.schema().name_span,
           "`" + entry.schema().full_name() + "` is random by its name and");
  }
}

}  // namespace tenon::codegen::rules
