#pragma once

#include <string_view>

/// Lists the members of a struct once, in the struct:
///
///     struct Point {
///       int x = 0, y = 0;
///       TENON_FIELDS(x, y)
///     };
///
/// `point.fields(visit)` calls `visit("x", point.x)` and `visit("y", point.y)`: a member's name is
/// its key in documents.
#define TENON_FIELDS(...)                                                   \
  template <class Visit>                                                    \
  void fields(Visit&& visit) const {                                        \
    ::tenon::codegen::detail::each_field(#__VA_ARGS__, visit, __VA_ARGS__); \
  }

/// The same in a struct with a base that lists its own, which come first.
#define TENON_MORE_FIELDS(Base, ...)                                        \
  template <class Visit>                                                    \
  void fields(Visit&& visit) const {                                        \
    Base::fields(visit);                                                    \
    ::tenon::codegen::detail::each_field(#__VA_ARGS__, visit, __VA_ARGS__); \
  }

namespace tenon::codegen::detail {

/// `names` is "a, b, c": the spelling of the values' list.
template <class Visit, class... Values>
void each_field(std::string_view names, Visit& visit, const Values&... values) {
  const auto next = [&] {
    const size_t comma = names.find(',');
    const std::string_view name = names.substr(0, comma);
    names.remove_prefix(comma == names.npos ? names.size()
                                            : names.find_first_not_of(' ', comma + 1));
    return name;
  };
  (visit(next(), values), ...);
}

}  // namespace tenon::codegen::detail
