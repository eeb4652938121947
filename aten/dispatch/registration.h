#pragma once

#include "aten/dispatch/kernel.h"
#include "codegen/schema/function_schema.h"

/// Registration by name at run time, without C++ types: what Library (aten/registration/library.h)
/// is made of. All functions may be called from any thread at any time. `place` says where the
/// request comes from, for messages.
namespace tenon {

/// The operator's parsed schema.
TENON_API std::shared_ptr<const schema::FunctionSchema> schema_of(const OperatorEntry& op);

/// Calls the operator for the given keys alone: what a boxed kernel of a layer does to go on, with
/// `keys.backend_only()` or with one layer removed.
TENON_API void redispatch_boxed(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

namespace detail {

/// The keys that the arguments of a boxed call ask for.
TENON_API DispatchKeySet keys_of(const schema::FunctionSchema& schema, const Stack& stack);

/// Where a typed call ends that found no kernel of its type: runs the boxed kernel or fallback for
/// the keys. NotImplementedError "Could not run 'aten::mm' with arguments from the 'CUDA' backend.
/// ..." if there is none.
TENON_API void run_boxed_kernel(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

/// Claims a namespace, so that no other library defines it. ValueError if it is taken.
TENON_API void claim_namespace(const std::string& ns, const std::string& place);
TENON_API void release_namespace(const std::string& ns);

/// Makes an operator known. ValueError if its name and overload are taken.
TENON_API OperatorEntry& define_operator(schema::FunctionSchema schema, const std::string& place);
TENON_API void remove_operator(OperatorEntry& op);

/// Registers a kernel; the result names it for remove_kernel(). ValueError if the key is taken;
/// TypeError, naming operator, argument and both types, if the signature is not the schema's.
TENON_API uint64_t add_kernel(OperatorEntry& op, DispatchKey key, Kernel kernel,
                              const std::string& place);
/// Nothing if the operator is gone already.
TENON_API void remove_kernel(const OperatorEntry& op, uint64_t id);

/// Registers what runs where an operator has no kernel for the key: a backend, or a layer but
/// Autograd; a layer's for those operators alone for which `serves` holds.
/// ValueError for other keys, or if the key has a fallback.
TENON_API void add_fallback(DispatchKey key, BoxedKernel kernel, const std::string& place,
                            bool (*serves)(const OperatorEntry&) = nullptr);
TENON_API void remove_fallback(DispatchKey key);

/// What operators that were defined at run time do in the autograd layer, unless they have a kernel
/// for it or only a CompositeImplicit one; set by the autograd library.
TENON_API void set_autograd_of_runtime_operators(BoxedKernel kernel);
/// Whether a call with these keys ends in a CompositeImplicit kernel registered at run time.
TENON_API bool runs_composite_implicit(const OperatorEntry& op, DispatchKeySet keys);

}  // namespace detail
}  // namespace tenon
