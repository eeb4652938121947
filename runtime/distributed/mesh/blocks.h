#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::distributed::detail {

/// ValueError "[what] ..." unless it is a tensor of the CPU or of a GPU.
void check_tensor(const char* what, const Tensor& t);
/// The same of all, and TypeError unless they have the dtype of `like`.
void check_tensors(const char* what, const std::vector<Tensor>& tensors, const Tensor& like);
/// "Float [2, 3]"
std::string describe(const Tensor& t);
/// The ranges may overlap: in a group of one a tensor may be its own source.
void copy(char* to, std::string_view from);

/// The elements of a tensor one after another in the host's memory, and back. Memory is written
/// without counting as an in-place change: autograd need not know that buffers of another rank
/// arrived. Those of a GPU are copied in its current stream.
class Dense {
 public:
  /// `read`: whether it begins as what the tensor holds.
  explicit Dense(const Tensor& t, bool read = true);
  char* data() const { return static_cast<char*>(dense_.data_ptr()); }
  size_t bytes() const { return dense_.nbytes(); }
  std::string_view view() const { return {data(), bytes()}; }
  void write_back() const;

 private:
  Tensor tensor_, dense_;
};

/// Tensors as one block of bytes of the host: their own memory if they lie in it one after another.
class Block {
 public:
  /// `read`: whether the block begins as what the tensors hold.
  Block(const std::vector<Tensor>& tensors, bool read);
  char* data() const { return data_; }
  std::string_view view() const { return {data_, bytes_}; }
  void write_back() const;

 private:
  const std::vector<Tensor> tensors_;
  size_t bytes_ = 0;
  char* data_ = nullptr;
  std::unique_ptr<char[]> own_;
};

}  // namespace tenon::distributed::detail
