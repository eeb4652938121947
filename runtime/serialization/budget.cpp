#include "runtime/serialization/budget.h"

namespace tenon::serialization {

void Budget::exceeded() const {
  tenon::detail::raise<Error>("what ", packed_, " bytes of pickle make takes more than ", limit_,
                              " bytes of memory and work: it is damaged or hostile, or "
                              "LoadLimits::budget must be larger");
}

}  // namespace tenon::serialization
