#pragma once

#include <string>
#include <string_view>

namespace tenon::hub {

/// "owner/name" or "owner/name:ref".
struct RepositoryName {
  std::string owner;
  std::string name;
  std::string ref;  ///< empty: the default branch

  /// ValueError if it is something else. Owners are letters, digits and hyphens, so that
  /// "owner_name" stands for one repository alone.
  static RepositoryName parse(std::string_view text);

  std::string without_ref() const { return owner + "/" + name; }
};

}  // namespace tenon::hub
