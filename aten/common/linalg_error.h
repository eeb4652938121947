#pragma once

#include "aten/core/error.h"

namespace tenon {

/// A matrix has no such factorization, inverse or solution, or an algorithm did not converge.
class TENON_API LinAlgError : public Error {
  using Error::Error;
};

}  // namespace tenon
