#include "aten/registration/derivative.h"

#include <atomic>

namespace tenon {
namespace {

std::atomic<BoxedKernel (*)(BoxedDerivative derivative)> maker{nullptr};

}  // namespace

BoxedKernel recorded_with(BoxedDerivative derivative) {
  const auto make = maker.load();
  TENON_CHECK(make, "a derivative cannot be registered: this program has no autograd layer");
  return make(std::move(derivative));
}

void detail::set_maker_of_recorded_kernels(BoxedKernel (*make)(BoxedDerivative derivative)) {
  maker = make;
}

}  // namespace tenon
