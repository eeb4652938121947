#include "runtime/distributed/mesh/blocks.h"

#include <cstring>

#include "tenon/ops/contiguous.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/to.h"

namespace tenon::distributed::detail {

void check_tensor(const char* what, const Tensor& t) {
  TENON_CHECK_VALUE(t.defined(), "[", what, "] expected a tensor, got an undefined one");
  TENON_CHECK_VALUE(t.is_cpu() || t.is_cuda(), "[", what,
                    "] expected a tensor of the CPU or of a GPU, got one of ", t.device());
}

void check_tensors(const char* what, const std::vector<Tensor>& tensors, const Tensor& like) {
  for (const Tensor& t : tensors) {
    check_tensor(what, t);
    TENON_CHECK_TYPE(t.scalar_type() == like.scalar_type(), "[", what,
                     "] expected all tensors to have one dtype, got ", like.scalar_type(), " and ",
                     t.scalar_type());
  }
}

std::string describe(const Tensor& t) {
  return tenon::detail::concat(t.scalar_type(), " ", t.sizes());
}

void copy(char* to, std::string_view from) {
  if (!from.empty()) std::memmove(to, from.data(), from.size());
}

namespace {

/// Whether the memory holds the elements in their order.
bool in_order(const Tensor& t) {
  return t.is_cpu() && t.is_contiguous() && !t.is_conj() && !t.is_neg();
}

}  // namespace

Dense::Dense(const Tensor& t, bool read)
    : tensor_(t), dense_(in_order(t) ? t
                         : read      ? t.to(kCPU).resolve_conj().resolve_neg().contiguous()
                                     : Tensor(empty(t.sizes(), TensorOptions(t.scalar_type())))) {}

void Dense::write_back() const {
  if (!dense_.is_same(tensor_)) tensor_.data().copy_(dense_);
}

Block::Block(const std::vector<Tensor>& tensors, bool read) : tensors_(tensors) {
  bool adjacent = true;
  const char* next = nullptr;
  for (const Tensor& t : tensors) {
    bytes_ += t.nbytes();
    if (t.numel() == 0) continue;
    adjacent = adjacent && in_order(t) && (!next || t.data_ptr() == next);
    if (!data_) data_ = static_cast<char*>(t.data_ptr());
    next = static_cast<const char*>(t.data_ptr()) + t.nbytes();
  }
  if (adjacent) return;
  // operator new aligns for every element type.
  own_.reset(new char[bytes_]);
  data_ = own_.get();
  if (!read) return;
  size_t at = 0;
  for (const Tensor& t : tensors) {
    const Dense dense(t);
    copy(data_ + at, dense.view());
    at += dense.bytes();
  }
}

void Block::write_back() const {
  if (!own_) return;
  size_t at = 0;
  for (const Tensor& t : tensors_) {
    if (t.numel() > 0) {
      const Dense dense(t, false);
      copy(dense.data(), {data_ + at, dense.bytes()});
      dense.write_back();
    }
    at += t.nbytes();
  }
}

}  // namespace tenon::distributed::detail
