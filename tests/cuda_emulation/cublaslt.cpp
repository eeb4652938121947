// cuBLASLt's matrix product by its definition: D = alpha op(A) op(B) + beta C + bias, column-major,
// the bias along the rows. Sums are in double.
#include "cublasLt.h"

#include <complex>
#include <cstring>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "tests/cuda_emulation/emulator.h"

struct cublasLtContext {
  int device;
};
struct cublasLtMatmulDescOpaque {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct cublasLtMatrixLayoutOpaque {
  cudaDataType_t type;
  int64_t rows, columns, ld;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct cublasLtMatmulPreferenceOpaque {
  size_t workspace = 0;
};

namespace {

using Number = std::complex<double>;
using Layout = cublasLtMatrixLayoutOpaque;

size_t item_of(cudaDataType_t type) {
  switch (type) {
  case CUDA_R_16F:
  case CUDA_R_16BF: return 2;
  case CUDA_R_32F: return 4;
  case CUDA_R_64F:
  case CUDA_C_32F: return 8;
  case CUDA_C_64F: return 16;
  }
  return 0;
}

template <class T>
T get(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Number load(cudaDataType_t type, const void* at) {
  switch (type) {
  case CUDA_R_16F: return __half2float(get<__half>(at));
  case CUDA_R_16BF: return __bfloat162float(get<__nv_bfloat16>(at));
  case CUDA_R_32F: return get<float>(at);
  case CUDA_R_64F: return get<double>(at);
  case CUDA_C_32F: return get<std::complex<float>>(at);
  case CUDA_C_64F: return get<std::complex<double>>(at);
  }
  return 0;
}

void store(cudaDataType_t type, void* at, Number z) {
  const auto put = [at](auto value) { std::memcpy(at, &value, sizeof value); };
  switch (type) {
  case CUDA_R_16F: return put(__float2half_rn(static_cast<float>(z.real())));
  case CUDA_R_16BF: return put(__float2bfloat16_rn(static_cast<float>(z.real())));
  case CUDA_R_32F: return put(static_cast<float>(z.real()));
  case CUDA_R_64F: return put(z.real());
  case CUDA_C_32F: return put(std::complex<float>(z));
  case CUDA_C_64F: return put(z);
  }
}

const void* element(const Layout& l, const void* data, int32_t batch, int64_t i, int64_t j) {
  return static_cast<const char*>(data) +
         static_cast<size_t>(batch * l.stride + j * l.ld + i) * item_of(l.type);
}

/// Every element of a matrix, checked against the memory in use.
void check(int device, const Layout& l, const void* data, const char* what) {
  for (int32_t batch = 0; batch < l.batch; ++batch) {
    for (int64_t j = 0; j < l.columns; ++j) {
      cuda_emulation::check_device_range(device, element(l, data, batch, 0, j),
                                         static_cast<size_t>(l.rows) * item_of(l.type), what);
    }
  }
  if (reinterpret_cast<uintptr_t>(data) % item_of(l.type) != 0)
    cuda_emulation::fail(std::string(what) + " is misaligned");
}

Layout transposed(Layout l) {
  std::swap(l.rows, l.columns);
  return l;
}

bool fits(const cublasLtMatmulDescOpaque& p, const Layout& a, const Layout& b, const Layout& d) {
  const Layout x = p.a == CUBLAS_OP_N ? a : transposed(a),
               y = p.b == CUBLAS_OP_N ? b : transposed(b);
  const auto dense = [](const Layout& l) { return l.ld >= l.rows && l.rows > 0 && l.columns > 0; };
  return dense(a) && dense(b) && dense(d) && x.rows == d.rows && y.columns == d.columns &&
         x.columns == y.rows && a.batch == d.batch && b.batch == d.batch && a.type == d.type &&
         b.type == d.type;
}

}  // namespace

extern "C" {

const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS         ? "CUBLAS_STATUS_SUCCESS"
         : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                                 : "CUBLAS_STATUS_NOT_SUPPORTED";
}
const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext{cuda_emulation::current_device()};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *product = new cublasLtMatmulDescOpaque{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t what,
                                              const void* value, size_t bytes) {
  const auto set = [&](auto& member) {
    if (bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (what) {
  case CUBLASLT_MATMUL_DESC_TRANSA: return set(product->a);
  case CUBLASLT_MATMUL_DESC_TRANSB: return set(product->b);
  case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(product->epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(product->bias);
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  *layout = new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t what,
                                                const void* value, size_t bytes) {
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof layout->batch) {
    std::memcpy(&layout->batch, value, bytes);
  } else if (what == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
             bytes == sizeof layout->stride) {
    std::memcpy(&layout->stride, value, bytes);
  } else {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, size_t bytes) {
  if (what == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) {
    if (bytes != sizeof preference->workspace) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&preference->workspace, value, bytes);
  } else if (bytes != sizeof(uint32_t)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  *found = 0;
  if (!fits(*product, *a, *b, *d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
  *results = {};
  results->algo.data[0] = 1;
  results->workspaceSize = preference->workspace < 4096 ? preference->workspace : 4096;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  if (!algo || algo->data[0] != 1 || !fits(*product, *a_layout, *b_layout, *d_layout) ||
      handle->device != cuda_emulation::device_of(stream)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const Number scale_a = load(product->scale, alpha), scale_c = load(product->scale, beta);
  cuda_emulation::submit(stream, [=, p = *product, la = *a_layout, lb = *b_layout, lc = *c_layout,
                                  ld = *d_layout, device = handle->device] {
    const cuda_emulation::Unprotected scope;
    check(device, la, a, "the first factor of cublasLtMatmul");
    check(device, lb, b, "the second factor of cublasLtMatmul");
    check(device, ld, d, "the result of cublasLtMatmul");
    cuda_emulation::check_device_range(device, workspace, workspace_bytes,
                                       "the workspace of cublasLtMatmul");
    if (workspace_bytes > 0) std::memset(workspace, 0xff, workspace_bytes);
    const bool biased = p.epilogue == CUBLASLT_EPILOGUE_BIAS;
    if (biased) {
      cuda_emulation::check_device_range(device, p.bias,
                                         static_cast<size_t>(ld.rows) * item_of(ld.type),
                                         "the bias of cublasLtMatmul");
    }
    const int64_t inner = p.a == CUBLAS_OP_N ? la.columns : la.rows;
    for (int32_t l = 0; l < ld.batch; ++l) {
      for (int64_t j = 0; j < ld.columns; ++j) {
        for (int64_t i = 0; i < ld.rows; ++i) {
          Number sum = 0;
          for (int64_t k = 0; k < inner; ++k) {
            const bool ta = p.a != CUBLAS_OP_N, tb = p.b != CUBLAS_OP_N;
            sum += load(la.type, element(la, a, l, ta ? k : i, ta ? i : k)) *
                   load(lb.type, element(lb, b, l, tb ? j : k, tb ? k : j));
          }
          sum *= scale_a;
          if (scale_c != 0.0) sum += scale_c * load(lc.type, element(lc, c, l, i, j));
          if (biased) {
            sum += load(ld.type, static_cast<const char*>(p.bias) +
                                     static_cast<size_t>(i) * item_of(ld.type));
          }
          store(ld.type, const_cast<void*>(element(ld, d, l, i, j)), sum);
        }
      }
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
