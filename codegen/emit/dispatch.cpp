#include "codegen/emit/dispatch.h"

#include "codegen/emit/cpp_types.h"
#include "codegen/emit/pointwise.h"
#include "codegen/model/defaults.h"

namespace tenon::codegen {
namespace {

using schema::SchemaKind;

constexpr const char* kEverywhere[] = {"None", "CPU", "CUDA", "Meta", "PrivateUse1"};
constexpr const char* kWithTensors[] = {"CPU", "CUDA", "Meta"};

std::string meta_name(const Operator& op) { return cpp_identifier(op.schema) + "_meta"; }

std::string composite_name(const Operator& op) {
  if (const DispatchEntry* entry = op.find_dispatch("CompositeExplicit")) return entry->kernel;
  if (const DispatchEntry* entry = op.find_dispatch("CompositeImplicit")) return entry->kernel;
  return kernel_name(op.schema, "Composite");
}

const char* form_kind(SchemaKind kind) {
  switch (kind) {
  case SchemaKind::kInplace: return "inplace";
  case SchemaKind::kOut: return "out";
  default: return "functional";
  }
}

class Thunks {
 public:
  explicit Thunks(std::string ident) : ident_(std::move(ident)) {}

  /// A thunk of the given kind for some backends.
  template <class Slots>
  void add(const std::string& kind, const std::string& suffix, const Slots& slots,
           Json extra = {}) {
    const std::string symbol = ident_ + "_" + suffix;
    Json thunk = {{"symbol", symbol}, {"kind", kind}};
    for (auto& [key, value] : extra.items()) thunk[key] = value;
    thunks_.push_back(thunk);
    for (const auto& slot : slots) table_[slot] = symbol;
  }

  Json take() && { return {{"thunks", std::move(thunks_)}, {"table", std::move(table_)}}; }

 private:
  std::string ident_;
  Json thunks_ = Json::array();
  Json table_ = Json::object();
};

bool wanted(const std::string& key, const Targets& targets) {
  if (key == "CUDA") return targets.cuda;
  return key == "CPU" || key == "Meta" || key == "PrivateUse1";
}

using Slots = std::vector<std::string>;

void structured(Thunks& thunks, const Operator& op, SchemaKind kind, const Targets& targets) {
  const std::string form = form_kind(kind);
  for (const DispatchEntry& entry : op.dispatch) {
    if (!wanted(entry.key, targets)) continue;
    thunks.add("structured", entry.key, Slots{entry.key},
               {{"form", form}, {"kernel", entry.kernel}, {"meta", meta_name(op)}});
  }
  thunks.add("structured", "Meta", Slots{"Meta"},
             {{"form", form}, {"kernel", nullptr}, {"meta", meta_name(op)}});
}

/// Whether the only result is a tensor of its own, which a kernel that works below the autograd
/// layer may nevertheless give as a view of a temporary.
bool owns_result(const Operator& op) {
  return op.schema.kind() == SchemaKind::kFunctional && !op.schema.is_view() &&
         op.schema.returns.size() == 1 && op.schema.returns[0].type.is_tensor();
}

/// The hand-written functions of the entry's own schema.
void direct(Thunks& thunks, const Operator& op, const Targets& targets) {
  if (op.composition) {
    thunks.add("composition", "composite", kEverywhere,
               {{"owns_result", owns_result(op) && !op.is_composite_implicit()}});
  } else if (op.is_composite()) {
    thunks.add("direct", "composite", kEverywhere,
               {{"kernel", composite_name(op)},
                {"owns_result", owns_result(op) && !op.is_composite_implicit()}});
  }
  for (const DispatchEntry& entry : op.dispatch) {
    if (wanted(entry.key, targets)) {
      thunks.add("direct", entry.key, Slots{entry.key},
                 {{"kernel", entry.kernel}, {"owns_result", owns_result(op)}});
    }
  }
}

}  // namespace

Json emit_dispatch(const Model& model, size_t op_index, size_t form_index, const Targets& targets) {
  const Operator& op = model.operators()[op_index];
  const auto& forms = model.variants(op_index);
  const VariantSchema& form = forms[form_index];
  Thunks thunks(cpp_identifier(form.schema));
  const bool mixed = mixed_results(op).any();
  if (mixed && !form.derived) {
    thunks.add("pointwise_mixed", "pointwise", kWithTensors);
  } else if (op.pointwise && !mixed) {
    thunks.add("pointwise", "pointwise", kWithTensors, {{"form", form_kind(form.kind)}});
  } else if (op.update) {
    thunks.add("update", "pointwise", kWithTensors);
    thunks.add("update_composed", "composed", Slots{"PrivateUse1"});
  } else if (op.rowwise && !form.derived) {
    thunks.add("rowwise", "rowwise", kWithTensors);
    thunks.add("rowwise_composed", "composed", Slots{"PrivateUse1"});
  } else if (op.structured) {
    structured(thunks, op, form.kind, targets);
  } else if (!form.derived) {
    direct(thunks, op, targets);
  } else {
    const std::string functional = cpp_identifier(op.schema);
    const bool inplace = form.kind == SchemaKind::kInplace;
    thunks.add(inplace ? "inplace_from_functional" : "out_from_functional", "derived", kEverywhere,
               {{"functional", functional}});
  }
  return std::move(thunks).take();
}

Json emit_kernel_declarations(const Operator& op, const Targets& targets) {
  Json declarations = Json::array();
  const auto add = [&](const std::string& name, const char* kind, const std::string& backend) {
    for (const Json& seen : declarations) {
      if (seen["name"] == name) return;
    }
    declarations.push_back({{"name", name}, {"kind", kind}, {"backend", backend}});
  };
  if (op.pointwise || op.update || op.rowwise) {
    if (op.check) add(op.check->text, "check", "Meta");
    return declarations;
  }
  if (op.structured) {
    add(meta_name(op), "meta", "Meta");
    const size_t n = op.schema.returns.size();
    declarations.back()["result"] =
        n == 1 ? "tenon::TensorSpec" : "std::array<tenon::TensorSpec, " + std::to_string(n) + ">";
    for (const DispatchEntry& entry : op.dispatch) {
      if (!wanted(entry.key, targets)) continue;
      add(entry.kernel, "structured", entry.key);
      declarations.back()["outputs"] = output_names(op.schema);
    }
    return declarations;
  }
  if (op.is_composite() && !op.composition) add(composite_name(op), "function", "composite");
  for (const DispatchEntry& entry : op.dispatch) {
    if (wanted(entry.key, targets)) add(entry.kernel, "function", entry.key);
  }
  return declarations;
}

}  // namespace tenon::codegen
