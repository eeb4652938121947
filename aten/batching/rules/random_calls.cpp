#include "aten/batching/rules/random_calls.h"

#include "aten/core/error.h"
#include "aten/core/thread_state.h"
#include "tenon/ops/stack.h"

namespace tenon::batching {
namespace {

/// Until the end of the scope random operators are not looked at before all others.
class WithoutMode {
 public:
  WithoutMode() : previous_(thread_state.enabled_layers) {
    thread_state.enabled_layers &=
        static_cast<uint8_t>(~DispatchKeySet(DispatchLayer::BatchedMode).layers);
    thread_state.refresh();
  }
  ~WithoutMode() {
    thread_state.enabled_layers = previous_;
    thread_state.refresh();
  }
  WithoutMode(const WithoutMode&) = delete;
  WithoutMode& operator=(const WithoutMode&) = delete;

 private:
  uint8_t previous_;
};

std::string short_name(const OperatorEntry& op) {
  const std::string_view full = op.info->name;
  return std::string(full.starts_with("aten::") ? full.substr(6) : full);
}

/// The index of the argument of this name, or -1.
int index_of(const schema::FunctionSchema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (schema.args[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

/// One draw of the whole batch, of an operator whose arguments are the same for all examples.
void draw_for_each(const OperatorEntry& op, const schema::FunctionSchema& schema, Value* arguments,
                   const Level& level, Stack& stack) {
  const size_t count = schema.args.size();
  for (size_t i = 0; i < count; ++i) {
    TENON_CHECK(!schema.args[i].is_mutable(), "vmap: [", short_name(op), "] changes '",
                schema.args[i].name,
                "' in place, which is not batched, and randomness='different' asks for other "
                "numbers in each example. Use a tensor that is batched, or randomness='same'");
  }
  for (size_t i = 0; i < count; ++i) {
    if (!arguments[i].is_tensor()) continue;
    const Tensor t(arguments[i].to_tensor());
    arguments[i] = make_batched(batch_in_front(t, *level), level);
    const WithoutMode without;
    return op.call_boxed(stack);
  }
  const int size = index_of(schema, "size");
  std::vector<Value> given(arguments, arguments + count);
  stack.resize(stack.size() - count);
  const BelowLevel below(*level);
  if (size >= 0) {
    Value::Ints sizes = given[static_cast<size_t>(size)].to_ints();
    sizes.insert(sizes.begin(), level->size);
    given[static_cast<size_t>(size)] = sizes;
    op.call_boxed(given);
    stack.push_back(make_batched(given.at(0).to_tensor(), level));
    return;
  }
  std::vector<Tensor> all;  // randperm
  for (int64_t k = 0; k < level->size; ++k) {
    Stack one = given;
    op.call_boxed(one);
    all.emplace_back(one.at(0).to_tensor());
  }
  stack.push_back(make_batched(tenon::stack(all, 0), level));
}

}  // namespace

void check_randomness(const Call& call) {
  TENON_CHECK(call.level()->randomness != BatchRandomness::Error, "vmap: called random operation [",
              call.name(),
              "] while in randomness error mode. Please either use the 'same' or 'different' "
              "randomness flags on vmap or perform the randomness operation out of vmap");
  TENON_CHECK(call.level()->randomness != BatchRandomness::Same, "vmap: [", call.name(),
              "] does not support same randomness with a batched tensor input");
}

void run_random(const OperatorEntry& op, const schema::FunctionSchema& schema, Stack& stack) {
  const size_t count = schema.args.size();
  Value* const arguments = stack.data() + stack.size() - count;
  const Level level = current_level();
  TENON_CHECK(level->randomness != BatchRandomness::Error, "vmap: called random operation [",
              short_name(op),
              "] while in randomness error mode. Please either use the 'same' or 'different' "
              "randomness flags on vmap or perform the randomness operation out of vmap");
  bool batched = false;
  for (size_t i = 0; i < count; ++i) {
    batched |= arguments[i].is_tensor() && is_batched_at(arguments[i].to_tensor(), *level);
  }
  if (batched) {
    const WithoutMode without;
    return op.call_boxed(stack);
  }
  if (level->randomness == BatchRandomness::Different)
    return draw_for_each(op, schema, arguments, level, stack);
  const BelowLevel below(*level);
  op.call_boxed(stack);
}

}  // namespace tenon::batching
