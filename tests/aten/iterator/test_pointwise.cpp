#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/pointwise.h"
#include "tests/aten/iterator/sample_ops.h"

using namespace tenon;
using namespace tenon::native;

namespace {

double get(const TensorBase& t, int64_t offset) {
  return TENON_DISPATCH_ALL(t.scalar_type(), "get", {
    const auto v = static_cast<const scalar_t*>(t.const_data_ptr())[offset];
    if constexpr (is_complex(scalar_type_of<scalar_t>)) {
      return static_cast<double>(v.real()) + 1000.0 * static_cast<double>(v.imag());
    } else {
      return static_cast<double>(v);
    }
  });
}

void set(const TensorBase& t, int64_t offset, double v) {
  TENON_DISPATCH_ALL(t.scalar_type(), "set", {
    auto& slot = static_cast<scalar_t*>(t.data_ptr())[offset];
    if constexpr (is_reduced_floating_point(scalar_type_of<scalar_t>)) {
      slot = scalar_t(static_cast<float>(v));
    } else if constexpr (std::is_same_v<scalar_t, bool>) {
      slot = v != 0;
    } else {
      slot = static_cast<scalar_t>(v);
    }
  });
}

/// Visits every index of a shape.
void for_each(IntArrayRef shape, const std::function<void(const std::vector<int64_t>&)>& f) {
  std::vector<int64_t> index(shape.size(), 0);
  const int64_t n = numel_of(shape);
  for (int64_t i = 0; i < n; ++i) {
    f(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

/// Element at an index of a shape that t broadcasts to.
double at(const TensorBase& t, const std::vector<int64_t>& index) {
  int64_t offset = 0;
  const size_t missing = index.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.sizes()[d] != 1) offset += index[d + missing] * t.strides()[d];
  }
  return get(t, offset);
}

/// Small distinct values, exact in every dtype.
TensorBase make(IntArrayRef shape, ScalarType dtype = kFloat, int start = 1) {
  TensorBase t = empty(shape, dtype, kCPU);
  for (int64_t i = 0; i < t.numel(); ++i) {
    set(t, i, dtype == kBool ? (i * 7 + start) % 3 == 0 : 1 + (i * 5 + start) % 11);
  }
  return t;
}

TensorBase permuted(const TensorBase& t, const std::vector<int>& order) {
  DimVector sizes, strides;
  for (int d : order) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
  return make_view(t, sizes, strides, t.storage_offset());
}

void check_mul(const TensorBase& a, const TensorBase& b, const TensorBase& out) {
  bool equal = true;
  for_each(out.sizes(), [&](const std::vector<int64_t>& index) {
    double expected = at(a, index) * at(b, index);
    if (out.scalar_type() == kBool) expected = expected != 0;
    equal &= at(out, index) == expected;
  });
  CHECK(equal);
}

TensorBase mul(const TensorBase& a, const TensorBase& b) {
  const TensorBase* in[] = {&a, &b};
  return pointwise(mul_op, in);
}

}  // namespace

TEST_CASE("dtypes compute and promote", "[pointwise]") {
  const ScalarType types[] = {kByte, kChar,  kShort,  kInt,  kLong,
                              kHalf, kFloat, kDouble, kBool, kBFloat16};
  for (ScalarType ta : types) {
    for (ScalarType tb : types) {
      const TensorBase a = make({37}, ta), b = make({37}, tb, 4);
      const TensorBase out = mul(a, b);
      INFO(ta << " * " << tb << " -> " << out.scalar_type());
      CHECK(out.scalar_type() == promote_types(ta, tb));
      check_mul(a, b, out);
    }
  }
  const TensorBase c = make({5}, kComplexFloat), d = make({5}, kDouble);
  CHECK(mul(c, d).scalar_type() == kComplexDouble);
  check_mul(c, d, mul(c, d));
}

TEST_CASE("0-dim tensors and numbers only lift the category", "[pointwise]") {
  const TensorBase f = make({3}), i = make({3}, kLong), f64 = make({}, kDouble),
                   i32 = make({3}, kInt);
  CHECK(mul(f, f64).scalar_type() == kFloat);
  CHECK(mul(i, f64).scalar_type() == kDouble);
  CHECK(mul(make({3}, kHalf), make({3}, kBFloat16)).scalar_type() == kFloat);
  const Scalar real(1.5), whole(2), imaginary(std::complex<double>(0, 1));
  const auto type = [](const TensorBase& t, const Scalar& s) {
    const TensorBase* tensors[] = {&t};
    const Scalar* scalars[] = {&s};
    return result_type(tensors, scalars);
  };
  CHECK(type(i32, real) == kFloat);
  CHECK(type(f, imaginary) == kComplexFloat);
  CHECK(type(f64, imaginary) == kComplexDouble);
  CHECK(type(make({2}, kHalf), real) == kHalf);
  CHECK(type(make({2}, kBool), whole) == kLong);
  CHECK(type(make({2}, kByte), whole) == kByte);
  check_mul(f, f64, mul(f, f64));
}

TEST_CASE("every layout gives the same numbers", "[pointwise]") {
  for (const int64_t n : {1, 2, 7, 16, 33, 70, 129, 200}) {
    const TensorBase a = make({n, 35}), b = make({35, n}, kFloat, 3),
                     bf = make({35, n}, kBFloat16, 3);
    check_mul(a, permuted(b, {1, 0}), mul(a, permuted(b, {1, 0})));
    check_mul(permuted(b, {1, 0}), a, mul(permuted(b, {1, 0}), a));
    check_mul(a, permuted(bf, {1, 0}), mul(a, permuted(bf, {1, 0})));
    for (const ScalarType type : {kByte, kHalf, kDouble, kLong, kBool}) {
      const TensorBase x = make({n, 35}, type), y = make({35, n}, type, 2);
      check_mul(x, permuted(y, {1, 0}), mul(x, permuted(y, {1, 0})));
    }
    const TensorBase row = make({35}), column = make({n, 1}), cube = make({3, n, 35});
    check_mul(a, row, mul(a, row));
    check_mul(a, column, mul(a, column));
    check_mul(row, column, mul(row, column));
    check_mul(cube, a, mul(cube, a));
    const TensorBase twisted = permuted(make({35, 3, n}), {1, 2, 0});
    check_mul(cube, twisted, mul(cube, twisted));
    const TensorBase even = make_view(make({2 * n * 35}), {n, 35}, {70, 2}, 0);
    check_mul(a, even, mul(a, even));
    const TensorBase small = make({n, 3}), three = make({3}), wide = permuted(make({3, n}), {1, 0});
    check_mul(small, three, mul(small, three));
    check_mul(small, wide, mul(small, wide));
  }
  const TensorBase many = make({2, 3, 2, 3, 2, 3}),
                   odd = permuted(make({3, 2, 3, 2, 3, 2}), {5, 4, 3, 2, 1, 0});
  check_mul(many, odd, mul(many, odd));
}

TEST_CASE("large tensors run on threads and past the caches", "[pointwise]") {
  // Plain loops over pointers: there are many elements, and the sanitizers are slow.
  constexpr int64_t n = 5000003;
  const auto row = []<class T>(T, int64_t size, int start) {
    const TensorBase t = empty({size}, scalar_type_of<T>, kCPU);
    T* const to = static_cast<T*>(t.data_ptr());
    for (int64_t i = 0; i < size; ++i) to[i] = T(static_cast<float>(1 + (i * 5 + start) % 11));
    return t;
  };
  const auto is_product = []<class T>(T, const TensorBase& a, const TensorBase& b,
                                      const TensorBase& out) {
    const T *x = static_cast<const T*>(a.const_data_ptr()),
            *y = static_cast<const T*>(b.const_data_ptr()),
            *z = static_cast<const T*>(out.const_data_ptr());
    const int64_t step = b.numel() == 1 ? 0 : 1;
    int64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i)
      wrong +=
          static_cast<float>(z[i]) != static_cast<float>(x[i]) * static_cast<float>(y[i * step]);
    return wrong == 0;
  };
  const TensorBase a = row(float(), n, 1), b = row(float(), n, 2), one = row(float(), 1, 1),
                   h = row(BFloat16(), n, 1);
  const TensorBase m = make({2050, 1030}), t = permuted(make({1030, 2050}), {1, 0});
  const int threads = get_num_threads();
  for (const int count : {1, 2}) {
    set_num_threads(count);
    CHECK(is_product(float(), a, b, mul(a, b)));
    CHECK(is_product(float(), a, one, mul(a, one)));
    CHECK(is_product(BFloat16(), h, h, mul(h, h)));
    check_mul(m, t, mul(m, t));
    // Outputs that begin anywhere, between bytes that stay.
    const TensorBase* const ab[] = {&a, &b};
    for (const int64_t offset : {1, 16, 17}) {
      const TensorBase whole = row(float(), n + 40, 1);
      const float before = whole.data_ptr<float>()[offset - 1],
                  after = whole.data_ptr<float>()[offset + n];
      const TensorBase part = make_view(whole, {n}, {1}, offset);
      pointwise_out(mul_op, ab, {}, part);
      CHECK(is_product(float(), a, b, part));
      CHECK(whole.data_ptr<float>()[offset - 1] == before);
      CHECK(whole.data_ptr<float>()[offset + n] == after);
    }
  }
  set_num_threads(threads);
}

