#include "tenon/config.h"
#include "tests/ops/checks.h"

#if TENON_HAS_CUDA
#include "aten/cuda/cuda_device.h"
#include "aten/dispatch/operator_entry.h"
#include "tenon/tensor.h"
#endif

namespace tenon::ops_test {

#if TENON_HAS_CUDA
void check_cuda(const Case& c) {
  if (!cuda::is_available() || !c.sample.row->option("seed").empty()) return;
  const Call here = c.call();
  if (here.num_tensors() == 0) return;
  const auto there = [&] {
    return here.mapped([](const TensorBase& t) { return TensorBase(Tensor(t).cuda()); });
  };
  try {
    // Other orders of summation and other approximations: twice the CPU's tolerance.
    const std::string text = c.compare(there().run(*c.forms.op), 2);
    if (!text.empty()) return c.fail("cuda", text);
    if (c.wants("grad")) check_gradients_of(c, there(), 8);
  } catch (const NotImplementedError& error) {
    // Not every operator has a kernel for the GPU yet.
    if (std::string_view(error.what()).find("'CUDA' backend") == std::string_view::npos) throw;
  }
}
#else
void check_cuda(const Case&) {}
#endif

}  // namespace tenon::ops_test
