// A step of each optimizer on 100 tensors of 10 x 10, and on one of 2000 x 1000. The options are
// those of python/optimizers.py, which measures this program beside PyTorch's fused steps.
#include "benchmarks/support/bench.h"
#include "benchmarks/support/library.h"
#ifndef BENCH_TORCH
#include "runtime/optim/optim.h"
#include "tenon/ops/full.h"
#endif

namespace {

template <class Optimizer, class Options>
void steps(bench::Runner& run, const std::string& name, const Options& options) {
  for (const bool small : {true, false}) {
    const std::string full_name = "step/" + name + (small ? "/small" : "/large");
    if (!run.wants(full_name)) continue;
    std::vector<t::Tensor> parameters;
    for (int i = 0; i < (small ? 100 : 1); ++i) {
      const std::vector<int64_t> sizes =
          small ? std::vector<int64_t>{10, 10} : std::vector<int64_t>{2000, 1000};
      parameters.push_back(bench::leaf(t::full(sizes, 1.0)));
      parameters.back().mutable_grad() = t::full(sizes, 0.1);
    }
    Optimizer optimizer(parameters, options);
    run(full_name, {}, [&] { optimizer.step(); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::Runner run(argc, argv);
  t::set_num_threads(run.threads());
  using namespace t::optim;
  steps<SGD>(run, "SGD", SGDOptions(0.01).momentum(0.9));
  steps<Adam>(run, "Adam", AdamOptions());
  steps<AdamW>(run, "AdamW", AdamWOptions());
  steps<Adagrad>(run, "Adagrad", AdagradOptions());
  steps<RMSprop>(run, "RMSprop", RMSpropOptions());
#ifndef BENCH_TORCH
  steps<Adamax>(run, "Adamax", AdamaxOptions());
  steps<NAdam>(run, "NAdam", NAdamOptions());
  steps<RAdam>(run, "RAdam", RAdamOptions());
  steps<Adadelta>(run, "Adadelta", AdadeltaOptions());
  steps<Rprop>(run, "Rprop", RpropOptions());
  steps<ASGD>(run, "ASGD", ASGDOptions());
#endif
}
