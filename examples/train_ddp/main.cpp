// Trains LeNet on Fashion-MNIST with several processes:
//     tenon-run --nproc 2 --max-restarts 3 train_ddp
// Each takes its part of every batch. Rank 0 writes checkpoints; after a restart, all go on from
// the last one. Alone, the program trains in one process.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "../train_mnist/lenet.h"
#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/core/thread_state.h"
#include "autograd/autograd.h"
#include "runtime/data/data.h"
#include "runtime/distributed/distributed.h"
#include "runtime/optim/optim.h"
#include "runtime/serialization/training/training.h"
#include "tenon/ops/argmax.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/item.h"
#include "tenon/ops/sum.h"

namespace {

namespace data = tenon::data;
namespace distributed = tenon::distributed;
using tenon::Tensor;

struct Settings {
  int64_t epochs = 2;
  int64_t batch_size = 64;  // of all ranks together
  int64_t steps = -1;       // of each epoch; all by default
  int64_t save_every = 200;
  int64_t kill_at = -1;  // the step at which the last rank kills itself, the first time
  std::string data = data::datasets::FashionMNIST::kDefaultRoot;
  std::string checkpoints = (std::filesystem::temp_directory_path() / "tenon_ddp").string();
};

[[noreturn]] void usage(const char* program) {
  std::cerr << "usage: [tenon-run --nproc N] " << program
            << " [--epochs N] [--batch-size N] [--steps N] [--save-every N] [--kill-at STEP] "
               "[--data FOLDER] [--checkpoints FOLDER]\n";
  std::exit(2);
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage(argv[0]);
    if (option == "--data") {
      settings.data = argv[i + 1];
    } else if (option == "--checkpoints") {
      settings.checkpoints = argv[i + 1];
    } else {
      char* end = nullptr;
      const int64_t number = std::strtoll(argv[i + 1], &end, 10);
      if (*end != '\0' || number < 0) usage(argv[0]);
      if (option == "--epochs") {
        settings.epochs = number;
      } else if (option == "--batch-size" && number > 0) {
        settings.batch_size = number;
      } else if (option == "--steps") {
        settings.steps = number;
      } else if (option == "--save-every" && number > 0) {
        settings.save_every = number;
      } else if (option == "--kill-at") {
        settings.kill_at = number;
      } else {
        usage(argv[0]);
      }
    }
  }
  return settings;
}

/// Fashion-MNIST, whose batches are stacked.
auto read_data(const std::string& folder, data::datasets::FashionMNIST::Mode mode) {
  return data::datasets::FashionMNIST(folder, mode).map(data::transforms::Stack<>());
}
using Images = decltype(read_data({}, {}));

/// Percent of the examples whose highest score is the right class's; each rank looks at its part.
double accuracy(LeNet& net, Images& images) {
  net->eval();
  const tenon::NoGradGuard no_grad;
  distributed::DistributedSampler sampler(static_cast<int64_t>(*images.size()), {.shuffle = false});
  Tensor right;
  for (const auto& batch : sampler.batches(500)) {
    const data::Example<> examples = images.get_batch(batch);
    const Tensor these = net(examples.data).argmax(1).eq(examples.target).sum();
    right = right.defined() ? right + these : these;
  }
  distributed::all_reduce(right);
  net->train();
  return 100.0 * right.item<double>() / static_cast<double>(*images.size());
}

void train(const Settings& settings) {
  using data::datasets::FashionMNIST;
  if (distributed::is_launched()) {
    distributed::init_process_group({.timeout = std::chrono::minutes(5)});
  } else {
    distributed::init_process_group({.backend = "single",
                                     .rank = 0,
                                     .world_size = 1,
                                     .store = std::make_shared<distributed::HashStore>()});
  }
  const int rank = distributed::get_rank(), size = distributed::get_world_size();
  Images train_set = read_data(settings.data, FashionMNIST::Mode::kTrain);
  Images test_set = read_data(settings.data, FashionMNIST::Mode::kTest);
  distributed::DistributedSampler sampler(static_cast<int64_t>(*train_set.size()));

  tenon::manual_seed(0);
  LeNet net;
  tenon::optim::Adam optimizer(net->parameters(), tenon::optim::AdamOptions(2e-3));
  distributed::DistributedDataParallel<LeNet> ddp(net);
  tenon::serialization::TrainingCheckpoints checkpoints(settings.checkpoints);
  tenon::serialization::TrainingProgress now =
      checkpoints.resume(*net, optimizer).value_or(tenon::serialization::TrainingProgress());
  if (rank == 0 && now.step > 0)
    std::printf("goes on from step %lld\n", static_cast<long long>(now.step));

  const bool first_time =
      std::getenv("RESTART_COUNT") == nullptr || std::getenv("RESTART_COUNT") == std::string("0");
  for (; now.epoch < settings.epochs; ++now.epoch, now.batch = 0) {
    const auto start = std::chrono::steady_clock::now();
    sampler.set_epoch(now.epoch);
    double loss_sum = 0;
    int64_t done = 0;
    for (const auto& batch : sampler.batches(settings.batch_size / size, now.batch)) {
      if (now.batch == settings.steps) break;
      const data::Example<> examples = train_set.get_batch(batch);
      optimizer.zero_grad();
      const Tensor loss = tenon::nn::functional::cross_entropy(ddp(examples.data), examples.target);
      loss.backward();
      optimizer.step();
      loss_sum += loss.item<double>();
      ++done, ++now.step, ++now.batch;
      if (now.step % settings.save_every == 0)
        distributed::run_on_rank_0([&] { checkpoints.save(*net, optimizer, now); });
      if (first_time && now.step == settings.kill_at && rank == size - 1) ::raise(SIGKILL);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double percent = accuracy(net, test_set);
    if (rank == 0)
      std::printf("epoch %lld: loss of rank 0 %.6f, test accuracy %.2f %%, %.1f s, %d ranks\n",
                  static_cast<long long>(now.epoch + 1), loss_sum / static_cast<double>(done),
                  percent, seconds.count(), size);
    std::fflush(stdout);
  }

  distributed::run_on_rank_0([&] { checkpoints.save(*net, optimizer, now); });
  // Every rank reads what rank 0 has written.
  LeNet again;
  tenon::optim::Adam other(again->parameters(), tenon::optim::AdamOptions(2e-3));
  tenon::serialization::TrainingCheckpoints(settings.checkpoints).resume(*again, other);
  const double before = accuracy(net, test_set), after = accuracy(again, test_set);
  if (rank == 0)
    std::printf("step %lld: test accuracy %.2f %%, %.2f %% after all ranks have read the "
                "checkpoint\n",
                static_cast<long long>(now.step), before, after);
  TENON_CHECK(before == after, "the checkpoint does not give the same network");
  distributed::destroy_process_group();
}

}  // namespace

int main(int argc, char** argv) try {
  const Settings settings = parse(argc, argv);
  distributed::record([&] { train(settings); });
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
