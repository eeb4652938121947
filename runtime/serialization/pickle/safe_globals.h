#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/serialization/load.h"

namespace tenon::serialization {

/// What add_safe_globals() has allowed so far.
std::shared_ptr<const std::map<std::string, SafeGlobal>> registered_globals();
/// Whether a module is one whose functions are never allowed.
bool is_blocked(const std::string& module);

}  // namespace tenon::serialization
