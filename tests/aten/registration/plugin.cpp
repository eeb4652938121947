// A library that a test loads and unloads.
#include "aten/registration/library.h"

using namespace tenon;

TENON_LIBRARY(plugin, m) {
  m.def("triple(Tensor self) -> Tensor");
  m.def("pair(Tensor self) -> (Tensor, Tensor)",
        [](const Tensor& self) { return std::tuple(self.clone(), self.clone()); });
}

TENON_LIBRARY_IMPL(plugin, CPU, m) {
  m.impl("triple", [](const Tensor& self) { return self * 3; });
}

TENON_LIBRARY_IMPL(aten, CPU, m) {
  m.impl("abs", [](const Tensor& self) { return self * 100; });
}
