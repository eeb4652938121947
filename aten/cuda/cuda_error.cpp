#include "aten/cuda/cuda_error.h"

namespace tenon::cuda::detail {

void raise_cuda(cudaError_t status, const char* call, const char* file, int line) {
  cudaGetLastError();  // the runtime would report the same error again at the next check
  tenon::detail::raise<Error>("[cuda] ", call, " failed at ", file, ":", line, ": ",
                              cudaGetErrorString(status), " (", cudaGetErrorName(status), ")");
}

}  // namespace tenon::cuda::detail
