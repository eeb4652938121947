#include "runtime/serialization/pickle/dtype_name.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenon::serialization {
namespace {

constexpr std::array<std::pair<ScalarType, std::string_view>, 20> kNames = {{
    {kByte, "uint8"},
    {kChar, "int8"},
    {kShort, "int16"},
    {kInt, "int32"},
    {kLong, "int64"},
    {kHalf, "float16"},
    {kFloat, "float32"},
    {kDouble, "float64"},
    {kComplexHalf, "complex32"},
    {kComplexFloat, "complex64"},
    {kComplexDouble, "complex128"},
    {kBool, "bool"},
    {kBFloat16, "bfloat16"},
    {kFloat8_e5m2, "float8_e5m2"},
    {kFloat8_e4m3fn, "float8_e4m3fn"},
    {kFloat8_e5m2fnuz, "float8_e5m2fnuz"},
    {kFloat8_e4m3fnuz, "float8_e4m3fnuz"},
    {kUInt16, "uint16"},
    {kUInt32, "uint32"},
    {kUInt64, "uint64"},
}};

/// PyTorch's other dtypes.
constexpr std::array<std::string_view, 27> kOthers = {
    "bcomplex32",     "bits16", "bits1x8", "bits2x4",  "bits4x2",  "bits8",  "float4_e2m1fn_x2",
    "float8_e8m0fnu", "int1",   "int2",    "int3",     "int4",     "int5",   "int6",
    "int7",           "qint32", "qint8",   "quint2x4", "quint4x2", "quint8", "uint1",
    "uint2",          "uint3",  "uint4",   "uint5",    "uint6",    "uint7"};

}  // namespace

std::string dtype_name(ScalarType dtype) {
  for (const auto& [type, name] : kNames)
    if (type == dtype) return std::string(name);
  return "undefined";
}

std::optional<ScalarType> dtype_of_name(std::string_view name) {
  for (const auto& [type, known] : kNames)
    if (known == name) return type;
  return std::nullopt;
}

bool is_dtype_name(std::string_view name) {
  return dtype_of_name(name) || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end();
}

std::string storage_class(ScalarType dtype) { return std::string(to_string(dtype)) + "Storage"; }

std::optional<ScalarType> storage_dtype(std::string_view global) {
  if (global == "torch.storage UntypedStorage" || global == "torch UntypedStorage")
    return ScalarType::Undefined;
  // Files of old have classes of their own for GPUs.
  for (const std::string_view module : {"torch ", "torch.cuda "}) {
    if (!global.starts_with(module)) continue;
    const std::string_view name = global.substr(module.size());
#define TENON_MATCH(T, Name) \
  if (name == #Name "Storage") return ScalarType::Name;
    TENON_FORALL_TYPES(TENON_MATCH)
#undef TENON_MATCH
  }
  return std::nullopt;
}

uint64_t storage_element_bytes(std::string_view global) {
  if (const auto dtype = storage_dtype(global))
    return *dtype == ScalarType::Undefined ? 1 : element_size(*dtype);
  return global == "torch QInt32Storage" ? 4 : 1;  // the others that PyTorch has hold bytes
}

}  // namespace tenon::serialization
