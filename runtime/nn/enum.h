#pragma once

#include <string>
#include <variant>

/// Words of options as types: `.reduction(kSum)`, `.padding_mode(kReflect)`. An option that takes
/// some of them is a std::variant of their types, so that any other word does not compile.
namespace tenon {

/// TENON_ENUM(ReLU, "relu"): the type enumtype::kReLU, its value kReLU, and the text that operators
/// and errors have for it.
#define TENON_ENUM(name, text)                      \
  namespace enumtype {                              \
  struct k##name {                                  \
    static constexpr const char* kText = text;      \
    static constexpr const char* kName = "k" #name; \
  };                                                \
  }                                                 \
  inline constexpr enumtype::k##name k##name{};

TENON_ENUM(Linear, "linear")
TENON_ENUM(Conv1D, "conv1d")
TENON_ENUM(Conv2D, "conv2d")
TENON_ENUM(Conv3D, "conv3d")
TENON_ENUM(ConvTranspose1D, "conv_transpose1d")
TENON_ENUM(ConvTranspose2D, "conv_transpose2d")
TENON_ENUM(ConvTranspose3D, "conv_transpose3d")
TENON_ENUM(Sigmoid, "sigmoid")
TENON_ENUM(Tanh, "tanh")
TENON_ENUM(ReLU, "relu")
TENON_ENUM(GELU, "gelu")
TENON_ENUM(SiLU, "silu")
TENON_ENUM(Mish, "mish")
TENON_ENUM(LeakyReLU, "leaky_relu")
TENON_ENUM(FanIn, "fan_in")
TENON_ENUM(FanOut, "fan_out")
TENON_ENUM(Constant, "constant")
TENON_ENUM(Reflect, "reflect")
TENON_ENUM(Replicate, "replicate")
TENON_ENUM(Circular, "circular")
TENON_ENUM(Nearest, "nearest")
TENON_ENUM(NearestExact, "nearest-exact")
TENON_ENUM(Bilinear, "bilinear")
TENON_ENUM(Bicubic, "bicubic")
TENON_ENUM(Trilinear, "trilinear")
TENON_ENUM(Area, "area")
TENON_ENUM(Sum, "sum")
TENON_ENUM(Mean, "mean")
TENON_ENUM(Max, "max")
TENON_ENUM(None, "none")
TENON_ENUM(BatchMean, "batchmean")
TENON_ENUM(Zeros, "zeros")
TENON_ENUM(Border, "border")
TENON_ENUM(Reflection, "reflection")
TENON_ENUM(RNN_TANH, "RNN_TANH")
TENON_ENUM(RNN_RELU, "RNN_RELU")
TENON_ENUM(LSTM, "LSTM")
TENON_ENUM(GRU, "GRU")
TENON_ENUM(Valid, "valid")
TENON_ENUM(Same, "same")

#undef TENON_ENUM

/// The text of the word that an option has: "mean" of kMean.
template <class... Words>
const char* enum_text(const std::variant<Words...>& option) {
  return std::visit([](auto word) { return decltype(word)::kText; }, option);
}

namespace enumtype {

/// The name of the word that an option has: "kMean".
template <class... Words>
std::string get_enum_name(const std::variant<Words...>& option) {
  return std::visit([](auto word) -> std::string { return decltype(word)::kName; }, option);
}

}  // namespace enumtype

}  // namespace tenon
