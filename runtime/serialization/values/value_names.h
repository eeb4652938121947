#pragma once

#include <functional>
#include <string>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// What of a value a walk enters, combined by |.
enum Into : unsigned { kNothing = 0, kItems = 1, kArguments = 2, kAttributes = 4 };

/// Which visits of an object that occurs several times enter it.
enum class Repeats { First, All };

/// Calls f(name, value) for `root` and for all below it that f's answers say to enter, in the order
/// of writing. A name is the keys and indices on the way, with dots between: "model.0.weight". An
/// object is never entered within itself. Names and visits are paid for by `budget`.
TENON_API void walk_names(const Value& root, Repeats repeats, Budget& budget,
                          const std::function<unsigned(const std::string&, const Value&)>& f);

}  // namespace tenon::serialization
