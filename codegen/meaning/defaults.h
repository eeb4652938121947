#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/model/operator.h"

// What an entry in Tenon's spelling leaves unsaid, because it follows from the rest of it. An entry
// in PyTorch's spelling means what it means there.

namespace tenon::codegen {

/// The kernel of `key` where `structured` or `dispatch` names backends alone: `mm_cpu`,
/// `sum_dim_IntList_cuda`, `copy_cpu_` of an in-place schema; for all backends (`Composite...`) no
/// backend is in it.
std::string kernel_name(const schema::FunctionSchema& schema, std::string_view key);

/// The forms of an entry without `variants`. A private operator (its name begins with `_` or ends
/// with `_backward`), one of a namespace, one that writes and one in PyTorch's spelling are a
/// function. Others are a function; with a Tensor `self` a method; where a kernel writes into given
/// tensors (`pointwise`, `structured`) they have an out form, and `pointwise` ones of `self` an
/// in-place form. In a `python_module` there are neither methods nor in-place forms.
VariantSet default_variants(const Operator& op);

/// The Python module that the name of an operator that is not private begins with: special, linalg
/// or fft; else empty.
std::string_view module_of(const schema::FunctionSchema& schema);

/// Takes a Generator, or is random by its name: such operators have the tag
/// `nondeterministic_seeded`.
struct Randomness {
  const schema::Argument* generator = nullptr;
  bool by_name = false;

  explicit operator bool() const { return generator != nullptr || by_name; }
};
Randomness randomness(const schema::FunctionSchema& schema);
inline constexpr std::string_view kSeededTag = "nondeterministic_seeded";
/// Of what generated thunks, nodes and wrappers call besides their formulas.
inline constexpr std::string_view kGeneratedCallsTag = "called_by_generated_code";
/// Of ranges: an `out` of as many elements keeps its shape.
inline constexpr std::string_view kSequenceTag = "sequence";
/// Of `pointwise` entries that compute with these storage-only dtypes too.
inline constexpr std::string_view kComplex32Tag = "complex32";
inline constexpr std::string_view kUnsignedTag = "unsigned_integers";

/// The categories of dtypes that `pointwise` computes: those that it has expressions for, whose
/// functions all serve them. Needs the entry's functions.
std::vector<std::string> served_dtypes(const Operator& op);

/// There is nothing to differentiate: no tensor among arguments or results, or results of
/// `pointwise` that are all Bool or integers. Needs the entry's functions.
bool has_no_gradient(const Operator& op);

}  // namespace tenon::codegen
