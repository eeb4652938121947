// Trains LeNet on Fashion-MNIST, writes a checkpoint, reads it into a new network and compares.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "lenet.h"
#include "tenon/tenon.h"

namespace {

namespace data = tenon::data;
using tenon::Tensor;
using Clock = std::chrono::steady_clock;

struct Settings {
  int epochs = 2;
  int64_t batch_size = 32;
  int threads = 0;  // all that the machine has
  uint64_t seed = 0;
  std::string data = data::datasets::FashionMNIST::kDefaultRoot;
  std::string checkpoint = (std::filesystem::temp_directory_path() / "tenon_lenet.pt").string();
};

[[noreturn]] void usage(const char* program) {
  std::cerr << "usage: " << program
            << " [--epochs N] [--batch-size N] [--threads N] [--seed N] [--data FOLDER] "
               "[--checkpoint FILE]\n";
  std::exit(2);
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) usage(argv[0]);
    const char* value = argv[i + 1];
    if (option == "--data") {
      settings.data = value;
    } else if (option == "--checkpoint") {
      settings.checkpoint = value;
    } else {
      char* end = nullptr;
      const long number = std::strtol(value, &end, 10);
      if (*end != '\0' || number < 0) usage(argv[0]);
      if (option == "--epochs") {
        settings.epochs = static_cast<int>(number);
      } else if (option == "--batch-size") {
        settings.batch_size = number;
      } else if (option == "--threads") {
        settings.threads = static_cast<int>(number);
      } else if (option == "--seed") {
        settings.seed = static_cast<uint64_t>(number);
      } else {
        usage(argv[0]);
      }
    }
  }
  return settings;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A line that is drawn over itself on a terminal, and silent elsewhere until the end.
class ProgressBar {
 public:
  ProgressBar(std::string title, int64_t total) : title_(std::move(title)), total_(total) {}

  void update(int64_t done, double loss) {
    const auto now = Clock::now();
    if (!terminal_ || (done < total_ && now - drawn_ < std::chrono::milliseconds(100))) return;
    drawn_ = now;
    constexpr int kWidth = 30;
    const int filled = static_cast<int>(kWidth * done / total_);
    std::printf("\r%s [%s%s] %3d%%  loss %.3f  %4.1f s", title_.c_str(),
                std::string(filled, '#').c_str(), std::string(kWidth - filled, ' ').c_str(),
                static_cast<int>(100 * done / total_), loss, seconds_since(start_));
    std::fflush(stdout);
  }
  double finish() {
    if (terminal_) std::printf("\r\033[K");
    return seconds_since(start_);
  }

 private:
  std::string title_;
  int64_t total_;
  bool terminal_ = isatty(STDOUT_FILENO) != 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_;
};

/// Mean loss of the epoch.
template <class Loader>
double train_epoch(LeNet& net, tenon::optim::Optimizer& optimizer, Loader& loader,
                   ProgressBar& bar) {
  net->train();
  double loss_sum = 0;
  int64_t done = 0;
  for (const data::Example<>& batch : loader) {
    optimizer.zero_grad();
    const Tensor loss = tenon::nn::functional::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    loss_sum += loss.item<double>();
    ++done;
    bar.update(done, loss_sum / static_cast<double>(done));
  }
  return loss_sum / static_cast<double>(done);
}

/// Percent of the examples whose highest score is the right class's.
double accuracy(LeNet& net, data::datasets::FashionMNIST& dataset) {
  net->eval();
  const tenon::NoGradGuard no_grad;
  int64_t right = 0;
  const auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      dataset.map(data::transforms::Stack<>()), 500);
  for (const data::Example<>& batch : *loader) {
    right += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(*dataset.size());
}

int run(const Settings& settings) {
  using data::datasets::FashionMNIST;
  if (settings.threads > 0) tenon::set_num_threads(settings.threads);
  FashionMNIST train_set(settings.data, FashionMNIST::Mode::kTrain);
  FashionMNIST test_set(settings.data, FashionMNIST::Mode::kTest);
  std::printf("Fashion-MNIST: %lld training and %lld test images, %d threads\n",
              static_cast<long long>(*train_set.size()), static_cast<long long>(*test_set.size()),
              tenon::get_num_threads());

  tenon::manual_seed(settings.seed);
  LeNet net;
  std::cout << net << '\n';
  tenon::optim::Adam optimizer(net->parameters(), tenon::optim::AdamOptions(2e-3));
  const auto batch_size = static_cast<size_t>(settings.batch_size);
  const auto loader =
      data::make_data_loader(train_set.map(data::transforms::Stack<>()), batch_size);
  const size_t batches = (*train_set.size() + batch_size - 1) / batch_size;
  for (int epoch = 1; epoch <= settings.epochs; ++epoch) {
    ProgressBar bar("epoch " + std::to_string(epoch), static_cast<int64_t>(batches));
    const double loss = train_epoch(net, optimizer, *loader, bar);
    const double seconds = bar.finish();
    std::printf("epoch %d: loss %.4f, test accuracy %.2f %%, %.1f s\n", epoch, loss,
                accuracy(net, test_set), seconds);
    std::fflush(stdout);
  }

  tenon::save(net, settings.checkpoint);
  LeNet again;
  tenon::load(again, settings.checkpoint);
  const double before = accuracy(net, test_set), after = accuracy(again, test_set);
  std::printf("checkpoint %s: test accuracy %.2f %% before, %.2f %% after reading it back\n",
              settings.checkpoint.c_str(), before, after);
  if (before != after) {
    std::fprintf(stderr, "error: the checkpoint does not give the same network\n");
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(parse(argc, argv));
} catch (const tenon::Error& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
