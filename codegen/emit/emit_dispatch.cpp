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

const Slots kEverywhere = {"None",        "CPU",       "CUDA",        "Meta",
                           "PrivateUse1", "SparseCPU", "SparseCsrCPU"};
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

/// Whether it makes a tensor of the options or in the memory format asked for: `zeros_like`,
/// `clone`.
bool is_factory(const schema::FunctionSchema& schema) {
  if (schema.kind() != SchemaKind::kFunctional) return false;
  return schema.tensor_options() ||
         std::any_of(schema.args.begin(), schema.args.end(), [](const auto& argument) {
           return argument.type.without_optional().is(schema::BaseType::kMemoryFormat);
         });
}

/// Whether a composite takes tensors with a conjugate or negative bit as they are: what is made of
/// operators, views, and factories, which call operators that read elements. A function in C++ may
/// read memory itself and gets copies.
bool takes_unresolved(const Operator& op, ThunkKind kind) {
  return op.is_view() || op.is_composite_implicit() || kind == ThunkKind::kComposition ||
         (kind == ThunkKind::kDirect && is_factory(op.schema));
}

/// A composition or a function in C++, for every backend but those that `dispatch` names.
ir::Thunk& composite(Thunks& thunks, const Operator& op, ThunkKind kind) {
  Slots slots = kEverywhere;
  if (takes_unresolved(op, kind)) slots.push_back("Unresolved");
  ir::Thunk& thunk = thunks.add(kind, "composite", slots);
  thunk.owns_result = owns_result(op) && !op.is_composite_implicit();
  return thunk;
}

/// The hand-written functions of the entry's own schema that `dispatch` names.
void kernels(Thunks& thunks, const Operator& op, const Targets& targets) {
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

/// The thunks of one form of an operator, by how the operator is computed.
class FormThunks {
 public:
  FormThunks(const Operator& op, const VariantSchema& form, const Targets& targets)
      : op_(op), form_(form), targets_(targets), thunks_(cpp_identifier(form.schema)) {}

  ir::Dispatch emit() && {
    std::visit([&](const auto& kind) { add(kind); }, op_.computation);
    return std::move(thunks_).take();
  }

 private:
  void add(const Pointwise&) {
    if (!mixed_results(op_).any()) {
      thunks_.add(ThunkKind::kPointwise, "pointwise", kWithTensors);
    } else if (!form_.derived) {
      thunks_.add(ThunkKind::kPointwiseMixed, "pointwise", kWithTensors);
    } else {
      from_functional();
    }
  }

  void add(const Update&) {
    thunks_.add(ThunkKind::kUpdate, "pointwise", kWithTensors);
    thunks_.add(ThunkKind::kUpdateComposed, "composed", {"PrivateUse1"});
  }

  void add(const Rowwise&) {
    if (form_.derived) return from_functional();
    thunks_.add(ThunkKind::kRowwise, "rowwise", kWithTensors);
    if (!is_made_of_itself(op_))
      thunks_.add(ThunkKind::kRowwiseComposed, "composed", {"PrivateUse1"});
  }

  void add(const Structured&) { structured(thunks_, op_, targets_); }

  void add(const Composition& composition) {
    const std::optional<OverloadSet>& set = composition.overload_set;
    const bool inplace = form_.kind == SchemaKind::kInplace;
    if (!form_.derived) {
      composite(thunks_, op_, ThunkKind::kComposition);
      kernels(thunks_, op_, targets_);
    } else if (set && !(inplace ? set->inplace : set->out).empty()) {
      thunks_.add(ThunkKind::kComposition, "composite", kEverywhere);
    } else {
      from_functional();
    }
  }

  void add(const Foreach&) {
    if (!form_.derived) {
      composite(thunks_, op_, ThunkKind::kForeach);
      kernels(thunks_, op_, targets_);
    } else if (form_.kind == SchemaKind::kInplace) {
      thunks_.add(ThunkKind::kForeach, "derived", kEverywhere);
    } else {
      from_functional();
    }
  }

  /// A function in C++, or kernels by hand.
  template <typename Kind>
  void add(const Kind&) {
    if (form_.derived) return from_functional();
    if (op_.is_composite())
      composite(thunks_, op_, ThunkKind::kDirect).kernel = composite_name(op_);
    kernels(thunks_, op_, targets_);
  }

  void from_functional() {
    const bool inplace = form_.kind == SchemaKind::kInplace;
    ir::Thunk& thunk =
        thunks_.add(inplace ? ThunkKind::kInplaceFromFunctional : ThunkKind::kOutFromFunctional,
                    "derived", kEverywhere);
    thunk.functional = cpp_identifier(op_.schema);
    thunk.like_out = !inplace && may_lack_options(op_.schema);
    thunk.any_shape = !inplace && op_.has_tag(kSequenceTag);
  }

  const Operator& op_;
  const VariantSchema& form_;
  const Targets& targets_;
  Thunks thunks_;
};

}  // namespace

ir::Dispatch emit_dispatch(const Model& model, size_t op_index, size_t form_index,
                           const Targets& targets) {
  return FormThunks(model.operators()[op_index], model.variants(op_index)[form_index], targets)
      .emit();
}

}  // namespace tenon::codegen
