// A library whose second definition fails.
#include "aten/stable/stable_library.h"

TENON_STABLE_LIBRARY(stable_failing, m) {
  m.def("first(Tensor self) -> Tensor");
  m.def("second(Tensor self -> Tensor");
}
