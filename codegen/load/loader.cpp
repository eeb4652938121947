#include "codegen/load/loader.h"

#include <algorithm>
#include <set>

#include "codegen/load/loaders.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/plain_functions.h"
#include "codegen/yaml/yaml.h"

namespace tenon::codegen {

namespace {

// The list of entries that a file holds, or null for none; an empty file is an empty list.
YamlPtr read_list(const SourceFile& file, DiagnosticSink& sink, Model::Parts& parts) {
  parts.files.push_back(file.path());
  YamlPtr root = parse_yaml(file, sink);
  if (root != nullptr && root->kind == YamlNode::Kind::kNull) return nullptr;
  if (root != nullptr && root->is_sequence()) return root;
  parts.complete = false;
  if (root != nullptr) {
    const RuleScope scope(sink, "value_form");
    sink.error(root->location, "the file must be a list of entries, got " +
                                   std::string(root->describe()) + ": begin each entry with `- `");
  }
  return nullptr;
}

Model load(const Sources& sources, Dialect dialect, bool complete, DiagnosticSink& sink,
           const Model* base, const std::vector<std::string>& fused_dtypes) {
  Model::Parts parts;
  parts.dialect = dialect;
  parts.complete = complete;
  parts.sources = sink.shared_sources();
  if (sources.tags != nullptr) {
    if (YamlPtr root = read_list(*sources.tags, sink, parts)) {
      detail::load_tags(*root, sink, parts.tags);
    }
  }
  for (const SourceFile* file : sources.native) {
    if (YamlPtr root = read_list(*file, sink, parts)) {
      detail::load_operators(*root, dialect, sink, parts.operators, parts.unread, parts.broken,
                             parts.definitions);
    }
  }
  for (Operator& op : parts.operators) {
    // Methods of Tensor are those of the library that is added to.
    op.has_methods = base == nullptr;
    if (!op.has_methods && !op.has_key("variants")) op.variants.method = false;
  }
  if (dialect == Dialect::kTenon) detail::resolve_switches(parts.operators, sink);
  detail::resolve_aliases(parts.operators);
  detail::find_work(parts.operators);
  static const expr::Functions none;
  const auto all_functions = [&] {
    return std::make_shared<const expr::Functions>(detail::functions_of(
        parts.definitions, parts.operators, base != nullptr ? base->functions() : none));
  };
  // The tree's own compositions call kernels that are written for them.
  if (dialect == Dialect::kTenon && base != nullptr)
    detail::fuse_compositions(parts.operators, base->operators(), all_functions(), fused_dtypes);
  if (dialect == Dialect::kTenon) {
    detail::derive_functional_forms(parts.operators);
    detail::derive_view_copies(parts.operators);
    detail::derive_batched_forms(parts.operators);
  }
  parts.functions = all_functions();
  const auto plain = std::make_shared<PlainFunctions>();
  add_plain_functions(parts.operators, *plain);
  if (base != nullptr) add_plain_functions(base->operators(), *plain);
  for (Operator& op : parts.operators) {
    op.functions = parts.functions;
    if (dialect == Dialect::kTenon) op.plain_functions = plain;
  }
  const auto is_seeded = [](const Tag& tag) { return tag.name.text == kSeededTag; };
  const bool knows_seeded =
      parts.tags.empty() || std::any_of(parts.tags.begin(), parts.tags.end(), is_seeded);
  if (dialect == Dialect::kTenon && knows_seeded) {
    for (Operator& op : parts.operators) {
      if (op.is<AliasOf>() || op.has_tag(kSeededTag)) continue;
      if (randomness(op.schema) || draws_random_numbers(op))
        op.tags.push_back({std::string(kSeededTag), op.location});
    }
  }
  for (const SourceFile* file : sources.derivatives) {
    if (YamlPtr root = read_list(*file, sink, parts)) {
      detail::load_derivatives(*root, sink, base, parts);
    }
  }
  std::set<size_t> differentiated;
  std::set<std::string> choosing;
  // A composition with formulas of its own.
  for (const Derivative& derivative : parts.derivatives) {
    Operator& op = parts.operators[derivative.target];
    if (Composition* composition = op.composition()) composition->implicit = false;
    differentiated.insert(derivative.target);
    if (op.overload_set() != nullptr) choosing.insert(op.name());
  }
  for (size_t i = 0; i < parts.operators.size() && dialect == Dialect::kTenon; ++i) {
    Operator& op = parts.operators[i];
    if (!op.has_key("non_differentiable") && !op.is<AliasOf>() && !differentiated.contains(i)) {
      op.non_differentiable = has_no_gradient(op);
    }
    // What a formula differentiates as a whole needs no gradient of the expressions in it.
    const Pointwise* branch = op.as<Pointwise>();
    if (branch != nullptr && branch->branch_of && choosing.contains(*branch->branch_of))
      op.non_differentiable = true;
  }
  return Model(std::move(parts));
}

}  // namespace

Model load(const Sources& sources, Dialect dialect, DiagnosticSink& sink, const Model* base,
           const std::vector<std::string>& fused_dtypes) {
  return load(sources, dialect, true, sink, base, fused_dtypes);
}

Model load(const std::vector<std::string>& native_files,
           const std::vector<std::string>& derivative_files, const std::string& tags_file,
           Dialect dialect, DiagnosticSink& sink, const Model* base,
           const std::vector<std::string>& fused_dtypes) {
  Sources sources;
  bool complete = true;
  const auto open = [&](const std::string& path) {
    const SourceFile* file = sink.sources().open(path);
    if (file == nullptr) {
      const RuleScope scope(sink, "unreadable_file");
      sink.error({}, "cannot read `" + path + "`");
      complete = false;
    }
    return file;
  };
  if (!tags_file.empty()) sources.tags = open(tags_file);
  for (const std::string& path : native_files) {
    if (const SourceFile* file = open(path)) sources.native.push_back(file);
  }
  for (const std::string& path : derivative_files) {
    if (const SourceFile* file = open(path)) sources.derivatives.push_back(file);
  }
  return load(sources, dialect, complete, sink, base, fused_dtypes);
}

}  // namespace tenon::codegen
