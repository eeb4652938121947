#include "runtime/data/data.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tenon/config.h"
#include "tenon/ops/arange.h"
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

std::vector<std::vector<double>> epoch(const data::DataLoader& loader) {
  std::vector<std::vector<double>> batches;
  for (const data::Example& batch : loader) batches.push_back(values(batch.data));
  return batches;
}

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

TEST_CASE("batches in order") {
  const Tensor rows = arange(10, TensorOptions(kFloat));
  const data::TensorDataset dataset(rows, rows.to(kLong));
  const data::DataLoader loader(dataset, data::DataLoaderOptions(4));
  CHECK(loader.size() == 3);
  CHECK(epoch(loader) == std::vector<std::vector<double>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  const data::DataLoader whole(dataset, data::DataLoaderOptions(4).drop_last(true));
  CHECK(whole.size() == 2);
  CHECK(epoch(whole).size() == 2);
  CHECK_THROWS_WITH(data::DataLoader(dataset, data::DataLoaderOptions(0)),
                    "[DataLoader] batch_size must be positive, got 0");
  CHECK_THROWS_WITH(
      data::TensorDataset(rows, rows.slice(0, 1)),
      "[TensorDataset] data and target must have the same number of rows, got shapes [10] and [9]");
}

TEST_CASE("shuffled order is PyTorch's for a seed") {
  const Tensor rows = arange(10, TensorOptions(kFloat));
  const data::TensorDataset dataset(rows, rows.to(kLong));
  const data::DataLoader loader(dataset, data::DataLoaderOptions(4).shuffle(true));
  manual_seed(0);
  CHECK(epoch(loader) == std::vector<std::vector<double>>{{6, 7, 1, 4}, {2, 0, 9, 8}, {3, 5}});
  CHECK(epoch(loader) == std::vector<std::vector<double>>{{2, 4, 7, 0}, {8, 9, 5, 3}, {6, 1}});

  const data::TensorDataset six(rows.slice(0, 0, 6), rows.slice(0, 0, 6));
  const Generator generator = make_generator(kCPU, 7);
  const data::DataLoader own(six, data::DataLoaderOptions(4).shuffle(true).generator(generator));
  CHECK(epoch(own) == std::vector<std::vector<double>>{{1, 2, 5, 3}, {0, 4}});
}

TEST_CASE("a data set of single examples is stacked") {
  struct Squares : data::Dataset {
    int64_t size() const override { return 3; }
    data::Example get(int64_t i) const override {
      const auto v = static_cast<double>(i);
      return {vector_of({v, v * v}), vector_of({v}, kLong).select(0, 0)};
    }
  };
  const Squares squares;
  const data::Example batch = squares.get_batch({2, 1});
  CHECK(batch.data.sizes() == IntArrayRef({2, 2}));
  CHECK(values(batch.data) == std::vector<double>{2, 4, 1, 1});
  CHECK(values(batch.target) == std::vector<double>{2, 1});
}

TEST_CASE("Fashion-MNIST, or how to install it") {
  CHECK_THROWS_WITH(
      data::datasets::FashionMNIST("/nowhere"),
      Catch::StartsWith("[FashionMNIST] /nowhere/train-images-idx3-ubyte.gz is not there.") &&
          Catch::Contains("apt-get install dataset-fashion-mnist"));
  if (!TENON_HAS_ZLIB || !fs::exists(data::datasets::FashionMNIST::kDefaultRoot)) {
    WARN("the data set is not installed");
    return;
  }
  using data::datasets::FashionMNIST;
  const FashionMNIST test(FashionMNIST::kDefaultRoot, FashionMNIST::Mode::Test);
  CHECK(test.size() == 10000);
  CHECK(test.data().sizes() == IntArrayRef({10000, 1, 28, 28}));
  CHECK(test.data().amax().item<double>() == 1);
  CHECK(test.targets().amax().item<int64_t>() == 9);
}
