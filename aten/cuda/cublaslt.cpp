#include <cublasLt.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_device.h"
#include "aten/cuda/cuda_error.h"
#include "aten/cuda/gemm.h"

#define TENON_CUBLAS_CHECK(...)                                                              \
  do {                                                                                       \
    const cublasStatus_t tenon_status = (__VA_ARGS__);                                       \
    TENON_CHECK(tenon_status == CUBLAS_STATUS_SUCCESS, "[cuda] " #__VA_ARGS__ " failed at ", \
                __FILE__, ":", __LINE__, ": ", cublasLtGetStatusString(tenon_status), " (",  \
                cublasLtGetStatusName(tenon_status), ")");                                   \
  } while (false)

namespace tenon::cuda {
namespace {

constexpr size_t kMaxWorkspace = size_t{32} << 20;
constexpr size_t kMaxCached = 4096;

std::atomic<bool> tf32_allowed{false};

/// One handle per GPU; it may be used by several threads at once.
cublasLtHandle_t handle_of(DeviceIndex device) {
  struct Slot {
    std::once_flag once;
    cublasLtHandle_t handle = nullptr;
  };
  static auto* slots = new std::vector<Slot>(static_cast<size_t>(device_count()));
  Slot& slot = (*slots)[static_cast<size_t>(device)];
  std::call_once(slot.once, [&] { TENON_CUBLAS_CHECK(cublasLtCreate(&slot.handle)); });
  return slot.handle;
}

/// A matrix as cuBLAS sees it: column-major with leading dimension ld, possibly transposed.
struct Side {
  int64_t ld;
  bool transposed;
};

/// False if neither dimension is dense. `rows` x `cols` is the matrix's shape.
bool side_of(const MatrixBatch& m, int64_t rows, int64_t cols, Side& side) {
  if ((m.col == 1 || cols == 1) && (rows == 1 || m.row >= cols)) {
    side = {rows == 1 ? cols : m.row, false};
    return true;
  }
  if ((m.row == 1 || rows == 1) && (cols == 1 || m.col >= rows)) {
    side = {cols == 1 ? rows : m.col, true};
    return true;
  }
  return false;
}

uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  return static_cast<uint32_t>(std::min<uintptr_t>(address & (~address + 1), 256));
}

struct Types {
  cudaDataType_t data, scale;
  cublasComputeType_t compute;
};

Types types_of(ScalarType dtype) {
  switch (dtype) {
  case kDouble: return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
  case kHalf: return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  case kBFloat16: return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  case kComplexFloat: return {CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
  case kComplexDouble: return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
  default:
    return {CUDA_R_32F, CUDA_R_32F,
            tf32_allowed ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
  }
}

/// A factor in the type cuBLAS wants.
struct Factor {
  alignas(16) unsigned char bytes[16];

  Factor(const Scalar& value, cudaDataType_t type) {
    const auto put = [this](auto v) { std::memcpy(bytes, &v, sizeof v); };
    if (type == CUDA_R_64F) {
      put(value.to<double>());
    } else if (type == CUDA_C_32F) {
      put(value.to<std::complex<float>>());
    } else if (type == CUDA_C_64F) {
      put(value.to<std::complex<double>>());
    } else {
      put(value.to<float>());
    }
  }
};

/// Everything that the choice of an algorithm depends on. Without padding: compared as bytes.
struct Problem {
  int64_t m, n, k, batch, ld_a, ld_b, ld_out, batch_a, batch_b, batch_out;
  uint32_t align_a, align_b, align_out, align_bias;
  int32_t dtype, device, flags, compute;

  friend bool operator==(const Problem& x, const Problem& y) {
    return std::memcmp(&x, &y, sizeof x) == 0;
  }
};
static_assert(sizeof(Problem) == 10 * 8 + 8 * 4);

struct ProblemHash {
  size_t operator()(const Problem& p) const {
    uint64_t words[sizeof(Problem) / 8], hash = 0xcbf29ce484222325ull;
    std::memcpy(words, &p, sizeof p);
    for (uint64_t w : words) hash = (hash ^ w) * 0x100000001b3ull ^ (hash >> 29);
    return hash;
  }
};

/// The descriptions of a product and the algorithm chosen for it.
struct Recipe {
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, out = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  size_t workspace = 0;
  bool found = false;

  Recipe() = default;
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;
  ~Recipe() {
    if (product) cublasLtMatmulDescDestroy(product);
    for (cublasLtMatrixLayout_t layout : {a, b, out}) {
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    }
  }
};

template <class T>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, T value) {
  TENON_CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof value));
}

cublasLtMatrixLayout_t layout(cudaDataType_t type, int64_t rows, int64_t cols, int64_t ld,
                              int64_t batch, int64_t batch_stride) {
  cublasLtMatrixLayout_t made = nullptr;
  TENON_CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(rows),
                                                static_cast<uint64_t>(cols), ld));
  if (batch > 1) {
    const auto count = static_cast<int32_t>(batch);
    TENON_CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                        &count, sizeof count));
    TENON_CUBLAS_CHECK(cublasLtMatrixLayoutSetAttribute(
        made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &batch_stride, sizeof batch_stride));
  }
  return made;
}

