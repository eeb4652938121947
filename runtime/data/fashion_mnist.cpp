#include "runtime/data/fashion_mnist.h"

#include <filesystem>

#include "runtime/data/idx.h"

namespace tenon::data::datasets {
namespace {

/// The path, with ".gz" or without, whichever is there.
std::string present(const std::string& path) {
  for (const char* ending : {".gz", ""}) {
    if (std::filesystem::exists(path + ending)) return path + ending;
  }
  tenon::detail::raise<Error>(
      "[FashionMNIST] ", path,
      ".gz is not there. On Debian and Ubuntu: apt-get install "
      "dataset-fashion-mnist. Elsewhere: download the four *-ubyte.gz files from "
      "https://github.com/zalandoresearch/fashion-mnist and name their folder.");
}

Tensor images_of(const std::string& path) {
  const Tensor images = read_idx(path);
  TENON_CHECK(images.dim() == 3 && images.dtype() == kByte, "[FashionMNIST] '", path,
              "' should hold Byte images [N, 28, 28], got ", images.dtype(), " ", images.sizes());
  return images.to(kFloat).div_(255).unsqueeze(1);
}

Tensor labels_of(const std::string& path) {
  const Tensor labels = read_idx(path);
  TENON_CHECK(labels.dim() == 1 && labels.dtype() == kByte, "[FashionMNIST] '", path,
              "' should hold Byte labels [N], got ", labels.dtype(), " ", labels.sizes());
  return labels.to(kLong);
}

Example rows_of(const std::string& root, FashionMNIST::Mode mode) {
  const std::string prefix = root + (mode == FashionMNIST::Mode::Train ? "/train" : "/t10k");
  Tensor images = images_of(present(prefix + "-images-idx3-ubyte"));
  return {std::move(images), labels_of(present(prefix + "-labels-idx1-ubyte"))};
}

}  // namespace

FashionMNIST::FashionMNIST(const std::string& root, Mode mode)
    : TensorDataset(rows_of(root, mode)) {}

}  // namespace tenon::data::datasets
