#include "codegen/emit/emit_dispatch.h"

#include <algorithm>

#include "codegen/emit/emit_rowwise.h"
#include "codegen/meaning/cpp_names.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/pointwise_kernel.h"

namespace tenon::codegen {
namespace {

using ir::ThunkKind;
using schema::SchemaKind;
using Slots = std::vector<std::string>;

const Slots kEverywhere = {"None", "CPU", "CUDA", "Meta", "PrivateUse1"};
const Slots kWithTensors = {"CPU", "CUDA", "Meta"};

class Thunks {
 public:
  explicit Thunks(std::string ident) : ident_(std::move(ident)) {}

  /// A thunk of the given kind for some backends; the caller says what its kind needs.
  ir::Thunk& add(ThunkKind kind, const std::string& suffix, const Slots& slots) {
    ir::Thunk thunk;
    thunk.symbol = ident_ + "_" + suffix;
    thunk.kind = kind;
    for (const std::string& slot : slots) set(slot, thunk.symbol);
    return result_.thunks.emplace_back(std::move(thunk));
  }

  ir::Dispatch take() && { return std::move(result_); }

 private:
  void set(const std::string& slot, const std::string& symbol) {
    auto& table = result_.table;
    const auto known = std::find_if(table.begin(), table.end(),
                                    [&](const auto& entry) { return entry.first == slot; });
    if (known == table.end()) {
      table.emplace_back(slot, symbol);
    } else {
      known->second = symbol;
    }
  }

  std::string ident_;
  ir::Dispatch result_;
};

void structured(Thunks& thunks, const Operator& op, const Targets& targets) {
  const auto add = [&](const std::string& key, const std::string& kernel) {
    ir::Thunk& thunk = thunks.add(ThunkKind::kStructured, key, {key});
    thunk.kernel = kernel;
    thunk.meta = meta_name(op);
  };
  for (const DispatchEntry& entry : op.dispatch) {
    if (is_target(entry.key, targets)) add(entry.key, entry.kernel);
  }
  add("Meta", "");
}

/// Whether the only result is a tensor of its own, which a kernel that works below the autograd
/// layer may nevertheless give as a view of a temporary.
bool owns_result(const Operator& op) {
  return op.schema.kind() == SchemaKind::kFunctional && !op.schema.is_view() &&
         op.schema.returns.size() == 1 && op.schema.returns[0].type.is_tensor();
}

/// The hand-written functions of the entry's own schema.
void direct(Thunks& thunks, const Operator& op, const Targets& targets) {
  if (op.composition || op.is_composite()) {
    const ThunkKind kind = op.is_foreach()  ? ThunkKind::kForeach
                           : op.composition ? ThunkKind::kComposition
                                            : ThunkKind::kDirect;
    ir::Thunk& thunk = thunks.add(kind, "composite", kEverywhere);
    if (!op.composition) thunk.kernel = composite_name(op);
    thunk.owns_result = owns_result(op) && !op.is_composite_implicit();
  }
  for (const DispatchEntry& entry : op.dispatch) {
    if (!is_target(entry.key, targets)) continue;
    ir::Thunk& thunk = thunks.add(ThunkKind::kDirect, entry.key, {entry.key});
    thunk.kernel = entry.kernel;
    thunk.owns_result = owns_result(op);
  }
}

/// Whether a factory's dtype and device need not be given.
bool may_lack_options(const schema::FunctionSchema& schema) {
  const std::optional<size_t> dtype = schema.tensor_options();
  return dtype && schema.args[*dtype].type.is_optional() &&
         schema.args[*dtype + 2].type.is_optional();
}

}  // namespace

ir::Dispatch emit_dispatch(const Model& model, size_t op_index, size_t form_index,
                           const Targets& targets) {
  const Operator& op = model.operators()[op_index];
  const VariantSchema& form = model.variants(op_index)[form_index];
  Thunks thunks(cpp_identifier(form.schema));
  const bool mixed = mixed_results(op).any();
  if (mixed && !form.derived) {
    thunks.add(ThunkKind::kPointwiseMixed, "pointwise", kWithTensors);
  } else if (op.pointwise && !mixed) {
    thunks.add(ThunkKind::kPointwise, "pointwise", kWithTensors);
  } else if (op.update) {
    thunks.add(ThunkKind::kUpdate, "pointwise", kWithTensors);
    thunks.add(ThunkKind::kUpdateComposed, "composed", {"PrivateUse1"});
  } else if (op.rowwise && !form.derived) {
    thunks.add(ThunkKind::kRowwise, "rowwise", kWithTensors);
    if (!is_made_of_itself(op))
      thunks.add(ThunkKind::kRowwiseComposed, "composed", {"PrivateUse1"});
  } else if (op.structured) {
    structured(thunks, op, targets);
  } else if (!form.derived) {
    direct(thunks, op, targets);
  } else if (const bool inplace = form.kind == SchemaKind::kInplace; inplace && op.is_foreach()) {
    thunks.add(ThunkKind::kForeach, "derived", kEverywhere);
  } else if (op.switched && !(inplace ? op.switched->inplace : op.switched->out).empty()) {
    thunks.add(ThunkKind::kComposition, "composite", kEverywhere);
  } else {
    ir::Thunk& thunk =
        thunks.add(inplace ? ThunkKind::kInplaceFromFunctional : ThunkKind::kOutFromFunctional,
                   "derived", kEverywhere);
    thunk.functional = cpp_identifier(op.schema);
    thunk.like_out = !inplace && may_lack_options(op.schema);
    thunk.any_shape = !inplace && op.has_tag(kSequenceTag);
  }
  return std::move(thunks).take();
}

}  // namespace tenon::codegen
