#include "runtime/serialization/training/rng_state.h"

#include <cstring>

#include "tenon/ops/contiguous.h"

namespace tenon::serialization {
namespace {

constexpr int kWords = Mt19937::kWords;

/// PyTorch's layout of a CPU generator's state.
struct CpuState {
  uint64_t seed;
  int32_t left;  ///< draws until the words are made anew, one more than are there
  int32_t seeded;
  uint64_t next;
  uint64_t words[kWords];
  double normal_x;  ///< sine and cosine's argument once; unused
  double normal;    ///< the second value of the last pair, in double
  double normal_rho;
  int32_t has_normal;
  float float_normal;  ///< the same in float
  uint8_t has_float_normal;
  uint8_t padding[7];
};
static_assert(sizeof(CpuState) == 5056);

struct CounterState {
  uint64_t seed;
  uint64_t offset;
};

template <class State>
Tensor bytes_of(const State& state) {
  Tensor bytes(empty({static_cast<int64_t>(sizeof(State))}, kByte, kCPU));
  std::memcpy(bytes.data_ptr(), &state, sizeof(State));
  return bytes;
}

template <class State>
State state_of(const Tensor& bytes) {
  TENON_CHECK_TYPE(bytes.dtype() == kByte, "[set_rng_state] expected a state of dtype Byte, got ",
                   bytes.dtype());
  TENON_CHECK_VALUE(bytes.nbytes() == sizeof(State), "[set_rng_state] expected a state of ",
                    sizeof(State), " bytes, got ", bytes.nbytes());
  State state;
  std::memcpy(&state, bytes.cpu().contiguous().data_ptr(), sizeof(State));
  return state;
}

}  // namespace

Tensor rng_state(const Generator& generator) {
  const std::lock_guard lock(generator->mutex);
  if (!generator->device.is_cpu())
    return bytes_of(CounterState{generator->seed, generator->offset});
  CpuState state{};
  state.seed = generator->seed;
  const int position = generator->engine.position();
  state.left = kWords + 1 - position;
  state.seeded = 1;
  state.next = static_cast<uint64_t>(position);
  for (int i = 0; i < kWords; ++i) state.words[i] = generator->engine.words()[i];
  if (generator->next_double_normal) {
    state.has_normal = 1;
    state.normal = *generator->next_double_normal;
  }
  if (generator->next_float_normal) {
    state.has_float_normal = 1;
    state.float_normal = *generator->next_float_normal;
  }
  return bytes_of(state);
}

void set_rng_state(const Tensor& bytes, const Generator& generator) {
  if (!generator->device.is_cpu()) {
    const auto state = state_of<CounterState>(bytes);
    const std::lock_guard lock(generator->mutex);
    generator->seed = state.seed;
    generator->offset = state.offset;
    return;
  }
  const auto state = state_of<CpuState>(bytes);
  std::array<uint32_t, kWords> words;
  bool valid = state.seeded == 1 && state.left >= 1 && state.left <= kWords && state.next <= kWords;
  for (int i = 0; i < kWords; ++i) {
    valid = valid && state.words[i] <= 0xFFFFFFFF;
    words[i] = static_cast<uint32_t>(state.words[i]);
  }
  TENON_CHECK_VALUE(valid, "[set_rng_state] the bytes are no state of a CPU generator");
  const std::lock_guard lock(generator->mutex);
  generator->seed = state.seed;
  // One left to draw means that the words are used up, wherever the next would be.
  generator->engine.set_state(words, state.left == 1 ? kWords : static_cast<int>(state.next));
  generator->next_double_normal.reset();
  if (state.has_normal) generator->next_double_normal = state.normal;
  generator->next_float_normal.reset();
  if (state.has_float_normal) generator->next_float_normal = state.float_normal;
}

}  // namespace tenon::serialization
