#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "aten/generated_support/tensor_factories.h"
#include "runtime/data/data.h"
#include "tenon/config.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/item.h"
#include "tenon/ops/sum.h"
#include "tests/runtime/values.h"

using namespace tenon;
namespace fs = std::filesystem;

namespace {

/// A file that lasts as long as the object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& bytes)
      : path_(fs::temp_directory_path() / name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { fs::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

const std::string kMatrix("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\xff", 18);

}  // namespace

TEST_CASE("idx files of bytes and of wider types") {
  const TemporaryFile bytes("tenon_test_bytes.idx", kMatrix);
  const Tensor matrix = data::read_idx(bytes.path());
  CHECK(matrix.sizes() == IntArrayRef({2, 3}));
  CHECK(matrix.dtype() == kByte);
  CHECK(values(matrix) == std::vector<double>{1, 2, 3, 4, 5, 255});
  const TemporaryFile shorts("tenon_test_shorts.idx",
                             std::string("\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xff", 12));
  CHECK(values(data::read_idx(shorts.path())) == std::vector<double>{258, -1});
  const TemporaryFile floats("tenon_test_floats.idx",
                             std::string("\0\0\x0d\x01\0\0\0\x01\x3f\xc0\0\0", 12));
  CHECK(values(data::read_idx(floats.path())) == std::vector<double>{1.5});
}

TEST_CASE("every truncation of an idx file is an error that names it") {
  for (size_t n = 0; n < kMatrix.size(); ++n) {
    const TemporaryFile file("tenon_test_short.idx", kMatrix.substr(0, n));
    CHECK_THROWS_WITH(data::read_idx(file.path()), Catch::Contains("tenon_test_short.idx") &&
                                                       Catch::Contains("the file is truncated"));
  }
  const TemporaryFile longer("tenon_test_long.idx", kMatrix + "x");
  CHECK_THROWS_WITH(data::read_idx(longer.path()),
                    Catch::Contains("data beyond the last element, from byte 18"));
  const TemporaryFile other("tenon_test_other.idx", "PK\x03\x04");
  CHECK_THROWS_WITH(data::read_idx(other.path()),
                    Catch::Contains("is no IDX file: it begins with bytes 80 75 3 4"));
  // Sizes that would need 2^62 elements, in a file of 12 bytes.
  const TemporaryFile liar("tenon_test_liar.idx",
                           std::string("\0\0\x08\x02\x7f\xff\xff\xff\x7f\xff\xff\xff", 12));
  CHECK_THROWS_WITH(data::read_idx(liar.path()), Catch::Contains("the file is truncated"));
  CHECK_THROWS_WITH(data::read_idx("/nowhere/x.gz"),
                    "[read_idx] cannot open '/nowhere/x.gz': No such file or directory");
}

#if TENON_HAS_ZLIB
TEST_CASE("a compressed idx file, whole, cut short and damaged") {
  // kMatrix as gzip writes it.
  const std::string whole("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x62\x60\x60\x00"
                          "\x61\x66\x46\x26\x66\x16\xd6\xff\x00\xf0\xde\x5f\x21\x12\x00\x00\x00",
                          35);
  const TemporaryFile file("tenon_test_matrix.gz", whole);
  CHECK(values(data::read_idx(file.path())) == std::vector<double>{1, 2, 3, 4, 5, 255});
  for (size_t n = 0; n < whole.size(); ++n) {
    INFO("cut to " << n);
    const TemporaryFile cut("tenon_test_cut.gz", whole.substr(0, n));
    CHECK_THROWS_WITH(data::read_idx(cut.path()), Catch::StartsWith("[read_idx] '" + cut.path()));
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;
  const TemporaryFile bad("tenon_test_bad.gz", damaged);
  CHECK_THROWS_WITH(data::read_idx(bad.path()), Catch::Contains("damaged or truncated gzip data"));
}
#endif

namespace {

/// The rows of a 2 x 3 matrix, with their numbers as targets.
struct Rows : data::datasets::Dataset<Rows> {
  std::optional<size_t> size() const override { return 2; }
  data::Example<> get(size_t i) override {
    return {matrix.select(0, static_cast<int64_t>(i)), tensor(static_cast<int64_t>(10 + i))};
  }
  Tensor matrix = tensor({{1, 2, 3}, {4, 5, 6}}, TensorOptions(kFloat));
};

}  // namespace

TEST_CASE("a data set of single examples, stacked and without targets") {
  Rows rows;
  CHECK(rows.get_batch({1, 0, 1}).size() == 3);
  auto stacked = rows.map(data::transforms::Stack<>());
  const data::Example<> batch = stacked.get_batch({1, 0});
  CHECK(values(batch.data) == std::vector<double>{4, 5, 6, 1, 2, 3});
  CHECK(batch.data.sizes() == IntArrayRef({2, 3}));
  CHECK(values(batch.target) == std::vector<double>{11, 10});
  CHECK(*stacked.size() == 2);

  data::datasets::TensorDataset tensors({rows.matrix, rows.matrix + 1});
  CHECK(*tensors.size() == 2);
  CHECK(values(tensors.get(1).data) == std::vector<double>{2, 3, 4, 5, 6, 7});
  auto alone = data::datasets::TensorDataset(rows.matrix)
                   .map(data::transforms::Stack<data::TensorExample>());
  const Tensor both = alone.get_batch({1, 0});
  CHECK(values(both) == std::vector<double>{4, 5, 6, 1, 2, 3});
}

TEST_CASE("transforms follow each other") {
  using namespace data::transforms;
  auto dataset = Rows()
                     .map(TensorLambda<>([](Tensor row) { return row * 2; }))
                     .map(Lambda<data::Example<>, double>([](const data::Example<>& e) {
                       return e.data.sum().item<double>() + e.target.item<double>();
                     }))
                     .map(Collate<double>([](const std::vector<double>& batch) {
                       double sum = 0;
                       for (const double one : batch) sum += one;
                       return sum;
                     }));
  CHECK(dataset.get_batch({0, 1}) == 2 * (6 + 15) + 10 + 11);
}

TEST_CASE("Normalize has a mean and a deviation per channel, or one for all") {
  const data::Example<> image{tensor({{{1, 2}}, {{3, 4}}}, TensorOptions(kFloat)), tensor(7)};
  data::transforms::Normalize<> two({1, 3}, {2, 0.5});
  const data::Example<> normalized = two.apply(image);
  CHECK(values(normalized.data) == std::vector<double>{0, 0.5, 0, 2});
  CHECK(normalized.target.item<int64_t>() == 7);
  data::transforms::Normalize<> one(1, 2);
  CHECK(values(one.apply(image).data) == std::vector<double>{0, 0.5, 1, 1.5});
}

TEST_CASE("MNIST and Fashion-MNIST, or how to install them") {
  using data::datasets::FashionMNIST;
  using data::datasets::MNIST;
  CHECK_THROWS_WITH(
      FashionMNIST("/nowhere"),
      Catch::StartsWith("[FashionMNIST] /nowhere/train-images-idx3-ubyte.gz is not there") &&
          Catch::Contains("apt-get install dataset-fashion-mnist"));
  CHECK_THROWS_WITH(MNIST("/nowhere", MNIST::Mode::kTest),
                    Catch::StartsWith("[MNIST] /nowhere/t10k-images-idx3-ubyte.gz is not there"));

  // Two images of 1 x 2 points.
  const TemporaryFile images(
      "t10k-images-idx3-ubyte",
      std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\xff\x33\0", 20));
  const std::string folder = fs::path(images.path()).parent_path().string();
  {
    const TemporaryFile labels("t10k-labels-idx1-ubyte",
                               std::string("\0\0\x08\x01\0\0\0\x02\x07\x03", 10));
    MNIST test(folder, MNIST::Mode::kTest);
    CHECK(!test.is_train());
    CHECK(*test.size() == 2);
    CHECK(test.images().sizes() == IntArrayRef({2, 1, 1, 2}));
    CHECK(values(test.targets()) == std::vector<double>{7, 3});
    const data::Example<> second = test.get(1);
    CHECK(second.data.sizes() == IntArrayRef({1, 1, 2}));
    CHECK(second.data.select(2, 0).item<float>() == 0x33 / 255.f);
    CHECK(second.target.item<int64_t>() == 3);
  }
  const TemporaryFile labels("t10k-labels-idx1-ubyte",
                             std::string("\0\0\x08\x01\0\0\0\x01\x07", 9));
  CHECK_THROWS_WITH(MNIST(folder, MNIST::Mode::kTest),
                    "[MNIST] there are 2 images and 1 labels in " + folder);

  if (!TENON_HAS_ZLIB || !fs::exists(FashionMNIST::kDefaultRoot)) {
    WARN("the data set is not installed");
    return;
  }
  const FashionMNIST test(FashionMNIST::kDefaultRoot, FashionMNIST::Mode::kTest);
  CHECK(*test.size() == 10000);
  CHECK(test.images().sizes() == IntArrayRef({10000, 1, 28, 28}));
  CHECK(test.images().amax().item<double>() == 1);
  CHECK(test.targets().amax().item<int64_t>() == 9);
}
