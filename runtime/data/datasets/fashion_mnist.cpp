#include "runtime/data/datasets/fashion_mnist.h"

#include "runtime/data/datasets/mnist.h"
#include "tenon/ops/select.h"

namespace tenon::data::datasets {

FashionMNIST::FashionMNIST(const std::string& root, Mode mode) {
  Example<> all = detail::read_labelled_images(
      "FashionMNIST", root, mode == Mode::kTrain ? "train" : "t10k",
      "On Debian and Ubuntu: apt-get install dataset-fashion-mnist. Elsewhere: download the four "
      "*-ubyte.gz files from https://github.com/zalandoresearch/fashion-mnist and name their "
      "folder.");
  images_ = std::move(all.data);
  targets_ = std::move(all.target);
}

Example<> FashionMNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_.select(0, i), targets_.select(0, i)};
}

}  // namespace tenon::data::datasets
