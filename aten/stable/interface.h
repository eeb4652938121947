#ifndef TENON_STABLE_INTERFACE_H
#define TENON_STABLE_INTERFACE_H

// The binary interface of libraries of operators that serve several releases of Tenon. It is C and
// includes nothing of Tenon. aten/stable/stable_library.h wraps it for C++;
// docs/stable_interface.md.
//
// A library exports `tenon_stable_library`. It links nothing of Tenon: tenon::load_library() hands
// it the table below. A new minor version adds members at the end of the table and kinds of values;
// what stands keeps its place and meaning. A new major version may change both.

#include <stddef.h>
#include <stdint.h>

#define TENON_INTERFACE_MAJOR 1
#define TENON_INTERFACE_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

/// One reference to a tensor. Arguments are borrowed; results are the caller's to release.
typedef struct TenonTensorObject* TenonTensor;
/// An operator; valid as long as its library is loaded.
typedef const struct TenonOperatorObject* TenonOperator;
/// What a library has registered. It stays registered until the program ends.
typedef struct TenonLibraryObject* TenonLibrary;

/// What functions return. With any but TENON_OK, error_text() of the thread says what is wrong.
enum TenonStatus {
  TENON_OK = 0,
  TENON_ERROR = 1,           ///< RuntimeError in Python
  TENON_VALUE_ERROR = 2,     ///< ValueError
  TENON_TYPE_ERROR = 3,      ///< TypeError
  TENON_INDEX_ERROR = 4,     ///< IndexError
  TENON_NOT_IMPLEMENTED = 5  ///< NotImplementedError
};

enum TenonKind {
  TENON_NONE = 0,
  TENON_TENSOR = 1,
  TENON_BOOL = 2,      ///< as.integer, 0 or 1
  TENON_INT = 3,       ///< as.integer; dtypes, layouts and memory formats too, by PyTorch's numbers
  TENON_DOUBLE = 4,    ///< as.number
  TENON_COMPLEX = 5,   ///< as.complex: real part, imaginary part
  TENON_TEXT = 6,      ///< as.text, `count` bytes and a null byte
  TENON_INTS = 7,      ///< as.ints, `count` of them
  TENON_DOUBLES = 8,   ///< as.numbers
  TENON_BOOLS = 9,     ///< as.bools, bytes of 0 or 1
  TENON_TENSORS = 10,  ///< as.tensors; null for none
  TENON_DEVICE = 11    ///< as.device: type by PyTorch's number, index or -1
};

/// An argument or a result. A list in an argument is the caller's; one in a result comes from
/// allocate(), and release_value() frees it with its tensors.
typedef struct TenonValue {
  int32_t kind;
  int32_t reserved;
  int64_t count;
  union {
    TenonTensor tensor;
    int64_t integer;
    double number;
    double complex[2];
    const char* text;
    const int64_t* ints;
    const double* numbers;
    const uint8_t* bools;
    const TenonTensor* tensors;
    int32_t device[2];
  } as;
} TenonValue;

/// A kernel. `arguments`: all of the schema, in its order. `results`: one for each of the schema,
/// TENON_NONE before the call; a result that is an argument written in place is that argument,
/// retained. `keys`: what the call still has to go through, for operator_redispatch().
typedef int32_t (*TenonKernel)(void* state, TenonOperator op, uint64_t keys,
                               const TenonValue* arguments, int64_t argument_count,
                               TenonValue* results, int64_t result_count);

/// What backward is given. Values that were not saved are TENON_NONE, as are gradients that are
/// zero everywhere.
typedef struct TenonBackwardCall {
  TenonOperator op;
  const TenonValue* gradients;  ///< of each result
  const TenonValue* results;
  int64_t result_count;
  const TenonValue* arguments;
  int64_t argument_count;
  /// For each argument, whether its gradient is asked for.
  const uint8_t* wanted;
  /// TENON_INTS for each tensor, saved or not: the sizes of the gradients.
  const TenonValue* argument_sizes;
  const TenonValue* result_sizes;
} TenonBackwardCall;

/// Writes the gradient of each argument; TENON_NONE if it is zero. If is_recording(), it computes
/// them by operators alone.
typedef int32_t (*TenonBackward)(void* state, const TenonBackwardCall* call, TenonValue* gradients);

/// The derivative of an operator.
typedef struct TenonDerivative {
  TenonBackward backward;
  void* state;
  /// What is kept for backward: bit i is tensor argument or result i. Other arguments are always.
  uint64_t saved_arguments;
  uint64_t saved_results;
} TenonDerivative;

