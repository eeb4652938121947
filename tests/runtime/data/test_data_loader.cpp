#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "aten/core/generator.h"
#include "aten/generated_support/tensor_factories.h"
#include "runtime/data/data.h"
#include "runtime/nn/nn.h"
#include "runtime/optim/adam.h"
#include "tenon/ops/item.h"

using namespace tenon;
using namespace tenon::data;
using namespace std::chrono_literals;

namespace {

using Ints = std::vector<int>;
using samplers::SequentialSampler;

/// 0, 1, ..., size - 1.
struct Numbers : datasets::Dataset<Numbers, int> {
  explicit Numbers(size_t size = 10) : size_(size) {}
  std::optional<size_t> size() const override { return size_; }
  int get(size_t index) override { return static_cast<int>(index); }
  size_t size_;
};

/// Numbers whose get() calls a function first. All copies share it.
struct Calling : datasets::Dataset<Calling, int> {
  explicit Calling(std::function<void(size_t)> function) : function_(std::move(function)) {}
  std::optional<size_t> size() const override { return 10; }
  int get(size_t index) override {
    function_(index);
    return static_cast<int>(index);
  }
  std::function<void(size_t)> function_;
};

/// What threads wait for.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Batches of an epoch.
template <class Loader>
std::vector<Ints> epoch(Loader& loader, size_t first_batch = 0) {
  std::vector<Ints> batches;
  for (auto it = loader.begin(first_batch); it != loader.end(); ++it) batches.push_back(*it);
  return batches;
}

Ints joined(const std::vector<Ints>& batches) {
  Ints all;
  for (const Ints& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  return all;
}

}  // namespace

TEST_CASE("loader: batches in order, with workers and without, again each epoch") {
  for (const size_t workers : {0, 1, 3}) {
    const auto options = DataLoaderOptions(4).workers(workers);
    const auto loader = make_data_loader<SequentialSampler>(Numbers(), options);
    const std::vector<Ints> expected{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
    for (int i = 0; i < 3; ++i) CHECK(epoch(*loader) == expected);
    auto shorter = DataLoaderOptions(options).drop_last(true);
    const auto whole = make_data_loader<SequentialSampler>(Numbers(), shorter);
    CHECK(epoch(*whole) == std::vector<Ints>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  }
}

TEST_CASE("loader: an epoch from a batch on") {
  for (const size_t workers : {0, 2}) {
    const auto options = DataLoaderOptions(4).workers(workers);
    const auto loader = make_data_loader<SequentialSampler>(Numbers(), options);
    CHECK(epoch(*loader, 1) == std::vector<Ints>{{4, 5, 6, 7}, {8, 9}});
    CHECK(epoch(*loader, 3).empty());
    CHECK_THROWS_WITH(loader->begin(4), "[DataLoader] there are 3 batches, got 4 as the first");
    CHECK(epoch(*loader).size() == 3);
  }
}

TEST_CASE("loader: slow workers do not change the order unless allowed to") {
  // The first batch is done when all others are.
  std::atomic<int> others = 0;
  const auto wait_for_others = [&others](size_t index) {
    if (index > 0) ++others;
    while (index == 0 && others < 3) std::this_thread::yield();
  };
  const auto options = DataLoaderOptions().workers(2).max_jobs(4);
  const auto ordered = make_data_loader<SequentialSampler>(Calling(wait_for_others), options);
  const Ints all = joined(epoch(*ordered));
  CHECK(all == Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});

  others = 0;
  const auto any = make_data_loader<SequentialSampler>(
      Calling(wait_for_others), DataLoaderOptions(options).enforce_ordering(false));
  Ints as_they_come = joined(epoch(*any));
  CHECK(as_they_come.front() != 0);
  std::sort(as_they_come.begin(), as_they_come.end());
  CHECK(as_they_come == all);
}

TEST_CASE("loader: at most max_jobs batches are loaded ahead") {
  std::atomic<int> loaded = 0;
  const auto loader = make_data_loader<SequentialSampler>(
      Calling([&loaded](size_t) { ++loaded; }), DataLoaderOptions().workers(2).max_jobs(3));
  int taken = 0;
  for (auto it = loader->begin(); it != loader->end(); ++it) {
    ++taken;
    CHECK(loaded <= taken + 3);
  }
  CHECK(taken == 10);
  CHECK(loaded == 10);
}

TEST_CASE("loader: exceptions of workers keep their text, and the other batches come") {
  for (const bool ordered : {true, false}) {
    const auto loader = make_data_loader<SequentialSampler>(
        Calling([](size_t index) {
          if (index == 2) throw std::invalid_argument("no example 2");
          if (index == 5) throw 5;
        }),
        DataLoaderOptions().workers(3).enforce_ordering(ordered));
    for (int i = 0; i < 2; ++i) {
      Ints taken;
      std::vector<std::string> errors;
      auto it = loader->begin();
      for (bool more = true; more;) {
        try {
          if (it == loader->end()) break;
          if (taken.empty() || taken.back() != it->front()) taken.push_back(it->front());
          ++it;
        } catch (const WorkerException& e) {
          errors.emplace_back(e.what());
          CHECK(e.message == e.what());
          if (errors.back().ends_with("no example 2"))
            CHECK_THROWS_AS(std::rethrow_exception(e.original_exception), std::invalid_argument);
        }
      }
      std::sort(taken.begin(), taken.end());
      CHECK(taken == Ints{0, 1, 3, 4, 6, 7, 8, 9});
      std::sort(errors.begin(), errors.end());
      REQUIRE(errors.size() == 2);
      CHECK(errors[0] == "Caught exception in DataLoader worker thread. It is no std::exception.");
      CHECK(errors[1] ==
            "Caught exception in DataLoader worker thread. Original message: no example 2");
    }
  }
}

TEST_CASE("loader: without workers an exception comes as it is") {
  const auto loader = make_data_loader(Calling([](size_t) { throw std::out_of_range("here"); }));
  CHECK_THROWS_AS(*loader->begin(), std::out_of_range);
}

TEST_CASE("loader: a batch that is late is an error, and comes later") {
  Gate gate;
  const auto loader = make_data_loader<SequentialSampler>(
      Calling([&gate](size_t) { gate.wait(); }), DataLoaderOptions().workers(1).timeout(5ms));
  auto it = loader->begin();
  CHECK_THROWS_WITH(*it,
                    "Timeout in DataLoader queue while waiting for next batch (timeout was 5 ms)");
  gate.open();
  Ints taken;
  while (taken.size() < 10) {
    try {
      taken.push_back(it->front());
      ++it;
    } catch (const Error&) {  // a slow machine
    }
  }
  std::sort(taken.begin(), taken.end());
  CHECK(taken.front() == 0);
}

TEST_CASE("loader: its end waits for a worker that is blocked") {
  Gate gate;
  std::atomic<bool> entered = false, left = false, destroyed = false;
  auto loader = make_data_loader<SequentialSampler>(Calling([&](size_t) {
                                                      entered = true;
                                                      gate.wait();
                                                      left = true;
                                                    }),
                                                    DataLoaderOptions().workers(1));
  {
    const auto it = loader->begin();
    while (!entered) std::this_thread::yield();
  }
  std::thread end([&] {
    loader.reset();
    destroyed = true;
  });
  std::this_thread::sleep_for(20ms);
  CHECK(!destroyed);
  gate.open();
  end.join();
  CHECK(left);
  CHECK(destroyed);
}

TEST_CASE("loader: its end in the middle of an epoch leaves nothing behind") {
  const auto examples = std::make_shared<int>(0);
  for (int i = 0; i < 20; ++i) {
    const auto loader = make_data_loader<SequentialSampler>(
        Calling([examples](size_t) {}), DataLoaderOptions(2).workers(static_cast<size_t>(i % 4)));
    auto it = loader->begin();
    for (int taken = 0; taken < i % 3; ++taken) ++it;
  }
  CHECK(examples.use_count() == 1);
}

TEST_CASE("loader: one epoch at a time, and none after join") {
  const auto loader =
      make_data_loader<SequentialSampler>(Numbers(), DataLoaderOptions().workers(2));
  auto it = loader->begin();
  CHECK_THROWS_WITH(loader->begin(), "Attempted to get a new DataLoader iterator while another "
                                     "iterator is not yet exhausted");
  CHECK(it->front() == 0);
  loader->join();
  CHECK_THROWS_WITH(++it, "[DataLoader] join() has ended the workers");
  CHECK_THROWS_WITH(loader->begin(), "[DataLoader] join() has ended the workers");
}

TEST_CASE("loader: options that cannot be") {
  CHECK_THROWS_WITH(make_data_loader(Numbers(), 0),
                    "[DataLoader] batch_size must be positive, got 0");
  CHECK_THROWS_WITH(make_data_loader(Numbers(), DataLoaderOptions().workers(2).max_jobs(0)),
                    "[DataLoader] max_jobs must be positive with 2 workers, got 0");
  struct Unique : Numbers {
    std::unique_ptr<int> only;
  };
  using Loader = StatelessDataLoader<Unique, SequentialSampler>;
  Loader alone(Unique{}, SequentialSampler(10), DataLoaderOptions(5));
  CHECK(epoch(alone).size() == 2);
  CHECK_THROWS_WITH(Loader(Unique{}, SequentialSampler(10), DataLoaderOptions().workers(1)),
                    Catch::Contains("make_shared_dataset"));
  const auto shared = make_data_loader<SequentialSampler>(datasets::make_shared_dataset<Unique>(),
                                                          DataLoaderOptions(5).workers(2));
  CHECK(epoch(*shared).size() == 2);
}

TEST_CASE("loader: iterators past the end") {
  const auto loader = make_data_loader<SequentialSampler>(Numbers(), 10);
  auto it = loader->begin();
  const auto copy = it;
  CHECK(it == copy);
  CHECK(it != loader->end());
  CHECK(++it == loader->end());
  CHECK(copy == loader->end());
  CHECK_THROWS_WITH(++it, "Attempted to increment iterator past the end");
  CHECK_THROWS_WITH(*it, "Attempted to dereference iterator that was past the end");
  auto end = loader->end();
  CHECK_THROWS_WITH(++end, "Incrementing the DataLoader's past-the-end iterator is not allowed");
  CHECK_THROWS_WITH(*end, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
}

TEST_CASE("loader: a stream of examples") {
  struct Counter : datasets::StreamDataset<Counter, Ints> {
    std::optional<size_t> size() const override { return std::nullopt; }
    Ints get_batch(size_t count) override {
      Ints batch(count);
      std::iota(batch.begin(), batch.end(), next);
      next += static_cast<int>(count);
      return batch;
    }
    int next = 0;
  };
  const auto loader = make_data_loader(Counter(), samplers::StreamSampler(5), 2);
  CHECK(epoch(*loader) == std::vector<Ints>{{0, 1}, {2, 3}, {4}});
  CHECK(epoch(*loader) == std::vector<Ints>{{5, 6}, {7, 8}, {9}});
}

TEST_CASE("loader: a sampler needs a size") {
  struct Unsized : Numbers {
    std::optional<size_t> size() const override { return std::nullopt; }
  };
  CHECK_THROWS_WITH(make_data_loader(Unsized()),
                    "Expected the dataset to be sized in order to construct the Sampler");
}

TEST_CASE("loader: a network learns from batches of workers") {
  struct Parabola : datasets::Dataset<Parabola> {
    std::optional<size_t> size() const override { return 200; }
    Example<> get(size_t index) override {
      const double x = static_cast<double>(index) / 100 - 1;
      return {tensor({x}), tensor({x * x})};
    }
  };
  manual_seed(0);
  const auto loader =
      make_data_loader(Parabola().map(transforms::Stack<>()), DataLoaderOptions(20).workers(2));
  nn::Sequential net(nn::Linear(1, 16), nn::Tanh(), nn::Linear(16, 1));
  optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.02));
  double last = 0;
  for (int i = 0; i < 40; ++i) {
    last = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      const Tensor loss = nn::functional::mse_loss(net->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      last += loss.item<double>() / 10;
    }
  }
  CHECK(last < 0.01);
}
