#include "tenon/native/tensor_split.h"

#include <algorithm>

#include "tenon/native/dsplit.h"
#include "tenon/native/hsplit.h"
#include "tenon/native/vsplit.h"
#include "tenon/ops/tensor_split.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// hsplit, vsplit and dsplit: along `dim`, of a tensor of at least `least` dimensions.
void check_dims(const char* op, const Tensor& self, int64_t least) {
  TENON_CHECK(self.dim() >= least, "[", op, "] torch.", op, " requires a tensor with at least ",
              least, " dimension, but got a tensor with ", self.dim(), " dimensions!");
}

std::vector<Tensor> evenly(const char* op, const Tensor& self, int64_t sections, int64_t least,
                           int64_t dim) {
  check_dims(op, self, least);
  TENON_CHECK(sections > 0 && self.size(dim) % sections == 0, "[", op, "] torch.", op,
              " attempted to split along dimension ", dim, ", but the size of the dimension ",
              self.size(dim), " is not divisible by the split_size ", sections, "!");
  return tensor_split(self, sections, dim);
}

std::vector<Tensor> at(const char* op, const Tensor& self, IntArrayRef indices, int64_t least,
                       int64_t dim) {
  check_dims(op, self, least);
  return tensor_split(self, indices, dim);
}

/// The dimension from left to right: the second, of a vector the only one.
int64_t across(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

}  // namespace

/// As many parts as asked for; the first ones are longer by one where they do not come out even.
std::vector<Tensor> native::tensor_split_sections(const Tensor& self, int64_t sections,
                                                  int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[tensor_split] tensor_split expected at least a 1-dimensional "
                              "tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  TENON_CHECK(sections > 0, "[tensor_split] number of sections must be larger than 0, got ",
              sections);
  std::vector<Tensor> parts;
  // More parts than memory holds are an error here, not after all memory is used.
  TENON_CHECK(static_cast<uint64_t>(sections) <= parts.max_size(), "[tensor_split] cannot make ",
              sections, " parts");
  parts.reserve(static_cast<size_t>(sections));
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = n / sections + (i < n % sections);
    parts.push_back(self.slice(d, start, start + length));
    start += length;
  }
  return parts;
}

/// The parts between the indices, which are read as a slice's ends.
std::vector<Tensor> native::tensor_split_indices(const Tensor& self, IntArrayRef indices,
                                                 int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[tensor_split] tensor_split expected at least a 1-dimensional "
                              "tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (const int64_t end : indices) {
    parts.push_back(self.slice(d, start, end));
    start = end;
  }
  parts.push_back(self.slice(d, start));
  return parts;
}

std::vector<Tensor> native::tensor_split_tensor_indices_or_sections(const Tensor& self,
                                                                    const Tensor& given,
                                                                    int64_t dim) {
  TENON_CHECK(given.is_cpu() && given.scalar_type() == kLong,
              "[tensor_split] tensor_split expected tensor_indices_or_sections to be a Long tensor "
              "on cpu, but got ",
              given.scalar_type(), " on ", given.device());
  TENON_CHECK(given.dim() <= 1,
              "[tensor_split] tensor_split expected tensor_indices_or_sections to be a zero-"
              "dimensional or one-dimensional tensor, but got a tensor with ",
              given.dim(), " dims");
  const Tensor values = given.contiguous();
  const auto* numbers = static_cast<const int64_t*>(values.const_data_ptr());
  if (given.dim() == 0) return tensor_split(self, numbers[0], dim);
  return tensor_split(self, IntArrayRef(numbers, static_cast<size_t>(values.numel())), dim);
}

std::vector<Tensor> native::hsplit_int(const Tensor& self, int64_t sections) {
  return evenly("hsplit", self, sections, 1, across(self));
}

std::vector<Tensor> native::hsplit_array(const Tensor& self, IntArrayRef indices) {
  return at("hsplit", self, indices, 1, across(self));
}

std::vector<Tensor> native::vsplit_int(const Tensor& self, int64_t sections) {
  return evenly("vsplit", self, sections, 2, 0);
}

std::vector<Tensor> native::vsplit_array(const Tensor& self, IntArrayRef indices) {
  return at("vsplit", self, indices, 2, 0);
}

std::vector<Tensor> native::dsplit_int(const Tensor& self, int64_t sections) {
  return evenly("dsplit", self, sections, 3, 2);
}

std::vector<Tensor> native::dsplit_array(const Tensor& self, IntArrayRef indices) {
  return at("dsplit", self, indices, 3, 2);
}

}  // namespace tenon
