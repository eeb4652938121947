#pragma once

/// All of tenon::optim, for users.

#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"
