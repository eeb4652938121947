#pragma once

#include <optional>
#include <string>

#include "runtime/data/datasets/dataset.h"

namespace tenon::data::datasets {

namespace detail {
/// Images and labels of the files `root`/`prefix`-images-idx3-ubyte and -labels-idx1-ubyte, with
/// ".gz" or without: Float [N, 1, H, W] in [0, 1] and Long [N]. Error "[`dataset`] ..." if a file
/// is absent, followed by `advice`, or holds something else.
TENON_API Example<> read_labelled_images(const char* dataset, const std::string& root,
                                         const char* prefix, const char* advice);
}  // namespace detail

/// MNIST (LeCun, Cortes, Burges): 60,000 training and 10,000 test images of handwritten digits.
/// Data are Float [1, 28, 28] in [0, 1], targets Long [].
class TENON_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads the files of the original, compressed or not, from the folder `root`.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(images_.size(0)); }

  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  /// All images, [N, 1, 28, 28].
  const Tensor& images() const { return images_; }
  /// All targets, [N].
  const Tensor& targets() const { return targets_; }

 private:
  Mode mode_;
  Tensor images_, targets_;
};

}  // namespace tenon::data::datasets
