#include "aten/cuda/generator.h"

#include "aten/core/error.h"
#include "aten/cuda/device.h"

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

}  // namespace tenon::cuda
