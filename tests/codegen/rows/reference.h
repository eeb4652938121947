#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/codegen/rows/random_entry.h"

namespace tenon::codegen::rows {

/// Operands of one row: a value per element, or one where the domain is smaller.
using RowValues = std::map<std::string, std::vector<double>>;

/// A value and its derivative along one direction.
struct Dual {
  double value = 0, slope = 0;
};

struct Reference {
  std::vector<std::vector<Dual>> results;  ///< of one element for a value of the row
  /// The largest value, slope or factor of a slope on the way: what rounding errors are measured
  /// by. Infinite or NaN where one of them is.
  double largest = 0;
  bool empty_maximum = false;  ///< `max` or `min` of a row without elements
};

/// The entry on a row of `length` elements, by definitions of its own: numbers with their slopes,
/// function by function, with nothing simplified and nothing swept. `slopes`: the direction; 0
/// where it has no entry.
Reference evaluate(const RandomEntry& entry, size_t length, const RowValues& values,
                   const RowValues& slopes);

}  // namespace tenon::codegen::rows
