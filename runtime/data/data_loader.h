#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "aten/core/generator.h"
#include "runtime/data/dataset.h"
#include "runtime/nn/arg.h"

namespace tenon::data {

class DataLoaderOptions {
 public:
  DataLoaderOptions(int64_t batch_size = 1) : batch_size_(batch_size) {}
  TENON_ARG(int64_t, batch_size);
  TENON_ARG(bool, shuffle) = false;
  /// Leaves out a last batch that is smaller.
  TENON_ARG(bool, drop_last) = false;
  /// Where the shuffling's seed comes from; by default the default generator.
  TENON_ARG(std::optional<Generator>, generator) = std::nullopt;
};

/// Goes through a data set in batches; each loop over it is an epoch, shuffled anew. For a given
/// seed the order is that of PyTorch's DataLoader.
///     for (const Example& batch : loader) ...
class TENON_API DataLoader {
 public:
  /// The data set must outlive the loader. ValueError for a batch size below 1.
  DataLoader(const Dataset& dataset, DataLoaderOptions options);
  /// A temporary does not outlive it.
  DataLoader(const Dataset&& dataset, DataLoaderOptions options) = delete;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Example;
    using difference_type = std::ptrdiff_t;
    using pointer = const Example*;
    using reference = const Example&;

    reference operator*() const { return *example_; }
    pointer operator->() const { return &*example_; }
    TENON_API Iterator& operator++();
    bool operator==(const Iterator& other) const { return batch_ == other.batch_; }

   private:
    friend class DataLoader;
    Iterator(const DataLoader* loader, int64_t batch) : loader_(loader), batch_(batch) {}
    void load();

    const DataLoader* loader_;
    int64_t batch_;
    std::shared_ptr<const std::vector<int64_t>> order_;
    std::optional<Example> example_;
  };

  Iterator begin() const { return begin(0); }
  /// The epoch from that batch on: what goes on where an interrupted one stopped, if the generator
  /// is in the state in which that one began. ValueError for a batch outside [0, size()].
  Iterator begin(int64_t first_batch) const;
  Iterator end() const { return {this, size()}; }
  /// Number of batches.
  int64_t size() const;

 private:
  std::vector<int64_t> make_order() const;

  const Dataset& dataset_;
  DataLoaderOptions options_;
};

}  // namespace tenon::data
