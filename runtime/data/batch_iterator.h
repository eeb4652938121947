#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "aten/core/error.h"

namespace tenon::data {

/// Goes through the batches of a loader, once. Copies share the position. The end of a loader has
/// no position; an iterator equals it when there are no batches left.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  /// Gives the next batch, or nothing at the end.
  using BatchProducer = std::function<std::optional<Batch>()>;

  /// The end.
  Iterator() = default;
  explicit Iterator(BatchProducer next_batch)
      : position_(std::make_shared<Position>(std::move(next_batch))) {}

  /// Error past the end.
  Iterator& operator++() {
    TENON_CHECK(position_, "Incrementing the DataLoader's past-the-end iterator is not allowed");
    TENON_CHECK(position_->batch(), "Attempted to increment iterator past the end");
    position_->advance();
    return *this;
  }
  void operator++(int) { ++*this; }

  /// The batch, which the next increment drops. Error past the end.
  Batch& operator*() const {
    TENON_CHECK(position_, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    std::optional<Batch>& batch = position_->batch();
    TENON_CHECK(batch, "Attempted to dereference iterator that was past the end");
    return *batch;
  }
  Batch* operator->() const { return &**this; }

  /// May wait for the first batch.
  bool operator==(const Iterator& other) const {
    if (position_ && other.position_) return position_ == other.position_;
    return is_end() && other.is_end();
  }

 private:
  /// Takes the first batch when it is needed: an exception then comes from there.
  class Position {
   public:
    explicit Position(BatchProducer next_batch) : next_batch_(std::move(next_batch)) {}
    std::optional<Batch>& batch() {
      if (!begun_) advance();
      return batch_;
    }
    void advance() {
      batch_ = next_batch_();
      begun_ = true;
    }

   private:
    BatchProducer next_batch_;
    std::optional<Batch> batch_;
    bool begun_ = false;
  };

  bool is_end() const { return !position_ || !position_->batch(); }

  std::shared_ptr<Position> position_;
};

}  // namespace tenon::data
