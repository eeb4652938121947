#include "runtime/nn/any_module.h"

namespace tenon::nn::detail {

void complete_arguments(const Module& module, std::vector<AnyValue>& arguments, size_t parameters) {
  const size_t given = arguments.size();
  const std::vector<ForwardDefault> defaults = module.forward_defaults();
  if (defaults.empty()) {
    TENON_CHECK(given >= parameters, module.name(), "'s forward() method expects ", parameters,
                " argument(s), but received ", given, ". If ", module.name(),
                "'s forward() method has default arguments, please make sure the forward() method "
                "is declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.");
    TENON_CHECK(given == parameters, module.name(), "'s forward() method expects ", parameters,
                " argument(s), but received ", given, ".");
    return;
  }
  size_t required = parameters;
  for (const ForwardDefault& one : defaults) required = std::min<size_t>(required, one.first);
  TENON_CHECK(given >= required && given <= parameters, module.name(),
              "'s forward() method expects at least ", required, " argument(s) and at most ",
              parameters, " argument(s), but received ", given, ".");
  for (size_t i = given; i < parameters; ++i) {
    for (const ForwardDefault& one : defaults) {
      if (one.first == i) arguments.push_back(one.second);
    }
  }
}

}  // namespace tenon::nn::detail