TEST_CASE("output strides follow the inputs", "[pointwise]") {
  const TensorBase base = make({2, 3, 4, 5});
  const TensorBase last = permuted(base, {0, 3, 1, 2});  // channels last, sizes [2, 5, 3, 4]
  CHECK(mul(last, last).strides() == last.strides());
  CHECK(mul(last, make({5, 1, 1})).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(mul(last, make({})).is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(mul(last, make({2, 5, 3, 4})).is_contiguous(MemoryFormat::ChannelsLast));
  const TensorBase t = permuted(make({3, 4}), {1, 0});
  CHECK(mul(t, make({4, 3})).strides() == IntArrayRef({1, 4}));
  CHECK(mul(make({4, 3}), t).is_contiguous());
  // Gaps are not kept.
  CHECK(mul(make_view(make({12}), {3, 2}, {4, 2}, 0), make({3, 2})).is_contiguous());
}

TEST_CASE("empty and 0-dim tensors", "[pointwise]") {
  CHECK(mul(make({0}), make({1})).sizes() == IntArrayRef({0}));
  CHECK(mul(make({2, 0, 3}), make({3})).sizes() == IntArrayRef({2, 0, 3}));
  const TensorBase a = make({}), b = make({}, kFloat, 3);
  check_mul(a, b, mul(a, b));
  check_mul(make({}, kHalf), make({}, kLong), mul(make({}, kHalf), make({}, kLong)));
  CHECK(mul(a, b).dim() == 0);
}

TEST_CASE("scalars, comparisons, masks", "[pointwise]") {
  const TensorBase a = make({50}), b = make({50}, kFloat, 4), i = make({50}, kInt);
  const Scalar alpha(2), half(0.5);
  const Scalar* two[] = {&alpha};
  const Scalar* fraction[] = {&half};
  const TensorBase* ab[] = {&a, &b};
  const TensorBase* ib[] = {&i, &i};
  const TensorBase sum = pointwise(add_op, ab, two);
  CHECK(get(sum, 7) == get(a, 7) + 2 * get(b, 7));
  CHECK(pointwise(add_op, ib, fraction).scalar_type() == kFloat);
  const TensorBase less = pointwise(lt_op, ab);
  CHECK(less.scalar_type() == kBool);
  for (int64_t k = 0; k < 50; ++k) CHECK((get(less, k) != 0) == (get(a, k) < get(b, k)));
  const TensorBase* cab[] = {&less, &a, &b};
  const TensorBase smaller = pointwise(where_op, cab);
  CHECK(smaller.scalar_type() == kFloat);
  for (int64_t k = 0; k < 50; ++k) CHECK(get(smaller, k) == std::min(get(a, k), get(b, k)));
}

TEST_CASE("complex magnitude is real; integers become float", "[pointwise]") {
  TensorBase z = empty({2}, kComplexFloat, kCPU);
  z.data_ptr<std::complex<float>>()[0] = {3, 4};
  z.data_ptr<std::complex<float>>()[1] = {0, -2};
  const TensorBase r = pointwise(abs_op, &z);
  CHECK(r.scalar_type() == kFloat);
  CHECK(get(r, 0) == 5);
  CHECK(get(r, 1) == 2);
  const TensorBase i = make({4}, kLong);
  const TensorBase e = pointwise(exp_op, &i);
  CHECK(e.scalar_type() == kFloat);
  CHECK(get(e, 0) == Approx(std::exp(get(i, 0))));
}

TEST_CASE("several outputs, any of which may be skipped", "[pointwise]") {
  const TensorBase grad = make({100}), self = make({100}, kFloat, 2), gate = make({}, kFloat, 3);
  const TensorBase* in[] = {&grad, &self, &gate};
  TensorBase outs[2];
  pointwise_multi(silu_mul_backward_op, in, {}, outs);
  const double g = get(grad, 3), x = get(self, 3), s = 1 / (1 + std::exp(-x));
  CHECK(get(outs[0], 3) == Approx(g * get(gate, 0) * s * (1 + x * (1 - s))));
  CHECK(get(outs[1], 3) == Approx(g * x * s));
  CHECK(outs[1].sizes() == IntArrayRef({100}));
  TensorBase only[2];
  pointwise_multi(silu_mul_backward_op, in, {}, only, 0b10);
  CHECK_FALSE(only[0].defined());
  CHECK(get(only[1], 99) == get(outs[1], 99));
  const TensorBase half = make({100}, kBFloat16);
  const TensorBase* mixed[] = {&half, &half, &half};
  pointwise_multi(silu_mul_backward_op, mixed, {}, only, 0b01);
  CHECK(only[0].scalar_type() == kBFloat16);
  CHECK_FALSE(only[1].defined());
}

TEST_CASE("in place and into given outputs", "[pointwise]") {
  const TensorBase a = make({4, 5}), b = make({5}, kFloat, 3);
  const TensorBase* ab[] = {&a, &b};
  const TensorBase expected = mul(a, b);
  for (const TensorBase& out :
       {make({4, 5}), permuted(make({5, 4}), {1, 0}), make({4, 5}, kDouble), make({0})}) {
    pointwise_out(mul_op, ab, {}, out);
    CHECK(out.sizes() == IntArrayRef({4, 5}));
    check_mul(a, b, out);
  }
  const TensorBase whole = make({4, 5}, kLong);
  CHECK_THROWS_WITH(pointwise_out(mul_op, ab, {}, whole),
                    "result type Float can't be cast to the desired output type Long");
  const TensorBase* wrong[] = {&b, &a};
  CHECK_THROWS_WITH(pointwise_inplace(mul_op, wrong),
                    "output with shape [5] doesn't match the broadcast shape [4, 5]");
  const TensorBase copy_of_a = make({4, 5});
  copy(copy_of_a, a);
  const TensorBase* in[] = {&copy_of_a, &b};
  pointwise_inplace(mul_op, in);
  check_mul(a, b, copy_of_a);
  const TensorBase* doubled[] = {&a, &a};
  pointwise_inplace(mul_op, doubled);
  for (const ScalarType type : {kFloat, kBFloat16, kLong}) {
    const TensorBase memory = make({200, 150}, type), other = make({150, 200}, type, 5);
    const TensorBase self = permuted(memory, {1, 0}), before = make({150, 200}, type);
    copy(before, self);
    const TensorBase* turned[] = {&self, &other};
    pointwise_inplace(mul_op, turned);
    check_mul(before, other, self);
    const TensorBase* straight[] = {&before, &other};
    pointwise_out(mul_op, straight, {}, self);
    check_mul(before, other, self);
  }
}

TEST_CASE("overlapping memory is an error", "[pointwise]") {
  const TensorBase base = make({10}), other = make({5});
  const TensorBase low = make_view(base, {5}, {1}, 0), high = make_view(base, {5}, {1}, 2);
  const TensorBase* in[] = {&low, &high};
  CHECK_THROWS_WITH(pointwise_inplace(mul_op, in),
                    Catch::StartsWith("unsupported operation: some elements of the input tensor"));
  const TensorBase* lo[] = {&low, &other};
  CHECK_THROWS_WITH(pointwise_out(mul_op, lo, {}, high),
                    Catch::StartsWith("unsupported operation: some elements of the input tensor"));
  const TensorBase expanded = make_view(base, {5, 2}, {1, 0}, 0);
  const TensorBase* ex[] = {&expanded, &expanded};
  CHECK_THROWS_WITH(
      pointwise_inplace(mul_op, ex),
      Catch::StartsWith("unsupported operation: more than one element of the written-to"));
  const TensorBase again = make_view(base, {5}, {1}, 0);  // exactly the same elements are fine
  const TensorBase* same[] = {&low, &again};
  pointwise_inplace(mul_op, same);
}

TEST_CASE("errors name what is wrong", "[pointwise]") {
  const TensorBase two = make({2}), three = make({3}), b = make({3}, kBool),
                   z = make({3}, kComplexFloat);
  CHECK_THROWS_WITH(mul(two, three),
                    "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
                    "dimension 0");
  const TensorBase* zz[] = {&z, &z};
  CHECK_THROWS_AS(pointwise(lt_op, zz), NotImplementedError);
  CHECK_THROWS_WITH(pointwise(lt_op, zz), "[lt] is not implemented for 'ComplexFloat'");
  for (const ScalarType type : {kByte, kInt, kLong}) {
    const TensorBase i = make({40}, type), zero = empty({40}, type, kCPU);
    std::memset(zero.data_ptr(), 0, zero.nbytes());
    const TensorBase* in[] = {&i, &zero};
    CHECK_THROWS_AS(pointwise(floor_divide_op, in), ZeroDivisionError);
    const TensorBase* fine[] = {&i, &i};
    CHECK(get(pointwise(floor_divide_op, fine), 39) == 1);
  }
}

TEST_CASE("meta tensors have shape and dtype only", "[pointwise]") {
  const TensorBase a = empty({4, 1}, kFloat, kMeta), b = empty({3}, kInt, kMeta);
  const TensorBase out = mul(a, b);
  CHECK(out.is_meta());
  CHECK(out.sizes() == IntArrayRef({4, 3}));
  CHECK(out.scalar_type() == kFloat);
}

TEST_CASE("copy converts, broadcasts and transposes", "[copy]") {
  const ScalarType types[] = {kByte,  kChar,   kShort, kInt,      kLong,         kHalf,
                              kFloat, kDouble, kBool,  kBFloat16, kComplexFloat, kComplexDouble};
  for (ScalarType to : types) {
    for (ScalarType from : types) {
      const TensorBase src = permuted(make({37, 70}, from), {1, 0}), dst = make({2, 70, 37}, to);
      copy(dst, src);
      bool equal = true;
      for_each(dst.sizes(), [&](const std::vector<int64_t>& index) {
        const double expected = at(src, index);
        equal &= at(dst, index) == (to == kBool ? expected != 0 : expected);
      });
      INFO(from << " to " << to);
      CHECK(equal);
    }
  }
  CHECK_THROWS_WITH(copy(make({3}), make({2, 3})),
                    "output with shape [3] doesn't match the broadcast shape [2, 3]");
}

TEST_CASE("half types round to nearest even and keep NaN", "[copy]") {
  const float values[] = {1.00390625f, 1.01171875f, NAN,     INFINITY, -INFINITY, 3.4e38f,
                          65520.0f,    65519.9f,    5.9e-8f, -0.0f,    1e-40f};
  constexpr int kCount = sizeof(values) / sizeof(*values);
  TensorBase f = empty({64}, kFloat, kCPU), b = empty({64}, kBFloat16, kCPU),
             h = empty({64}, kHalf, kCPU);
  for (int i = 0; i < 64; ++i) f.data_ptr<float>()[i] = values[i % kCount];
  copy(b, f);
  copy(h, f);
  for (int i = 0; i < 64; ++i) {
    const float v = values[i % kCount];
    const float fb = b.data_ptr<BFloat16>()[i], fh = h.data_ptr<Half>()[i];
    if (std::isnan(v)) {
      CHECK((std::isnan(fb) && std::isnan(fh)));
      continue;
    }
    CHECK(b.data_ptr<BFloat16>()[i].bits == BFloat16::from_float(v));
    CHECK(h.data_ptr<Half>()[i].bits == Half::from_float(v));
  }
}

TEST_CASE("short rows of many shapes, broadcast along every dimension", "[iterator]") {
  for (const int64_t n : {3, 7, 63, 100}) {
    const TensorBase x = make({3, 500, n});
    for (const DimVector& sizes :
         {DimVector{n}, DimVector{3, 1, n}, DimVector{500, 1}, DimVector{3, 500, 1},
          DimVector{3, 1, 1}, DimVector{1, 500, n}}) {
      const TensorBase other = make(sizes, kFloat, 3);
      check_mul(x, other, mul(x, other));
      check_mul(other, x, mul(other, x));
    }
    // Rows that lie apart, and every other element of longer ones.
    const TensorBase wide = make({3, 500, 2 * n + 1});
    const DimVector strides{500 * (2 * n + 1), 2 * n + 1, 1},
        sparse{500 * (2 * n + 1), 2 * n + 1, 2};
    const TensorBase apart = make_view(wide, {3, 500, n}, strides, 1);
    const TensorBase every = make_view(wide, {3, 500, n}, sparse, 0);
    check_mul(x, apart, mul(x, apart));
    check_mul(every, x, mul(every, x));
  }
}

TEST_CASE("bfloat16 conversions of every pattern", "[iterator]") {
  std::vector<float> single;
  for (uint32_t high = 0; high < 65536; ++high) {
    for (const uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      single.push_back(std::bit_cast<float>(high << 16 | low));
  }
  single.resize(single.size() - 1);  // a length that no vector divides
  std::vector<uint16_t> narrow(single.size());
  const auto n = static_cast<int64_t>(single.size());
  native::converter(kBFloat16, kFloat)(narrow.data(), single.data(), n);
  std::vector<float> wide(single.size());
  native::converter(kFloat, kBFloat16)(wide.data(), narrow.data(), n);
  for (size_t i = 0; i < single.size(); ++i) {
    if (narrow[i] == BFloat16::from_float(single[i]) &&
        std::bit_cast<uint32_t>(wide[i]) == static_cast<uint32_t>(narrow[i]) << 16) {
      continue;
    }
    INFO(std::hexfloat << single[i] << " gives " << narrow[i] << " and back " << wide[i]);
    REQUIRE(false);
  }
}

TEST_CASE("operands of two bytes are multiplied where they are", "[pointwise]") {
  for (const ScalarType dtype : {kHalf, kBFloat16}) {
    CAPTURE(dtype);
    const auto bits_at = [](const TensorBase& t, int64_t i) {
      return static_cast<const uint16_t*>(t.const_data_ptr())[i];
    };
    const auto value_of = [&](uint16_t bits) {
      return dtype == kHalf ? Half::to_float(bits) : std::bit_cast<float>(uint32_t{bits} << 16);
    };
    const auto bits_of = [&](float v) {
      return dtype == kHalf ? Half::from_float(v) : BFloat16::from_float(v);
    };
    const auto same = [&](uint16_t got, float expected) {
      return std::isnan(expected) ? std::isnan(value_of(got)) : got == bits_of(expected);
    };
    // Every pattern, NaN and numbers of reduced precision among them, times others.
    const TensorBase every = empty({65536 + 3}, dtype, kCPU),
                     other = empty({65536 + 3}, dtype, kCPU);
    for (int64_t i = 0; i < every.numel(); ++i) {
      static_cast<uint16_t*>(every.data_ptr())[i] = static_cast<uint16_t>(i);
      static_cast<uint16_t*>(other.data_ptr())[i] = static_cast<uint16_t>(i * 40503 + 12345);
    }
    const auto count_wrong = [&](int64_t n, int64_t first, int64_t step, bool single,
                                 bool in_place) {
      const TensorBase a = make_view(every, {n}, {step}, first);
      const TensorBase b =
          single ? make_view(other, {}, {}, 5) : make_view(other, {n}, {1}, first / 2);
      std::vector<float> expected;
      for (int64_t i = 0; i < n; ++i)
        expected.push_back(value_of(bits_at(a, i * step)) * value_of(bits_at(b, single ? 0 : i)));
      const TensorBase* inputs[] = {&a, &b};
      if (in_place) pointwise_inplace(mul_op, inputs);
      const TensorBase out = in_place ? a : mul(a, b);
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) wrong += !same(bits_at(out, i * out.stride(0)), expected[i]);
      return wrong;
    };
    for (const bool single : {false, true}) {
      CHECK(count_wrong(65536, 0, 1, single, false) == 0);
      for (int64_t n = 1; n < 70; ++n) {
        CAPTURE(n, single);
        CHECK(count_wrong(n, 1, 1, single, false) == 0);
        CHECK(count_wrong(n, 64 - n / 2, 3, single, false) == 0);
        CHECK(count_wrong(n, n, 1, single, true) == 0);
      }
    }
  }
}

TEST_CASE("bytes are multiplied as bytes", "[pointwise]") {
  for (const ScalarType dtype : {kByte, kChar}) {
    CAPTURE(dtype);
    // Every pair; the last is not of a vector.
    const TensorBase a = empty({65536 + 1}, dtype, kCPU), b = empty({65536 + 1}, dtype, kCPU);
    const auto at = [](const TensorBase& t, int64_t i) -> uint8_t& {
      return static_cast<uint8_t*>(t.data_ptr())[i];
    };
    for (int64_t i = 0; i < a.numel(); ++i) {
      at(a, i) = static_cast<uint8_t>(i >> 8);
      at(b, i) = static_cast<uint8_t>(i);
    }
    for (const int64_t n : {int64_t{1}, int64_t{15}, int64_t{65}, int64_t{200}, a.numel()}) {
      CAPTURE(n);
      const TensorBase x = make_view(a, {n}, {1}, a.numel() - n),
                       y = make_view(b, {n}, {1}, a.numel() - n);
      for (const TensorBase& other : {y, make_view(b, {}, {}, 77)}) {
        const TensorBase out = mul(x, other);
        REQUIRE(out.scalar_type() == dtype);
        int64_t wrong = 0;
        for (int64_t i = 0; i < n; ++i) {
          const int product = at(x, i) * at(other, other.dim() == 0 ? 0 : i);
          wrong += at(out, i) != static_cast<uint8_t>(product);
        }
        CHECK(wrong == 0);
      }
    }
  }
}
