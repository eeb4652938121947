#pragma once

#include <string_view>
#include <vector>

#include "codegen/yaml/file_kind.h"

namespace tenon::codegen {

/// What the value of a key looks like.
enum class ValueForm : uint8_t {
  kSchema,     // a schema; in derivatives.yaml also a bare operator name
  kFunction,   // name(a, b)
  kComposite,  // implicit, explicit, or an expression
  kText,       // free text
  kName,       // one name
  kFlag,       // True or False
  kNames,      // names, "a, b" or [a, b]
  kVariants,   // names out of variant_words()
  kTags,       // names of tags.yaml
  kWord,       // one of KeyInfo::words
  kDispatch,   // map of dispatch keys to kernels, or names of such keys
  kBackends,   // True or False, or names of dispatch keys
  kDtypes,     // names of categories of dtypes
  kPointwise,  // an expression, or a map of cases to such
  kRowwise,    // an expression, or a map of names to such
  kOver,       // a name, a whole number or a list of such
  kTexts,      // list of texts
  kLoops,      // text, or a map to texts
  kOutputs,    // list of True and False
  kFormulas,   // map of autograd keys to maps of formulas
};

/// One key of an entry: its form, and one sentence for editors and documentation.
struct KeyInfo {
  std::string_view name;
  ValueForm form;
  std::string_view description;
  const std::vector<std::string>* words = nullptr;  // for kWord
  bool required = false;
};

/// The keys of an entry, or of a backend's file, in the order in which `tenonc fmt` writes them.
const std::vector<KeyInfo>& entry_keys(FileKind kind);

/// Null when entries of such files have no such key.
const KeyInfo* find_key(FileKind kind, std::string_view name);

}  // namespace tenon::codegen
