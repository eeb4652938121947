#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// Who no longer works after a change.
struct Breaks {
  bool callers = false;     // source code that calls the operator, C++ or Python
  bool serialized = false;  // programs that were saved with the operator's name and schema

  bool any() const { return callers || serialized; }
};
inline constexpr Breaks kCompatible = {};
inline constexpr Breaks kBreaksCallers = {.callers = true};
inline constexpr Breaks kBreaksSerialized = {.serialized = true};
inline constexpr Breaks kBreaksBoth = {.callers = true, .serialized = true};

/// One difference between two versions of an operator.
struct Change {
  std::string_view kind;  // stable name, "removed-argument"
  Breaks breaks;
  std::string op;  // qualified name: the old one, the new one of an addition
  std::string message;
  Location location;  // of the new entry; of the old one where it is gone
};

/// Collects the changes of one operator.
class ChangeList {
 public:
  explicit ChangeList(std::vector<Change>& changes) : changes_(changes) {}

  /// The operator that add() is about.
  void about(std::string op, Location location) {
    op_ = std::move(op);
    location_ = location;
  }
  void add(std::string_view kind, Breaks breaks, std::string message) {
    changes_.push_back({kind, breaks, op_, std::move(message), location_});
  }

 private:
  std::vector<Change>& changes_;
  std::string op_;
  Location location_;
};

}  // namespace tenon::codegen
