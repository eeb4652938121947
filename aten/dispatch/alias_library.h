#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/core/macros.h"

namespace tenon {

struct OperatorEntry;

/// Another name of an operator, as "aten::absolute" is of "aten::abs". Only calls by name know it:
/// what find_operator() gives is the operator itself.
struct OperatorAlias {
  const char* name;      ///< "aten::absolute"
  const char* overload;  ///< "" for the only or plain one
  OperatorEntry* op;
};

/// Makes a library's aliases known. One static object for a table, which is constant. A name that
/// is an operator's stays that.
class TENON_API AliasLibrary {
 public:
  AliasLibrary(const OperatorAlias* table, size_t count);
  ~AliasLibrary();
  AliasLibrary(const AliasLibrary&) = delete;
  AliasLibrary& operator=(const AliasLibrary&) = delete;

 private:
  const OperatorAlias* table_;
  size_t count_;
};

/// All overloads of "aten::max", those that are aliases of other operators included.
TENON_API std::vector<OperatorEntry*> operators_named(std::string_view name);

/// Every alias's name, "aten::absolute", with what it is an alias of.
TENON_API std::vector<std::pair<std::string, OperatorEntry*>> all_aliases();

}  // namespace tenon
