#pragma once

/// All of tenon::optim, for users.

#include "runtime/optim/adadelta.h"
#include "runtime/optim/adagrad.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/adamax.h"
#include "runtime/optim/adamw.h"
#include "runtime/optim/asgd.h"
#include "runtime/optim/lbfgs.h"
#include "runtime/optim/nadam.h"
#include "runtime/optim/radam.h"
#include "runtime/optim/rmsprop.h"
#include "runtime/optim/rprop.h"
#include "runtime/optim/schedulers/epoch_schedulers.h"
#include "runtime/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "runtime/optim/schedulers/step_lr.h"
#include "runtime/optim/sgd.h"
