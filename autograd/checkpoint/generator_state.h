#pragma once

#include <mutex>

#include "aten/core/generator.h"

namespace tenon::autograd {

/// What a generator will draw.
class GeneratorState {
 public:
  explicit GeneratorState(const Generator& generator)
      : GeneratorState(generator, std::lock_guard(generator->mutex)) {}
  const Generator& generator() const { return generator_; }
  void restore() const {
    const std::lock_guard lock(generator_->mutex);
    generator_->seed = seed_;
    generator_->offset = offset_;
    generator_->engine = engine_;
    generator_->next_float_normal = next_float_normal_;
    generator_->next_double_normal = next_double_normal_;
  }
  friend bool operator==(const GeneratorState& a, const GeneratorState& b) {
    return a.seed_ == b.seed_ && a.offset_ == b.offset_ &&
           a.engine_.position() == b.engine_.position() && a.engine_.words() == b.engine_.words() &&
           a.next_float_normal_ == b.next_float_normal_ &&
           a.next_double_normal_ == b.next_double_normal_;
  }

 private:
  GeneratorState(const Generator& generator, const std::lock_guard<std::mutex>& /*held*/)
      : generator_(generator), seed_(generator->seed), offset_(generator->offset),
        engine_(generator->engine), next_float_normal_(generator->next_float_normal),
        next_double_normal_(generator->next_double_normal) {}

  Generator generator_;
  uint64_t seed_;
  uint64_t offset_;
  Mt19937 engine_;
  std::optional<float> next_float_normal_;
  std::optional<double> next_double_normal_;
};

}  // namespace tenon::autograd
