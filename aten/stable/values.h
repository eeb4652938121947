#pragma once

#include <deque>

#include "aten/dispatch/operator_entry.h"
#include "aten/stable/interface.h"

namespace tenon::stable_interface {

inline TenonTensor handle(TensorImpl* impl) { return reinterpret_cast<TenonTensor>(impl); }
inline TensorImpl* impl_of(TenonTensor tensor) { return reinterpret_cast<TensorImpl*>(tensor); }
inline TenonOperator handle(const OperatorEntry& op) {
  return reinterpret_cast<TenonOperator>(&op);
}
inline const OperatorEntry& entry_of(TenonOperator op) {
  return *reinterpret_cast<const OperatorEntry*>(op);
}

/// Values of a boxed call as a library is shown them; valid as long as the values and this live.
/// NotImplementedError for a kind that the interface does not have.
class Lent {
 public:
  Lent(const Value* values, size_t count);
  const TenonValue* data() const { return values_.data(); }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }

 private:
  TenonValue lend(const Value& value);

  std::vector<TenonValue> values_;
  std::deque<std::vector<uint8_t>> bools_;
  std::deque<std::vector<TenonTensor>> tensors_;
};

/// The results of a library's function, released unless they are taken.
class Results {
 public:
  explicit Results(size_t count) : values_(count, TenonValue{}) {}
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  TenonValue* data() { return values_.data(); }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  Value take(size_t i);

 private:
  std::vector<TenonValue> values_;
};

/// A value of a library, which keeps it. TypeError for an unknown kind.
Value read(const TenonValue& value);
/// A value for a library, which is to release it.
TenonValue give(const Value& value);
void release(TenonValue& value) noexcept;

}  // namespace tenon::stable_interface
