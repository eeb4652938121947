#include "aten/iterator/zero_division.h"

#include <utility>

#include "aten/core/error.h"

namespace tenon::native {

static thread_local bool divided_by_zero = false;

void note_zero_division() { divided_by_zero = true; }

bool take_zero_division() { return std::exchange(divided_by_zero, false); }

void raise_zero_division(const char* op) {
  tenon::detail::raise<ZeroDivisionError>("[", op, "] integer division by zero: ZeroDivisionError");
}

}  // namespace tenon::native
