#include <atomic>
#include <catch2/catch.hpp>
#include <complex>
#include <thread>
#include <vector>

#include "aten/common/linalg_error.h"
#include "aten/cpu/linalg/batches.h"
#include "aten/cpu/linalg/lapack.h"
#include "tenon/ops/_linalg_check_errors.h"
#include "tenon/ops/fill.h"
#include "tenon/ops/zeros.h"

using namespace tenon;
namespace lapack = tenon::native::lapack;

TEMPLATE_TEST_CASE("routines of each type", "", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  using R = lapack::RealOf<T>;
  const auto& routines = lapack::routines<T>("test");
  CHECK(&routines == &lapack::routines<T>("test"));
  CHECK_FALSE(lapack::library_path().empty());

  // Column by column; only the lower triangle is read.
  T a[] = {T(4), T(2), T(99), T(5)};
  CHECK(routines.potrf('L', 2, a, 2) == 0);
  CHECK(std::abs(a[0] - T(2)) < 1e-6);
  CHECK(std::abs(a[1] - T(1)) < 1e-6);
  CHECK(std::abs(a[3] - T(2)) < 1e-6);
  T b[] = {T(8), T(14)};
  CHECK(routines.potrs('L', 2, 1, a, 2, b, 2) == 0);
  CHECK(std::abs(b[0] - T(0.75)) < 1e-5);
  CHECK(std::abs(b[1] - T(2.5)) < 1e-5);
  T c[] = {T(2), T(6)};
  routines.trsm('L', 'L', 'N', 'N', 2, 1, T(2), a, 2, c, 2);
  CHECK(std::abs(c[0] - T(2)) < 1e-6);
  CHECK(std::abs(c[1] - T(5)) < 1e-6);
  T bad[] = {T(1), T(0), T(0), T(-1)};
  CHECK(routines.potrf('L', 2, bad, 2) == 2);

  // Routines whose real and complex forms have other parameters.
  T symmetric[] = {T(2), T(1), T(1), T(2)}, work[512];
  R w[2], rwork[512];
  lapack::Int iwork[512];
  CHECK(routines.heevd('V', 'L', 2, symmetric, 2, w, work, 512, rwork, 512, iwork, 512) == 0);
  CHECK(w[0] == Approx(1).margin(1e-5));
  CHECK(w[1] == Approx(3).margin(1e-5));
  T general[] = {T(0), T(1), T(-1), T(0)}, values[2], vectors[4];
  R real[2], imaginary[2];
  CHECK(routines.geev('N', 'V', 2, general, 2, real, imaginary, values, nullptr, 1, vectors, 2,
                      work, 512, rwork) == 0);
  if constexpr (lapack::kIsComplex<T>) {
    CHECK(std::abs(std::abs(values[0].imag()) - 1) < 1e-5);
  } else {
    CHECK(std::abs(imaginary[0]) == Approx(1).margin(1e-5));
  }
}

TEST_CASE("a batch is computed in pieces, each matrix once") {
  const int before = get_num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    for (const double flops : {10., 1e5, 1e8}) {
      for (const int64_t batch : {0, 1, 3, 1000}) {
        std::vector<int> seen(static_cast<size_t>(batch));
        lapack::for_matrices(batch, flops, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        });
        for (const int count : seen) CHECK(count == 1);
      }
    }
  }
  set_num_threads(before);
}

TEST_CASE("calls of several threads and of threads within overlap") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const lapack::Int n = 200;
      for (int turn = 0; turn < 5; ++turn) {
        lapack::for_matrices(turn % 2 ? 1 : 8, 1e7, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            std::vector<double> a(static_cast<size_t>(n * n), 1.0);
            for (int d = 0; d < n; ++d) a[static_cast<size_t>(d * n + d)] = n + 1.0;
            wrong += lapack::routines<double>("test").potrf('L', n, a.data(), n) != 0;
          }
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("the first matrix that failed is named") {
  Tensor info = zeros({2, 2}, TensorOptions(kInt));
  CHECK_NOTHROW(_linalg_check_errors(info, "linalg.inv", false));
  info.select(0, 1).select(0, 0).fill_(3);
  CHECK_THROWS_AS(_linalg_check_errors(info, "linalg.inv", false), LinAlgError);
  CHECK_THROWS_WITH(_linalg_check_errors(info, "linalg.inv", false),
                    "[linalg.inv] (Batch element 2): The diagonal element 3 is zero, the inversion "
                    "could not be completed because the input matrix is singular.");
  CHECK_THROWS_WITH(_linalg_check_errors(info.select(0, 1).select(0, 0), "linalg.solve", true),
                    "[linalg.solve] The solver failed because the input matrix is singular.");
}
