#pragma once

#include <map>
#include <string>

#include "runtime/serialization/inspect.h"

namespace tenon::serialization {

/// A storage that a checkpoint holds: what the file says of it, and where it went.
struct StoredStorage {
  StorageInfo info;  ///< all but the names of tensors
  Storage storage;
  std::map<std::string, Storage> views{};  ///< parts of it, which the oldest legacy files name
};

}  // namespace tenon::serialization