typedef struct TenonInterface {
  uint32_t major, minor;
  size_t size;          ///< of this table in bytes
  const char* version;  ///< of Tenon, "0.2.0"

  // ---- Errors. set_error() returns `status`, so that a kernel ends by `return set_error(...)`.
  int32_t (*set_error)(int32_t status, const char* text);
  const char* (*error_text)(void);

  // ---- Memory of lists and texts in results
  void* (*allocate)(size_t bytes);
  void (*release_value)(TenonValue* value);

  // ---- Tensors. `strides` may be null: row-major. Sizes and strides count elements.
  int32_t (*tensor_empty)(const int64_t* sizes, const int64_t* strides, int64_t dim, int32_t dtype,
                          int32_t device_type, int32_t device_index, TenonTensor* result);
  /// Over memory of the caller, which `release` gives back after the last use.
  int32_t (*tensor_from_memory)(void* data, const int64_t* sizes, const int64_t* strides,
                                int64_t dim, int32_t dtype, int32_t device_type,
                                int32_t device_index, void (*release)(void* context), void* context,
                                TenonTensor* result);
  void (*tensor_retain)(TenonTensor tensor);
  void (*tensor_release)(TenonTensor tensor);
  int64_t (*tensor_dim)(TenonTensor tensor);
  const int64_t* (*tensor_sizes)(TenonTensor tensor);
  const int64_t* (*tensor_strides)(TenonTensor tensor);
  int64_t (*tensor_numel)(TenonTensor tensor);
  int32_t (*tensor_dtype)(TenonTensor tensor);
  int32_t (*tensor_layout)(TenonTensor tensor);
  void (*tensor_device)(TenonTensor tensor, int32_t* type, int32_t* index);
  int32_t (*tensor_is_contiguous)(TenonTensor tensor);
  int32_t (*tensor_requires_grad)(TenonTensor tensor);
  /// The first element; null on devices without data. Error for a tensor without memory of its own.
  int32_t (*tensor_data)(TenonTensor tensor, void** data);

  // ---- Operators
  /// "aten::add.Tensor"
  int32_t (*operator_find)(const char* name, TenonOperator* result);
  /// The results in the order of the schema; as many as `capacity` at most, else an error.
  int32_t (*operator_call)(TenonOperator op, const TenonValue* arguments, int64_t argument_count,
                           TenonValue* results, int64_t capacity, int64_t* result_count);
  /// What a kernel of a layer does to go on: calls the operator for `keys` without the layer.
  int32_t (*operator_redispatch)(TenonOperator op, uint64_t keys, const char* without_layer,
                                 const TenonValue* arguments, int64_t argument_count,
                                 TenonValue* results, int64_t capacity, int64_t* result_count);

  // ---- Registration. `place`: a file and line for messages.
  int32_t (*library_open)(const char* ns, const char* place, TenonLibrary* result);
  int32_t (*library_define)(TenonLibrary library, const char* schema);
  /// `key`: a dispatch key's name, "CPU", "Meta", "CompositeImplicit", ...
  int32_t (*library_kernel)(TenonLibrary library, const char* name, const char* key,
                            TenonKernel kernel, void* state);

  // ---- Threads
  int64_t (*thread_count)(void);
  /// Calls f(context, b, e) for pieces of [begin, end) of at least `grain`, on several threads.
  void (*parallel_for)(int64_t begin, int64_t end, int64_t grain,
                       void (*f)(void* context, int64_t b, int64_t e), void* context);
  /// Whether operators that are called now are recorded for gradients, have tangents or compute
  /// batches: what is computed by hand then would be lost or wrong.
  int32_t (*is_recording)(void);
  /// Switches that on or off for this thread; returns what it was.
  int32_t (*set_recording)(int32_t on);

  // ---- Since 1.1
  /// Calls the overload of "aten::add" that takes the values; arguments at the end may be left out.
  int32_t (*call)(const char* name, const TenonValue* arguments, int64_t argument_count,
                  TenonValue* results, int64_t capacity, int64_t* result_count);
  int32_t (*library_derivative)(TenonLibrary library, const char* name,
                                const TenonDerivative* derivative);
  /// The dtype of floating results of integers, torch.get_default_dtype().
  int32_t (*default_dtype)(void);
  /// The dtype that tensors and numbers are promoted to, torch.result_type().
  int32_t (*result_type)(const TenonValue* values, int64_t count, int32_t* dtype);
} TenonInterface;

/// What a library exports under the name `tenon_stable_library`.
typedef struct TenonStableLibrary {
  uint32_t major, minor;  ///< TENON_INTERFACE_MAJOR and the minor version that it needs
  /// Registers operators and kernels. The table lives until the program ends.
  int32_t (*start)(const TenonInterface* table);
} TenonStableLibrary;

#ifdef __cplusplus
}
#endif

#endif
