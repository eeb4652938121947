#include "tenon/native/tensor_split.h"

#include "tenon/ops/tensor_split.h"

namespace tenon {

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
  TENON_CHECK(given.is_cpu(),
              "[tensor_split] tensor_split expected tensor_indices_or_sections to be on cpu, but "
              "it's on ",
              given.device());
  TENON_CHECK(given.scalar_type() == kLong,
              "[tensor_split] tensor_split expected tensor_indices_or_sections to have dtype of "
              "long, but got ",
              given.scalar_type());
  TENON_CHECK(given.dim() <= 1,
              "[tensor_split] tensor_split expected tensor_indices_or_sections to be a zero-"
              "dimensional or one-dimensional tensor, but got a tensor with ",
              given.dim(), " dims");
  const Tensor values = given.resolve_neg().contiguous();
  const auto* numbers = static_cast<const int64_t*>(values.const_data_ptr());
  if (given.dim() == 0) return tensor_split(self, numbers[0], dim);
  return tensor_split(self, IntArrayRef(numbers, static_cast<size_t>(values.numel())), dim);
}

}  // namespace tenon
