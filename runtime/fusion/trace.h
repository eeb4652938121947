#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "aten/dispatch/operator_mode.h"
#include "aten/dispatch/registration.h"
#include "runtime/fusion/trace_function.h"

namespace tenon::fusion {

using schema::FunctionSchema;

Tensor on_meta(const TensorBase& t);
/// Whether they are views of one memory with the same strides.
bool is_same_place(const TensorBase& a, const TensorBase& b);
/// Whether a composition can have the arguments: no complex numbers, no generators.
bool can_be_written(const FunctionSchema& schema, const Stack& stack, size_t first);

/// Records calls as the locals of a composition.
class Trace final : public OperatorMode {
 public:
  explicit Trace(const std::vector<Tensor>& inputs);

  const std::vector<Tensor>& inputs() const { return inputs_; }

  void call(const OperatorEntry& op, Stack& stack) override;
  /// The function whose results these are.
  TracedFunction finish(const std::vector<Tensor>& results);

 private:
  /// How a composition writes a tensor.
  struct Written {
    std::string text;
    bool is_hidden = false;  ///< it was computed while no gradient is recorded
  };

  /// An operator that is called between compositions.
  struct Between {
    size_t num_locals;  ///< before it
    TracedStep step;
    std::vector<std::string> arguments, results;  ///< names of its tensors
  };
  /// A tensor whose parts along a dimension are computed apart.
  struct Pieces {
    int64_t dim;  ///< from the end: -1 is the last
    std::vector<TensorBase> parts;
  };
  /// An operator of elements and its operands.
  struct Maker {
    const OperatorEntry* op;
    Stack arguments;
  };
  using Part = std::tuple<const TensorImpl*, int64_t, int64_t, int64_t>;
  using Change = std::function<TensorBase(const TensorBase&)>;

  void know(const TensorBase& t, Written written);
  void note_dtype(const TensorBase& t);
  std::string add_local(std::string text);
  bool is_hidden() const { return records_ && !GradMode::is_enabled(); }

  TensorBase traced(const TensorBase& t);
  std::string text_of(const TensorBase& t);
  void replace_tensors(Value& value);
  bool reads_traced(const Stack& stack, size_t first) const;
  void write(const OperatorEntry& op, const FunctionSchema& schema, const TensorBase& self,
             Stack& stack, size_t first);
  std::string conversion_text(const TensorBase& self, const TensorBase& made);
  std::string call_text(const OperatorEntry& op, const FunctionSchema& schema, const Stack& stack,
                        size_t first);
  void note_results(const Stack& stack, size_t first, const FunctionSchema& schema,
                    const std::string& text);
  void note_result(const TensorBase& result, const std::string& text);
  void call_between(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                    size_t first);
  bool writes_to_given(const FunctionSchema& schema, const Stack& stack, size_t first) const;
  void check_is_alone(const OperatorEntry& op, const TensorBase& self) const;

  // Operators of elements in the shape of their operands' kernels.
  void note_views(const OperatorEntry& op, const FunctionSchema& schema, const Stack& given,
                  const Value& result);
  void forget_views();
  bool call_before_view(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                        size_t first);
  bool call_on_pieces(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                      size_t first);
  TensorBase call_with(const OperatorEntry& op, const FunctionSchema& schema, const Stack& stack,
                       size_t first, const Change& change);
  TensorBase reshaped(const TensorBase& t, IntArrayRef sizes);
  TensorBase narrowed(const TensorBase& t, int64_t dim, int64_t start, int64_t length);

  std::string name_of(const TensorBase& t);
  TracedStep composition(const std::vector<std::string>& results, size_t begin, size_t end,
                         std::vector<std::string>& arguments) const;

  std::vector<Tensor> inputs_;
  std::vector<TensorBase> kept_;  // so that no other tensor takes the place of one
  std::unordered_map<const TensorImpl*, Written> texts_;
  std::unordered_set<const TensorImpl*> fixed_;      // inputs and captured tensors
  std::unordered_set<const TensorImpl*> constants_;  // made by the function from no tensor
  std::unordered_map<const TensorImpl*, TensorBase> stand_ins_;  // of constants that were changed
  std::vector<std::pair<Tensor, Tensor>> captured_;              // and on meta
  std::vector<std::pair<std::string, std::string>> locals_;
  std::vector<ScalarType> dtypes_;
  std::map<std::string, std::vector<int64_t>> sizes_;  // of what has a name
  std::vector<Between> between_;
  std::unordered_set<const TensorImpl*> of_rows_;              // that a kernel of rows computes
  std::unordered_map<const TensorImpl*, TensorBase> sources_;  // of reshaped ones
  std::unordered_map<const TensorImpl*, Pieces> pieces_;
  std::unordered_map<const TensorImpl*, Maker> makers_;
  std::map<Part, TensorBase> parts_;  // along a dimension: start and length
  Device device_ = kCPU;              // which is that of meta tensors here
  bool records_ = GradMode::is_enabled();
  bool has_gradients_ = false;  // of an input
  bool depends_on_gradients_ = false;
};

}  // namespace tenon::fusion
