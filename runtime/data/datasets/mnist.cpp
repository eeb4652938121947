#include "runtime/data/datasets/mnist.h"

#include <filesystem>

#include "runtime/data/datasets/idx.h"
#include "tenon/ops/div.h"
#include "tenon/ops/select.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::data::datasets {

Example<> detail::read_labelled_images(const char* dataset, const std::string& root,
                                       const char* prefix, const char* advice) {
  const auto read = [&](const char* ending, int64_t dim) {
    const std::string path = root + '/' + prefix + ending;
    std::string present = path + ".gz";
    if (!std::filesystem::exists(present)) present = path;
    TENON_CHECK(std::filesystem::exists(present), "[", dataset, "] ", path,
                ".gz is not there, nor without .gz. ", advice);
    Tensor values = read_idx(present);
    TENON_CHECK(values.dim() == dim && values.dtype() == kByte, "[", dataset, "] '", present,
                "' should hold Byte values of ", dim, " dimensions, got ", values.dtype(), " ",
                values.sizes());
    return values;
  };
  const Tensor images = read("-images-idx3-ubyte", 3);
  const Tensor labels = read("-labels-idx1-ubyte", 1);
  TENON_CHECK(images.size(0) == labels.size(0), "[", dataset, "] there are ", images.size(0),
              " images and ", labels.size(0), " labels in ", root);
  return {images.to(kFloat).div_(255).unsqueeze(1), labels.to(kLong)};
}

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  Example<> all = detail::read_labelled_images(
      "MNIST", root, mode == Mode::kTrain ? "train" : "t10k",
      "Name the folder of the four *-ubyte files from http://yann.lecun.com/exdb/mnist.");
  images_ = std::move(all.data);
  targets_ = std::move(all.target);
}

Example<> MNIST::get(size_t index) {
  const auto i = static_cast<int64_t>(index);
  return {images_.select(0, i), targets_.select(0, i)};
}

}  // namespace tenon::data::datasets
