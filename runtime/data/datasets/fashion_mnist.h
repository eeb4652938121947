#pragma once

#include <optional>
#include <string>

#include "runtime/data/datasets/dataset.h"

namespace tenon::data::datasets {

/// Fashion-MNIST (Xiao, Rasul, Vollgraf 2017): 60,000 training and 10,000 test images of ten kinds
/// of clothing. Data are Float [1, 28, 28] in [0, 1], targets Long [].
class TENON_API FashionMNIST : public Dataset<FashionMNIST> {
 public:
  enum class Mode { kTrain, kTest };
  /// The folder of Debian's package dataset-fashion-mnist.
  static constexpr const char* kDefaultRoot = "/usr/share/datasets/fashion-mnist";

  /// Reads the four files of the original, compressed or not, from `root`. If they are absent, the
  /// Error says how to install them.
  explicit FashionMNIST(const std::string& root = kDefaultRoot, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

  /// All images, [N, 1, 28, 28].
  const Tensor& images() const { return images_; }
  /// All targets, [N].
  const Tensor& targets() const { return targets_; }

 private:
  Tensor images_, targets_;
};

}  // namespace tenon::data::datasets
