#include "runtime/data/fashion_mnist.h"

#include <filesystem>

#include "runtime/data/idx.h"

namespace tenon::data::datasets {
namespace {

std::string file_of(const std::string& root, const std::string& name) {
  for (const char* ending : {".gz", ""}) {
    std::string path = root + "/" + name + ending;
    if (std::filesystem::exists(path)) return path;
  }
  tenon::detail::raise<Error>(
      "[FashionMNIST] ", root, "/", name,
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

const char* prefix(FashionMNIST::Mode mode) {
  return mode == FashionMNIST::Mode::Train ? "train" : "t10k";
}

}  // namespace

FashionMNIST::FashionMNIST(const std::string& root, Mode mode)
    : TensorDataset(images_of(file_of(root, std::string(prefix(mode)) + "-images-idx3-ubyte")),
                    labels_of(file_of(root, std::string(prefix(mode)) + "-labels-idx1-ubyte"))) {}

}  // namespace tenon::data::datasets
