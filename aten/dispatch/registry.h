#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "aten/dispatch/alias_library.h"
#include "aten/dispatch/kernel.h"
#include "aten/dispatch/trace_operators.h"
#include "codegen/schema/function_schema.h"

/// Everything known about operators at run time besides their tables. For the files of this folder
/// that implement registration; others use operator_entry.h and registration.h.
namespace tenon::detail {

/// A kernel or fallback with where it comes from.
struct Registration {
  uint64_t id;
  DispatchKey key;
  Kernel kernel;
  std::string place;  ///< "file.cpp:12"
  /// Of a layer's fallback: the operators that it is for; null: all.
  bool (*serves)(const OperatorEntry& op) = nullptr;
};

/// An operator that was defined at run time, with the texts that its entry points to.
struct RuntimeOperator {
  std::string name, overload, schema, place;
  OperatorInfo info;
  TypedOperatorEntry<AnyFunction> entry;
};

/// What has been registered for an operator; made when first needed.
struct OperatorRecord {
  OperatorEntry* entry = nullptr;
  std::shared_ptr<const schema::FunctionSchema> schema;
  std::vector<Registration> kernels;
  /// The table as it was generated, empty for an operator that was defined at run time.
  AnyFunction original[OperatorEntry::kNumKernels] = {};
  uint64_t original_layers = 0;
  bool trapped = false;  ///< the table is empty until the first call, which is to be traced
  std::unique_ptr<RuntimeOperator> runtime;

  const Registration* find(DispatchKey key) const;
  /// The kernel registered for the slot, null if there is none or the generated one serves.
  const Registration* backend_kernel(int slot) const;
  /// The kernel of a layer that is not the generated one; empty if there is none.
  Kernel layer_kernel(DispatchLayer layer) const;
  bool has_generated_layer(DispatchLayer layer) const;
  /// Writes what is registered into the table.
  void update_table();
};

/// What a loaded library (detail::library_of) has made known, whether or not its names are others'.
struct OperatorTable {
  OperatorEntry* const* operators;
  size_t count;
  const void* library;
};
struct AliasTable {
  const OperatorAlias* aliases;
  size_t count;
  const void* library;
};

struct Registry {
  std::shared_mutex mutex;
  std::map<std::pair<std::string, std::string>, OperatorEntry*, std::less<>> by_name;
  std::map<std::pair<std::string, std::string>, OperatorEntry*, std::less<>> aliases;
  std::vector<OperatorTable> tables;
  std::vector<AliasTable> alias_tables;
  std::unordered_map<const OperatorEntry*, OperatorRecord> records;
  /// Operators that are no more: calls through a pointer that was kept are errors, not crashes.
  std::vector<std::unique_ptr<RuntimeOperator>> removed;
  std::map<DispatchKey, Registration> fallbacks;
  std::map<std::string, std::string> namespaces;  ///< owned ones, and where their library is
  std::shared_ptr<const BoxedKernel> autograd_of_runtime_operators;
  std::unique_ptr<OperatorTrace> trace;
  uint64_t next_id = 1;

  Registry();
  OperatorRecord& record(OperatorEntry& op);
  const Registration* fallback(DispatchKey key) const;
  bool has_layer_fallback() const;
};

Registry& registry();

/// Whether this thread loads a library whose operators take the names of others (load_library.h).
extern thread_local bool replacing_operators;

}  // namespace tenon::detail
