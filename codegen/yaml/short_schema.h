#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/yaml/diagnostic.h"
#include "codegen/yaml/source_file.h"

// What schemas may say at once that PyTorch's say several times:
//
//     mul.Tensor|Scalar(Tensor self, Tensor|Scalar other) -> Tensor     two operators
//     zeros(SymInt[] size, *, TensorOptions) -> Tensor                  dtype, layout and so on
//     randint(SymInt high, SymInt[] size, *, TensorOptions(dtype=long)) -> Tensor

namespace tenon::codegen {

/// The schemas that a text stands for, each with its places: one for each of the alternatives `a|b`
/// of overload and arguments, of which all have as many; `|` in an annotation is none. Alternatives
/// that do not go together are reported, and there is no schema.
std::vector<SourceString> alternatives(const SourceString& schema, DiagnosticSink& sink);

/// Part `index` of "a|b", maybe empty; the text where it has no `|`. Nothing, and an error, where
/// it has another number of parts than the schema's `count`.
std::optional<SourceString> alternative(const SourceString& text, size_t index, size_t count,
                                        std::string_view what, DiagnosticSink& sink);

/// With `TensorOptions` written out.
SourceString with_tensor_options(const SourceString& schema);

/// The inverse of these, for schemas as the printer has them: one text for all, or nothing where
/// they differ by more than overload and `Tensor` or `Scalar`.
std::optional<std::string> join_alternatives(const std::vector<std::string>& schemas);
std::string fold_tensor_options(const std::string& schema);

/// The short schema in its one spelling; `schema` itself where it is none.
std::string canonical_schema(const std::string& schema);

}  // namespace tenon::codegen
