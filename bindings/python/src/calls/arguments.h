#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aten/core/small_vector.h"
#include "aten/dispatch/operator_types.h"
#include "bindings/python/src/tensor_object.h"

/// How Python's arguments reach an operator. The generated tables say what each overload takes; one
/// parser reads them all.
namespace tenon::python {

enum class Kind : uint8_t {
  Tensor,
  TensorList,
  OptionalTensorList,
  Int,
  IntList,
  Float,
  FloatList,
  Bool,
  BoolList,
  Scalar,
  ScalarList,
  String,
  DType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Out,  ///< tensors to write the results to, `size` of them
};

struct Parameter {
  const char* name;
  Kind kind;
  bool optional = false;  ///< may be None
  bool has_default = false;
  int64_t size = 0;  ///< of a list: its length, to which a single number is expanded; 0: any
};

struct Arguments;

/// One form of an operator.
struct Overload {
  const char* signature;  ///< "(Tensor input, Tensor other, *, Number alpha=1) -> Tensor"
  const Parameter* parameters;
  uint8_t count;
  uint8_t positional;  ///< so many of the parameters may be given without their name
  int8_t self;         ///< the parameter that is the tensor itself in a method, or -1
  PyObject* (*call)(Arguments& arguments);
};

/// A name, with the overloads that it may mean in order of preference.
struct Function {
  const char* name;
  const Overload* const* overloads;
  size_t count;
};

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count,
                               PyObject* names);

/// A function in a module of Python, "" for `tenon` itself; a method of Tensor.
struct FunctionEntry {
  const char* module;
  const char* name;
  const Function* function;
  FastCall call;
  const char* expression;  ///< what a pointwise operator computes, or ""
};
/// Of the generated functions; a null pointer ends them, and an entry without name each list.
extern const FunctionEntry* const kGeneratedFunctions[];
extern const FunctionEntry* const kGeneratedMethods[];

inline constexpr size_t kMaximumParameters = 32;
/// Calls whose tensors have at least so many elements let other threads run meanwhile. Below, that
/// would take as long as the call.
inline constexpr int64_t kElementsToUnlock = 4096;

struct OptionalInts {
  DimVector values;
  bool given = false;
  operator OptionalIntArrayRef() const {
    return given ? OptionalIntArrayRef(IntArrayRef(values)) : OptionalIntArrayRef();
  }
};

/// A list of numbers that may be absent.
struct OptionalReals {
  std::vector<double> values;
  bool given = false;
  operator std::optional<ArrayRef<double>>() const {
    return given ? std::optional(ArrayRef<double>(values)) : std::nullopt;
  }
};

/// The arguments of one call, one for each parameter of its overload; null where none is given.
/// They have been checked to be of their parameter's kind; what they are is read here. Not given,
/// or None: the default.
struct Arguments {
  const Function* function;
  const Overload* overload;
  const void* context = nullptr;       ///< the caller's
  PyObject* const* varargs = nullptr;  ///< `view(2, 3)`: the numbers of the first list
  size_t varargs_count = 0;
  int varargs_at = -1;
  int64_t elements = 0;  ///< of the largest tensor, or of one to be made
  bool subclasses;       ///< whether a tensor's class is not Tensor itself
  PyObject* values[kMaximumParameters];

  bool given(size_t i) const { return values[i] && values[i] != Py_None; }
  /// The object itself, as a new reference.
  PyObject* again(size_t i) const { return Py_NewRef(values[i]); }

  const Tensor& tensor(size_t i) const { return tensor_of(values[i]); }
  Tensor& mutable_tensor(size_t i) const { return tensor_of(values[i]); }
  /// Tensor `which` of those given for results.
  Tensor& out(size_t i, size_t which) const;
  std::optional<Tensor> optional_tensor(size_t i) const {
    return given(i) ? std::optional<Tensor>(tensor(i)) : std::nullopt;
  }
  std::vector<Tensor> tensors(size_t i) const;
  std::vector<std::optional<Tensor>> optional_tensors(size_t i) const;

