#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "aten/core/error.h"
#include "tenon/config.h"

/// LAPACK and what it needs of BLAS, for float, double and their complex types. The library is
/// loaded at first use and not linked: a program without linear algebra does not pay for it.
///
///     const auto& routines = lapack::routines<scalar_t>("linalg.cholesky");
///     const lapack::Int info = routines.potrf('L', n, a, n);
///
/// Numbers and letters are passed by value, and a routine returns its `info`.
namespace tenon::native::lapack {

using Int = int32_t;

template <class T>
using RealOf = decltype(std::real(T()));
template <class T>
inline constexpr bool kIsComplex = !std::is_same_v<T, RealOf<T>>;

/// A parameter that the routine for this type lacks: what is given for it is not passed.
struct Absent {
  template <class A>
  Absent(A&&) {}
};
template <class T, class A>
using ComplexOnly = std::conditional_t<kIsComplex<T>, A, Absent>;
template <class T, class A>
using RealOnly = std::conditional_t<kIsComplex<T>, Absent, A>;

namespace detail {

/// How Fortran takes an argument: by its address. A letter has a length behind all arguments.
template <class A>
struct Parameter {
  static std::tuple<const A*> pass(const A& a) { return {&a}; }
};
template <class A>
struct Parameter<A*> {
  static std::tuple<A*> pass(A* a) { return {a}; }
};
template <>
struct Parameter<Absent> {
  static std::tuple<> pass(Absent) { return {}; }
};

template <size_t>
using Length = size_t;

template <size_t... I, class... A>
void call(void* address, std::index_sequence<I...>, const std::tuple<A...>& arguments) {
  using Function = void (*)(A..., Length<I>...);
  std::apply([address](A... a) { reinterpret_cast<Function>(address)(a..., Length<I>{1}...); },
             arguments);
}

template <class... Args>
using Letters = std::make_index_sequence<(size_t{0} + ... + size_t{std::is_same_v<Args, char>})>;

}  // namespace detail

/// A routine of BLAS, which has no `info`.
template <class... Args>
struct BlasRoutine {
  void* address = nullptr;
  void operator()(Args... args) const {
    detail::call(address, detail::Letters<Args...>(),
                 std::tuple_cat(detail::Parameter<Args>::pass(args)...));
  }
};

/// A routine of LAPACK. `info` is its last argument, and is returned.
template <class... Args>
struct Routine {
  void* address = nullptr;
  Int operator()(Args... args) const {
    Int info = 0;
    detail::call(address, detail::Letters<Args...>(),
                 std::tuple_cat(detail::Parameter<Args>::pass(args)..., std::make_tuple(&info)));
    return info;
  }
};

/// X(member, name for real numbers, name for complex ones, kind, parameters...). Behind an array
/// comes its leading dimension, behind `work` its length: -1 asks for the best, given in work[0].
#define TENON_LAPACK_ROUTINES(X)                                                                   \
  /* side, uplo, trans, diag, m, n, alpha, a, b */                                                 \
  X(trsm, "trsm", "trsm", BlasRoutine, char, char, char, char, Int, Int, T, const T*, Int, T*,     \
    Int)                                                                                           \
  /* uplo, n, a */                                                                                 \
  X(potrf, "potrf", "potrf", Routine, char, Int, T*, Int)                                          \
  X(potri, "potri", "potri", Routine, char, Int, T*, Int)                                          \
  /* uplo, n, nrhs, a, b */                                                                        \
  X(potrs, "potrs", "potrs", Routine, char, Int, Int, const T*, Int, T*, Int)                      \
  /* m, n, a, ipiv */                                                                              \
  X(getrf, "getrf", "getrf", Routine, Int, Int, T*, Int, Int*)                                     \
  /* trans, n, nrhs, a, ipiv, b */                                                                 \
  X(getrs, "getrs", "getrs", Routine, char, Int, Int, const T*, Int, const Int*, T*, Int)          \
  /* n, a, ipiv, work */                                                                           \
  X(getri, "getri", "getri", Routine, Int, T*, Int, const Int*, T*, Int)                           \
  /* n, nrhs, a, ipiv, b */                                                                        \
  X(gesv, "gesv", "gesv", Routine, Int, Int, T*, Int, Int*, T*, Int)                               \
  /* uplo, diag, n, a */                                                                           \
  X(trtri, "trtri", "trtri", Routine, char, char, Int, T*, Int)                                    \
  /* uplo, trans, diag, n, nrhs, a, b */                                                           \
  X(trtrs, "trtrs", "trtrs", Routine, char, char, char, Int, Int, const T*, Int, T*, Int)          \
  /* uplo, n, a, ipiv, work: symmetric, also for complex numbers */                                \
  X(sytrf, "sytrf", "sytrf", Routine, char, Int, T*, Int, Int*, T*, Int)                           \
  X(sytrf_rook, "sytrf_rook", "sytrf_rook", Routine, char, Int, T*, Int, Int*, T*, Int)            \
  /* the same of Hermitian matrices, which are the symmetric ones of real numbers */               \
  X(hetrf, "sytrf", "hetrf", Routine, char, Int, T*, Int, Int*, T*, Int)                           \
  /* uplo, n, nrhs, a, ipiv, b */                                                                  \
  X(sytrs, "sytrs", "sytrs", Routine, char, Int, Int, const T*, Int, const Int*, T*, Int)          \
  X(hetrs, "sytrs", "hetrs", Routine, char, Int, Int, const T*, Int, const Int*, T*, Int)          \
  /* m, n, a, tau, work */                                                                         \
  X(geqrf, "geqrf", "geqrf", Routine, Int, Int, T*, Int, T*, T*, Int)                              \
  /* m, n, a, jpvt, tau, work, rwork of 2 n: columns pivoted */                                    \
  X(geqp3, "geqp3", "geqp3", Routine, Int, Int, T*, Int, Int*, T*, T*, Int, ComplexOnly<T, R*>)    \
  /* m, n, k, a, tau, work */                                                                      \
  X(ungqr, "orgqr", "ungqr", Routine, Int, Int, Int, T*, Int, const T*, T*, Int)                   \
  /* side, trans, m, n, k, a, tau, c, work */                                                      \
  X(unmqr, "ormqr", "unmqr", Routine, char, char, Int, Int, Int, const T*, Int, const T*, T*, Int, \
    T*, Int)                                                                                       \
  /* jobz, uplo, n, a, w, work, rwork, iwork */                                                    \
  X(heevd, "syevd", "heevd", Routine, char, char, Int, T*, Int, R*, T*, Int, ComplexOnly<T, R*>,   \
    ComplexOnly<T, Int>, Int*, Int)                                                                \
  /* jobvl, jobvr, n, a, wr, wi, w, vl, vr, work, rwork of 2 n */                                  \
  X(geev, "geev", "geev", Routine, char, char, Int, T*, Int, RealOnly<T, R*>, RealOnly<T, R*>,     \
    ComplexOnly<T, T*>, T*, Int, T*, Int, T*, Int, ComplexOnly<T, R*>)                             \
  /* jobz, m, n, a, s, u, vt, work, rwork, iwork of 8 min(m, n) */                                 \
  X(gesdd, "gesdd", "gesdd", Routine, char, Int, Int, T*, Int, R*, T*, Int, T*, Int, T*, Int,      \
    ComplexOnly<T, R*>, Int*)                                                                      \
  /* trans, m, n, nrhs, a, b, work */                                                              \
  X(gels, "gels", "gels", Routine, char, Int, Int, Int, T*, Int, T*, Int, T*, Int)                 \
  /* m, n, nrhs, a, b, jpvt, rcond, rank, work, rwork of 2 n */                                    \
  X(gelsy, "gelsy", "gelsy", Routine, Int, Int, Int, T*, Int, T*, Int, Int*, R, Int*, T*, Int,     \
    ComplexOnly<T, R*>)                                                                            \
  /* m, n, nrhs, a, b, s, rcond, rank, work, rwork of 5 min(m, n) */                               \
  X(gelss, "gelss", "gelss", Routine, Int, Int, Int, T*, Int, T*, Int, R*, R, Int*, T*, Int,       \
    ComplexOnly<T, R*>)                                                                            \
  /* m, n, nrhs, a, b, s, rcond, rank, work, rwork, iwork */                                       \
  X(gelsd, "gelsd", "gelsd", Routine, Int, Int, Int, T*, Int, T*, Int, R*, R, Int*, T*, Int,       \
    ComplexOnly<T, R*>, Int*)

template <class T>
struct Routines {
  using R = RealOf<T>;
#define TENON_LAPACK_MEMBER(member, real_name, complex_name, Kind, ...) Kind<__VA_ARGS__> member;
  TENON_LAPACK_ROUTINES(TENON_LAPACK_MEMBER)
#undef TENON_LAPACK_MEMBER
};

/// Those of the library, which is loaded by the first call. `op` is named by the error that says
/// that there is none. T is float, double or a complex of them.
#if TENON_HAS_LAPACK
template <class T>
const Routines<T>& routines(std::string_view op);
#else
template <class T>
[[noreturn]] const Routines<T>& routines(std::string_view op) {
  throw Error("[" + std::string(op) + "] needs LAPACK, which this build leaves out: TENON_LAPACK");
}
#endif

/// The file that was loaded, or empty before the first use.
TENON_API std::string library_path();

/// A function that knows one more place to look in, and returns an empty text if it finds nothing
/// there. It is called when the library is loaded, before the system's libraries are tried.
TENON_API void set_library_finder(std::string (*finder)());

/// The library computes with at most `count` threads while this exists. If calls of several threads
/// overlap, with one. Afterwards it has as many as before.
class LibraryThreads {
 public:
  explicit LibraryThreads(int count);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;
};

/// A size as LAPACK takes it.
inline Int to_int(std::string_view op, int64_t size) {
  TENON_CHECK(size <= std::numeric_limits<Int>::max(), "[", op, "] LAPACK takes sizes below 2^31, ",
              "got ", size);
  return static_cast<Int>(size);
}

/// The length of a workspace that a routine asked for in work[0]. A float may have rounded it.
template <class T>
Int work_size(T asked) {
  const double size = static_cast<double>(std::real(asked));
  return static_cast<Int>(std::min(size * (1 + 1e-6) + 1, 2147483647.0));
}

}  // namespace tenon::native::lapack
