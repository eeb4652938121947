#include "tenon/native/tril_indices.h"

#include <algorithm>

#include "aten/composite/factory_options.h"
#include "tenon/native/triu_indices.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// How many places of a [rows, columns] matrix are in columns up to i + offset of row i.
int64_t places_below(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t begin = std::clamp<int64_t>(-offset, 0, rows);
  const int64_t full = std::clamp<int64_t>(columns - offset - 1, begin, rows);
  return (full - begin) * (begin + full + 2 * offset + 1) / 2 + (rows - full) * columns;
}

/// The places of a triangle of a [rows, columns] matrix, row by row: [2, n]. Row i of the lower one
/// ends, of the upper one begins at column i + offset.
Tensor triangle(const char* op, bool lower, int64_t rows, int64_t columns, int64_t offset,
                std::optional<ScalarType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = native::factory_options(op, dtype, layout, device, pin_memory, kLong);
  TENON_CHECK(rows >= 0 && columns >= 0, "[", op, "] row and col must be non-negative, got ", rows,
              " and ", columns);
  TENON_CHECK(o.dtype == kLong || o.dtype == kInt, "[", op, "] not implemented for '", o.dtype,
              "', expected Int or Long");
  const int64_t reach = rows + columns;  // beyond which an offset changes nothing
  const int64_t at = std::clamp(offset, -reach, reach);
  const auto bounds = [&](int64_t i) {
    const int64_t edge = std::clamp<int64_t>(i + at + lower, 0, columns);
    return lower ? std::pair<int64_t, int64_t>(0, edge)
                 : std::pair<int64_t, int64_t>(edge, columns);
  };
  // Rows that have places: the others may be many.
  const int64_t begin = lower ? std::clamp<int64_t>(-at, 0, rows) : 0;
  const int64_t end = lower ? rows : std::clamp<int64_t>(columns - at, 0, rows);
  // The upper triangle is in rows up to `end`.
  const int64_t height = lower ? rows : end;
  int64_t all = 0;
  TENON_CHECK(!__builtin_mul_overflow(height, columns, &all), "[", op, "] a matrix of ", height,
              " x ", columns, " has too many elements");
  const int64_t below = places_below(height, columns, lower ? at : at - 1);
  const int64_t count = lower ? below : all - below;
  const Tensor places(tenon::empty({2, count}, kLong, kCPU));
  auto* to = static_cast<int64_t*>(places.data_ptr());
  int64_t n = 0;
  for (int64_t i = begin; i < end && columns > 0; ++i) {
    const auto [first, last] = bounds(i);
    for (int64_t j = first; j < last; ++j, ++n) {
      to[n] = i;
      to[count + n] = j;
    }
  }
  return places.to(o.device, o.dtype);
}

}  // namespace

Tensor native::tril_indices(int64_t row, int64_t col, int64_t offset,
                            std::optional<ScalarType> dtype, std::optional<Layout> layout,
                            std::optional<Device> device, std::optional<bool> pin_memory) {
  return triangle("tril_indices", true, row, col, offset, dtype, layout, device, pin_memory);
}

Tensor native::triu_indices(int64_t row, int64_t col, int64_t offset,
                            std::optional<ScalarType> dtype, std::optional<Layout> layout,
                            std::optional<Device> device, std::optional<bool> pin_memory) {
  return triangle("triu_indices", false, row, col, offset, dtype, layout, device, pin_memory);
}

}  // namespace tenon
