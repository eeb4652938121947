#pragma once

#include <string_view>
#include <vector>

namespace tenon::codegen {

/// A kind of message: a stable name for editors and CI ("known_tag"), and what it rejects.
struct Rule {
  std::string_view id;
  std::string_view rejects;
};

/// Every rule that a message may cite, sorted by id: those of the loader, of codegen/check, of the
/// emitter and of check-kernels.
const std::vector<Rule>& all_rules();

}  // namespace tenon::codegen
