// Writes what modules start with and compute: module_outputs FILE. both_languages.py compares them
// with Python's.

#include <iostream>

#include "aten/core/generator.h"
#include "runtime/nn/nn.h"
#include "runtime/serialization/save.h"
#include "tenon/ops/rand.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/randn.h"

namespace {

using namespace tenon;
using serialization::Value;

/// Seeds, makes the module, draws the inputs, calls it. The dictionary has the state and the
/// output.
template <class Make, class Call>
void add(Value& all, const char* name, Make make, Call call) {
  manual_seed(7);
  auto module = make();
  Value one = Value::dict({});
  for (const auto& tensor : module->state_dict())
    one.set_item(tensor.key(), tensor.value().clone());
  one.set_item("output", call(module).detach());
  all.set_item(name, one);
}

#define CASE(name, make, ...) \
  add(                        \
      all, name, [] { return make; }, [&](auto& m) { return m(__VA_ARGS__); });

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: module_outputs FILE\n";
    return 2;
  }
  using namespace nn;
  Value all = Value::dict({});
  const auto rows = [] { return randn({4, 6}, TensorOptions()); };
  const auto line = [] { return randn({2, 4, 12}, TensorOptions()); };
  const auto image = [] { return randn({2, 4, 8, 8}, TensorOptions()); };
  const auto volume = [] { return randn({2, 4, 6, 6, 6}, TensorOptions()); };
  const auto share = [] { return rand({4, 6}, TensorOptions()); };
  const auto classes = [] { return randint(6, {4}, TensorOptions(kLong)); };
  CASE("ELU", ELU(1.5), rows())
  CASE("SELU", SELU(), rows())
  CASE("CELU", CELU(2.0), rows())
  CASE("ReLU", ReLU(), rows())
  CASE("ReLU6", ReLU6(), rows())
  CASE("LeakyReLU", LeakyReLU(0.2), rows())
  CASE("RReLU", RReLU(), rows())
  CASE("PReLU", PReLU(1), rows())
  CASE("Hardtanh", Hardtanh(), rows())
  CASE("Threshold", Threshold(0.1, 20.0), rows())
  CASE("GELU", GELU("tanh"), rows())
  CASE("SiLU", SiLU(), rows())
  CASE("Mish", Mish(), rows())
  CASE("Hardswish", Hardswish(), rows())
  CASE("Hardsigmoid", Hardsigmoid(), rows())
  CASE("LogSigmoid", LogSigmoid(), rows())
  CASE("Sigmoid", Sigmoid(), rows())
  CASE("Tanh", Tanh(), rows())
  CASE("Softplus", Softplus(2.0), rows())
  CASE("Softshrink", Softshrink(0.3), rows())
  CASE("Hardshrink", Hardshrink(0.3), rows())
  CASE("Tanhshrink", Tanhshrink(), rows())
  CASE("Softsign", Softsign(), rows())
  CASE("GLU", GLU(1), rows())
  CASE("Softmax", Softmax(1), rows())
  CASE("Softmin", Softmin(1), rows())
  CASE("LogSoftmax", LogSoftmax(1), rows())
  CASE("Softmax2d", Softmax2d(), image())
  CASE("Identity", Identity(), rows())
  CASE("Linear", Linear(6, 3), rows())
  CASE("Linear without bias", Linear(LinearOptions(6, 3).bias(false)), rows())
  CASE("Bilinear", Bilinear(6, 6, 3), rows(), rows())
  CASE("Flatten", Flatten(), image())
  CASE("CosineSimilarity", CosineSimilarity(1), rows(), rows())
  CASE("PairwiseDistance", PairwiseDistance(3.0), rows(), rows())
  CASE("Dropout", Dropout(0.3), rows())
  CASE("Dropout1d", Dropout1d(0.3), line())
  CASE("Dropout2d", Dropout2d(0.3), image())
  CASE("Dropout3d", Dropout3d(0.3), volume())
  CASE("AlphaDropout", AlphaDropout(0.3), rows())
  CASE("FeatureAlphaDropout", FeatureAlphaDropout(0.3), image())
  CASE("Embedding", Embedding(EmbeddingOptions(6, 3).padding_idx(1)), classes())
  CASE("Conv1d", Conv1d(4, 6, 3), line())
  CASE("Conv2d", Conv2d(Conv2dOptions(4, 6, 3).stride(2).padding(1).groups(2)), image())
  CASE("Conv2d reflected", Conv2d(Conv2dOptions(4, 6, 3).padding(1).padding_mode(kReflect)),
       image())
  CASE("Conv2d same", Conv2d(Conv2dOptions(4, 6, 3).padding(kSame)), image())
  CASE("Conv3d", Conv3d(4, 6, 3), volume())
  CASE("ConvTranspose1d", ConvTranspose1d(4, 6, 3), line())
  CASE("ConvTranspose2d", ConvTranspose2d(ConvTranspose2dOptions(4, 6, 3).stride(2)), image())
  CASE("ConvTranspose3d", ConvTranspose3d(4, 6, 3), volume())
  CASE("BatchNorm1d", BatchNorm1d(4), line())
  CASE("BatchNorm2d", BatchNorm2d(4), image())
  CASE("BatchNorm3d", BatchNorm3d(4), volume())
  CASE("InstanceNorm1d", InstanceNorm1d(4), line())
  CASE("InstanceNorm2d", InstanceNorm2d(InstanceNorm2dOptions(4).affine(true)), image())
  CASE("InstanceNorm3d", InstanceNorm3d(4), volume())
  CASE("LayerNorm", LayerNorm(std::vector<int64_t>{6}), rows())
  CASE("RMSNorm", RMSNorm(std::vector<int64_t>{6}), rows())
  CASE("GroupNorm", GroupNorm(2, 4), image())
  CASE("LocalResponseNorm", LocalResponseNorm(2), image())
  CASE("MaxPool1d", MaxPool1d(3), line())
  CASE("MaxPool2d", MaxPool2d(MaxPool2dOptions(3).stride(2).padding(1)), image())
  CASE("MaxPool3d", MaxPool3d(2), volume())
  CASE("AvgPool1d", AvgPool1d(3), line())
  CASE("AvgPool2d", AvgPool2d(3), image())
  CASE("AvgPool3d", AvgPool3d(2), volume())
  CASE("AdaptiveAvgPool1d", AdaptiveAvgPool1d(5), line())
  CASE("AdaptiveAvgPool2d", AdaptiveAvgPool2d(3), image())
  CASE("AdaptiveMaxPool2d", AdaptiveMaxPool2d(3), image())
  CASE("LPPool1d", LPPool1d(2.0, 3), line())
  CASE("LPPool2d", LPPool2d(2.0, 3), image())
  CASE("ZeroPad2d", ZeroPad2d(1), image())
  CASE("ConstantPad1d", ConstantPad1d(2, 3.5), line())
  CASE("ReflectionPad2d", ReflectionPad2d(2), image())
  CASE("ReplicationPad3d", ReplicationPad3d(1), volume())
  CASE("CircularPad2d", CircularPad2d(1), image())
  CASE("PixelShuffle", PixelShuffle(2), image())
  CASE("PixelUnshuffle", PixelUnshuffle(2), image())
  CASE("ChannelShuffle", ChannelShuffle(2), image())
  CASE("Upsample",
       Upsample(UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(kBilinear)), image())
  CASE("Unfold", Unfold(3), image())
  CASE("L1Loss", L1Loss(), rows(), rows())
  CASE("MSELoss", MSELoss(kSum), rows(), rows())
  CASE("SmoothL1Loss", SmoothL1Loss(), rows(), rows())
  CASE("HuberLoss", HuberLoss(), rows(), rows())
  CASE("KLDivLoss", KLDivLoss(kBatchMean), rows(), share())
  CASE("BCELoss", BCELoss(), share(), share())
  CASE("BCEWithLogitsLoss", BCEWithLogitsLoss(), rows(), share())
  CASE("NLLLoss", NLLLoss(), rows(), classes())
  CASE("CrossEntropyLoss", CrossEntropyLoss(CrossEntropyLossOptions().label_smoothing(0.1)), rows(),
       classes())
  CASE("PoissonNLLLoss", PoissonNLLLoss(), rows(), share())
  CASE("SoftMarginLoss", SoftMarginLoss(), rows(), rows())
  CASE("MultiLabelSoftMarginLoss", MultiLabelSoftMarginLoss(), rows(), share())
  CASE("MultiMarginLoss", MultiMarginLoss(), rows(), classes())
  CASE("TripletMarginLoss", TripletMarginLoss(), rows(), rows(), rows())
  CASE("GaussianNLLLoss", GaussianNLLLoss(), rows(), rows(), share())
  serialization::save(all, argv[1]);
}
