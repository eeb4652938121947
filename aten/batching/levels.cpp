#include "aten/batching/levels.h"

#include "aten/batching/rules/batched_calls.h"
#include "aten/core/error.h"
#include "aten/core/thread_state.h"

namespace tenon::batching {
namespace {

thread_local Level current;

void set_current(Level level) {
  current = std::move(level);
  const uint8_t mode = DispatchKeySet(DispatchLayer::BatchedMode).layers;
  thread_state.enabled_layers =
      static_cast<uint8_t>((thread_state.enabled_layers & ~mode) | (current ? mode : 0));
  thread_state.refresh();
}

}  // namespace

int64_t begin_level(int64_t size, BatchRandomness randomness) {
  TENON_CHECK_VALUE(size >= 0, "[vmap] the size of a batch is not negative, got ", size);
#ifdef TENON_WITHOUT_VMAP
  detail::raise<NotImplementedError>(
      "[vmap] is no part of this library, which was built for a list of operators");
#else
  register_batched_calls();
#endif
  const int64_t number = current ? current->number + 1 : 1;
  set_current(std::make_shared<const BatchLevel>(BatchLevel{number, size, randomness, current}));
  return number;
}

void end_level() {
  TENON_CHECK(current, "[vmap] no function is batched on this thread");
  current->ended = true;
  set_current(current->below);
}

Level current_level() { return current; }

Level level_of_number(int64_t number) {
  Level level = current;
  while (level && level->number != number) level = level->below;
  TENON_CHECK_VALUE(level, "[vmap] there are ", current ? current->number : 0, " levels, no level ",
                    number);
  return level;
}

BelowLevel::BelowLevel(const BatchLevel& level) : previous_(current) {
  if (current && current->number >= level.number) set_current(level.below);
}

BelowLevel::~BelowLevel() { set_current(previous_); }

}  // namespace tenon::batching
