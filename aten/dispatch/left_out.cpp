#include "aten/dispatch/left_out.h"

#include "aten/core/error.h"

namespace tenon::detail {

void raise_left_out(const char* op) {
  raise<NotImplementedError>(op, " is no part of this library, which was built for a list of "
                                 "operators; add it to the file given as TENON_OPERATORS");
}

}  // namespace tenon::detail
