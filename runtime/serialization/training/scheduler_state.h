#pragma once

#include "runtime/optim/schedulers/lr_scheduler.h"
#include "runtime/optim/schedulers/reduce_on_plateau_scheduler.h"
#include "runtime/serialization/values/value.h"

namespace tenon::serialization {

/// Where a schedule is, for Python's load_state_dict() and for the functions below:
/// {"base_lrs": [...], "last_epoch": 3, "_step_count": 4, "_last_lr": [...]}. The schedule's
/// options are not kept: who resumes makes the same scheduler again.
TENON_API Value lr_scheduler_state_dict(const optim::LRScheduler& scheduler);
TENON_API Value lr_scheduler_state_dict(const optim::ReduceLROnPlateauScheduler& scheduler);

/// Restores what lr_scheduler_state_dict() or Python's state_dict() gave. The rates themselves are
/// in the optimizer's state. ValueError for another number of groups, a KeyError for a missing key;
/// the scheduler then stays as it was.
TENON_API void load_lr_scheduler_state_dict(optim::LRScheduler& scheduler, const Value& state);
TENON_API void load_lr_scheduler_state_dict(optim::ReduceLROnPlateauScheduler& scheduler,
                                            const Value& state);

}  // namespace tenon::serialization
