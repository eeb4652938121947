#pragma once

#include "autograd/node.h"

namespace tenon::autograd {

/// A tensor kept for backward. An input is kept as it is; an operator's own result is kept without its
/// history, which would be a cycle, and gets it back when unpacked. Errors on unpacking: the graph has
/// been freed; the tensor has been changed in place since.
class TENON_API SavedVariable {
 public:
  SavedVariable() = default;
  SavedVariable(const Tensor& tensor, bool is_own_result);

  /// The tensor; `saved_for` is the node it was saved by.
  Tensor unpack(const Node& saved_for) const;
  void reset() { data_.reset(); }

 private:
  Tensor data_;
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool was_defined_ = false;
  bool is_own_result_ = false;
  bool requires_grad_ = false;
};

}  // namespace tenon::autograd