  int64_t integer(size_t i, int64_t otherwise = 0) const {
    return given(i) ? read_integer(values[i]) : otherwise;
  }
  std::optional<int64_t> optional_integer(size_t i) const {
    return given(i) ? std::optional(read_integer(values[i])) : std::nullopt;
  }
  DimVector integers(size_t i, std::initializer_list<int64_t> otherwise = {});
  OptionalInts optional_integers(size_t i);
  double real(size_t i, double otherwise = 0) const {
    return given(i) ? read_real(values[i]) : otherwise;
  }
  std::optional<double> optional_real(size_t i) const {
    return given(i) ? std::optional(read_real(values[i])) : std::nullopt;
  }
  std::vector<double> reals(size_t i) const;
  OptionalReals optional_reals(size_t i) const {
    return given(i) ? OptionalReals{reals(i), true} : OptionalReals();
  }
  bool boolean(size_t i, bool otherwise = false) const {
    return given(i) ? read_boolean(values[i]) : otherwise;
  }
  std::optional<bool> optional_boolean(size_t i) const {
    return given(i) ? std::optional(read_boolean(values[i])) : std::nullopt;
  }
  template <size_t N>
  std::array<bool, N> booleans(size_t i) const {
    std::array<bool, N> list{};
    read_booleans(i, list.data(), N);
    return list;
  }
  Scalar scalar(size_t i, const Scalar& otherwise = {}) const {
    return given(i) ? read_scalar(values[i]) : otherwise;
  }
  std::optional<Scalar> optional_scalar(size_t i) const {
    return given(i) ? std::optional(read_scalar(values[i])) : std::nullopt;
  }
  std::vector<Scalar> scalars(size_t i) const;
  std::string_view string(size_t i, std::string_view otherwise = {}) const;
  std::optional<std::string_view> optional_string(size_t i) const {
    return given(i) ? std::optional(string(i)) : std::nullopt;
  }
  ScalarType dtype(size_t i, ScalarType otherwise = kFloat) const;
  std::optional<ScalarType> optional_dtype(size_t i) const {
    return given(i) ? std::optional(dtype(i)) : std::nullopt;
  }
  std::optional<ScalarType> optional_dtype(size_t i, ScalarType otherwise) const {
    return dtype(i, otherwise);
  }
  tenon::Layout layout(size_t i, tenon::Layout otherwise = kStrided) const;
  std::optional<tenon::Layout> optional_layout(size_t i) const {
    return given(i) ? std::optional(layout(i)) : std::nullopt;
  }
  tenon::Device device(size_t i, tenon::Device otherwise = kCPU) const;
  std::optional<tenon::Device> optional_device(size_t i) const {
    return given(i) ? std::optional(device(i)) : std::nullopt;
  }
  tenon::MemoryFormat
  memory_format(size_t i, tenon::MemoryFormat otherwise = tenon::MemoryFormat::Contiguous) const;
  std::optional<tenon::MemoryFormat> optional_memory_format(size_t i) const {
    return given(i) ? std::optional(memory_format(i)) : std::nullopt;
  }
  std::optional<tenon::Generator> optional_generator(size_t i) const;
  tenon::Generator generator(size_t i) const { return *optional_generator(i); }

  static int64_t read_integer(PyObject* object);
  static double read_real(PyObject* object);
  static bool read_boolean(PyObject* object);
  static Scalar read_scalar(PyObject* object);

 private:
  void read_booleans(size_t i, bool* to, size_t count) const;
  void read_integers(size_t i, DimVector& to) const;
};

/// Lets other threads run Python while a call that is long enough computes.
class Unlocked {
 public:
  explicit Unlocked(bool yes) : state_(yes ? PyEval_SaveThread() : nullptr) {}
  explicit Unlocked(const Arguments& arguments)
      : Unlocked(arguments.elements >= kElementsToUnlock) {}
  ~Unlocked() {
    if (state_) PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls the first overload that takes the arguments; `self` is null for a function. Null, with a
/// TypeError that says of each overload why it does not, if there is none.
PyObject* call_function(const Function& function, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names) noexcept;
/// The same with what Arguments::context is to be.
PyObject* call_function(const Function& function, const void* context, PyObject* self,
                        PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept;

/// Whether the object is a number: Python's, numpy's, not a tensor.
bool is_number(PyObject* object);
/// Whether it is a whole number, and no bool: Python's or numpy's.
bool is_integer(PyObject* object);

}  // namespace tenon::python
