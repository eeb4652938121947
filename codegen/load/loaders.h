#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/model/model.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen::detail {

/// Names of entries that were reported and left out, so that what refers to them is not reported
/// as well.
using BrokenNames = std::set<std::string>;

/// Appends the entries of one native_functions.yaml; to `unread` those whose schema has mistakes.
void load_operators(const YamlNode& root, Dialect dialect, DiagnosticSink& sink,
                    std::vector<Operator>& operators, std::vector<Operator>& unread,
                    BrokenNames& broken, std::vector<Definition>& definitions);

/// Finds the operators that do the work of another one: `_softmax`, where there is `softmax`.
void find_work(std::vector<Operator>& operators);

/// Gives aliases what their operators have: forms, out name, tags.
void resolve_aliases(std::vector<Operator>& operators);

/// Takes `pointwise` entries apart whose texts (`str`) or absent arguments choose the expression:
/// each expression becomes an operator of its own, `_gelu_tanh` of `gelu`, unless it is a call of
/// one that there is, and the entry a composition that chooses. Finds the words of compositions.
void resolve_switches(std::vector<Operator>& operators, DiagnosticSink& sink);

/// Finds the parts of compositions that one kernel can compute: elements and rows. A part becomes
/// a hidden operator, `_block_fused` of `block`, which the composition calls if shapes and dtypes
/// allow it. Not of entries with `fuse: False`. `dtypes`: those that the kernels are for, "Float";
/// empty: all floating ones.
void fuse_compositions(std::vector<Operator>& operators, const std::vector<Operator>& base,
                       const std::shared_ptr<const expr::Functions>& functions,
                       const std::vector<std::string>& dtypes);

/// A default as a literal of expressions; nothing for one that is none.
std::optional<std::string> literal_of(const schema::Argument& argument);

/// What expressions call the operator as; nothing where they cannot.
std::optional<expr::Function> function_of(const Operator& op);

/// Appends the form that copies of each view, `view_copy` of `view`: the same values in contiguous
/// memory of their own. Not of what composes views, nor where an entry has the name.
void derive_view_copies(std::vector<Operator>& operators);

/// Appends a composition for each `batched` that calls other operators, `_sort_rows_batched`.
void derive_batched_forms(std::vector<Operator>& operators);

/// Appends the functional form of each operator that writes to tensors, where its `autogen` names
/// that or its out form: it computes on copies of what is written and returns them. Not where an
/// entry has the name, nor of views, of what is made of other operators, and of what writes to
/// lists or to tensors that may be absent.
void derive_functional_forms(std::vector<Operator>& operators);

/// What expressions may call: definitions, pointwise operators and their aliases, then `base`.
expr::Functions functions_of(const std::vector<Definition>& definitions,
                             const std::vector<Operator>& operators, const expr::Functions& base);

/// `pointwise: ...` of an operator with this schema.
std::optional<Pointwise> read_pointwise(const YamlNode& value, Reader& reader,
                                        const schema::FunctionSchema& schema);

/// The category of dtypes that is meant by a word that is none; maybe "".
std::string nearest_category(const std::string& word);

/// The value of `key`: an expression, or a map of names to expressions.
void read_named(const YamlNode& value, Reader& reader, const std::string& key,
                NamedExpressions& spec);

/// Appends the entries of one derivatives.yaml, bound to the operators of `parts`. Those of `base`
/// have theirs already.
void load_derivatives(const YamlNode& root, DiagnosticSink& sink, const Model* base,
                      Model::Parts& parts);

/// Appends the tags of tags.yaml.
void load_tags(const YamlNode& root, DiagnosticSink& sink, std::vector<Tag>& tags);

}  // namespace tenon::codegen::detail
