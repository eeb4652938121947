#include "aten/cuda/cuda_generator.h"

#include <algorithm>

#include "aten/core/error.h"
#include "aten/cuda/cuda_device.h"
#include "aten/cuda/launch.h"

namespace tenon::cuda {

PhiloxState reserve(const char* op, const std::optional<Generator>& given, Device device,
                    uint64_t words) {
  const Device where = resolve(device);
  const Generator generator = given && given->defined() ? *given : default_generator(where);
  const Device of = generator.device();
  TENON_CHECK(of.is_cuda() && (!of.has_index() || of == where), "[", op,
              "] expected a generator of ", where, ", got one of ", of);
  std::lock_guard lock(generator->mutex);
  const PhiloxState state{generator->seed, generator->offset};
  generator->offset += (words + 3) / 4 * 4;
  return state;
}

DrawGrid draw_grid(int64_t n, int count, int device_index) {
  const DeviceProperties& properties = device_properties(device_index);
  const int64_t resident =
      int64_t{properties.multiprocessors} * (properties.threads_per_multiprocessor / kBlock);
  const int64_t blocks = std::min<int64_t>(resident, (n + kBlock - 1) / kBlock);
  return {blocks, static_cast<uint64_t>((n - 1) / (kBlock * blocks * count) + 1)};
}

}  // namespace tenon::cuda
