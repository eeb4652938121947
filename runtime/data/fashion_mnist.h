#pragma once

#include "runtime/data/dataset.h"

namespace tenon::data::datasets {

/// Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 60,000 training and 10,000 test images of ten kinds
/// of clothing. Data are Float [N, 1, 28, 28] in [0, 1], targets Long [N].
class TENON_API FashionMNIST : public TensorDataset {
 public:
  enum class Mode : uint8_t { Train, Test };
  /// Where Debian's package dataset-fashion-mnist puts it.
  static constexpr const char* kDefaultRoot = "/usr/share/datasets/fashion-mnist";

  /// Reads the four files of the original, compressed or not, from `root`. An Error says how to
  /// install them where they are absent.
  explicit FashionMNIST(const std::string& root = kDefaultRoot, Mode mode = Mode::Train);
};

}  // namespace tenon::data::datasets