enum Flags { kTransposeA = 1, kTransposeB = 2, kBias = 4 };

/// cuBLAS computes out^T = b^T a^T: what is row-major to us is column-major to it.
std::unique_ptr<Recipe> make_recipe(const Problem& p, const Types& types, const void* bias) {
  auto recipe = std::make_unique<Recipe>();
  TENON_CUBLAS_CHECK(cublasLtMatmulDescCreate(&recipe->product, types.compute, types.scale));
  const auto operation = [&](int flag) { return p.flags & flag ? CUBLAS_OP_T : CUBLAS_OP_N; };
  set(recipe->product, CUBLASLT_MATMUL_DESC_TRANSA, operation(kTransposeB));
  set(recipe->product, CUBLASLT_MATMUL_DESC_TRANSB, operation(kTransposeA));
  if (p.flags & kBias) {
    set(recipe->product, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(recipe->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const bool ta = p.flags & kTransposeA, tb = p.flags & kTransposeB;
  recipe->b = layout(types.data, tb ? p.k : p.n, tb ? p.n : p.k, p.ld_b, p.batch, p.batch_b);
  recipe->a = layout(types.data, ta ? p.m : p.k, ta ? p.k : p.m, p.ld_a, p.batch, p.batch_a);
  recipe->out = layout(types.data, p.n, p.m, p.ld_out, p.batch, p.batch_out);

  cublasLtMatmulPreference_t preference = nullptr;
  TENON_CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                        cublasStatus_t (*)(cublasLtMatmulPreference_t)>
      owner(preference, cublasLtMatmulPreferenceDestroy);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    TENON_CUBLAS_CHECK(
        cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value));
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspace);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.align_b);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.align_a);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.align_out);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.align_out);
  cublasLtMatmulHeuristicResult_t result{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle_of(static_cast<DeviceIndex>(p.device)), recipe->product, recipe->b, recipe->a,
      recipe->out, recipe->out, preference, 1, &result, &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || count == 0) return recipe;
  TENON_CUBLAS_CHECK(status);
  recipe->algorithm = result.algo;
  recipe->workspace = result.workspaceSize;
  recipe->found = true;
  return recipe;
}

/// Recipes of the calling thread: descriptions hold the bias pointer and so cannot be shared.
Recipe& recipe_for(const Problem& p, const Types& types, const void* bias) {
  static thread_local std::unordered_map<Problem, std::unique_ptr<Recipe>, ProblemHash> recipes;
  if (const auto found = recipes.find(p); found != recipes.end()) return *found->second;
  if (recipes.size() >= kMaxCached) recipes.clear();
  return *recipes.emplace(p, make_recipe(p, types, bias)).first->second;
}

}  // namespace

bool allow_tf32() { return tf32_allowed; }
void set_allow_tf32(bool allow) { tf32_allowed = allow; }

bool detail::cublaslt_product(ScalarType dtype, ProductSizes s, const Scalar& alpha, MatrixBatch a,
                              MatrixBatch b, const Scalar& beta, MatrixBatch out, const void* bias,
                              Device device, CUstream_st* stream) {
  Side side_a, side_b, side_out;
  if (!side_of(a, s.m, s.k, side_a) || !side_of(b, s.k, s.n, side_b) ||
      !side_of(out, s.m, s.n, side_out)) {
    return false;
  }
  if (side_out.transposed) {
    // The transposed product writes row-major; its bias would lie along the rows.
    return !bias &&
           cublaslt_product(dtype, {s.batch, s.n, s.m, s.k}, alpha, b.transposed(), a.transposed(),
                            beta, out.transposed(), nullptr, device, stream);
  }
  if (bias && is_complex(dtype)) return false;
  const Types types = types_of(dtype);
  const bool batched = s.batch > 1;
  const Problem problem{s.m,
                        s.n,
                        s.k,
                        s.batch,
                        side_a.ld,
                        side_b.ld,
                        side_out.ld,
                        batched ? a.batch : 0,
                        batched ? b.batch : 0,
                        batched ? out.batch : 0,
                        alignment_of(a.data),
                        alignment_of(b.data),
                        alignment_of(out.data),
                        bias ? alignment_of(bias) : 0,
                        static_cast<int32_t>(dtype),
                        device.index(),
                        (side_a.transposed ? kTransposeA : 0) |
                            (side_b.transposed ? kTransposeB : 0) | (bias ? kBias : 0),
                        static_cast<int32_t>(types.compute)};
  Recipe& recipe = recipe_for(problem, types, bias);
  if (!recipe.found) return false;
  if (bias) set(recipe.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const Factor alpha_factor(alpha, types.scale), beta_factor(beta, types.scale);
  const Workspace workspace(recipe.workspace, device.index());
  TENON_CUBLAS_CHECK(cublasLtMatmul(handle_of(device.index()), recipe.product, alpha_factor.bytes,
                                    b.data, recipe.b, a.data, recipe.a, beta_factor.bytes, out.data,
                                    recipe.out, out.data, recipe.out, &recipe.algorithm,
                                    workspace.data(), recipe.workspace, stream));
  return true;
}

}  // namespace tenon::cuda
