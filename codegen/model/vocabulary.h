#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/model/operator.h"
#include "codegen/yaml/words.h"

namespace tenon::codegen {

/// The closed lists of words that YAML files may use. Each is in the order in which messages name
/// them; the nearest one is suggested for a word that is not in its list.

/// Keys of an entry of native_functions.yaml: upstream's, and in our dialect also ours.
const std::vector<std::string>& operator_keys(Dialect dialect);
/// Keys of `dispatch`.
const std::vector<std::string>& dispatch_keys(Dialect dialect);
/// Keys of `dispatch` in derivatives.yaml.
const std::vector<std::string>& autograd_keys();
const std::vector<std::string>& python_modules();
const std::vector<std::string>& category_overrides();
/// Words of `variants`.
const std::vector<std::string>& variant_words(Dialect dialect);
/// Words of `promote`, in the order of Promotion.
const std::vector<std::string>& promotions();
/// Selectors of `pointwise`.
const std::vector<std::string>& pointwise_categories();
const std::vector<std::string>& pointwise_backends();
/// Backends that a library outside the tree may have kernels for.
const std::vector<std::string>& external_backends();

}  // namespace tenon::codegen
