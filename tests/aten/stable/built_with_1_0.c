// A library in C against version 1.0 of the interface. It also stands for one that needs a version
// that does not exist: NEEDED_MAJOR, NEEDED_MINOR.
#include <string.h>

#include "tests/aten/stable/released/interface_1_0.h"

#ifndef NEEDED_MAJOR
#define NEEDED_MAJOR TENON_INTERFACE_MAJOR
#define NEEDED_MINOR TENON_INTERFACE_MINOR
#endif

static const TenonInterface* table;

/// Adds `amount` to float32 elements in row-major order.
static int32_t add_amount(void* state, TenonOperator op, uint64_t keys, const TenonValue* arguments,
                          int64_t argument_count, TenonValue* results, int64_t result_count) {
  (void)state, (void)op, (void)keys, (void)argument_count, (void)result_count;
  const TenonTensor self = arguments[0].as.tensor;
  if (table->tensor_dtype(self) != 6)
    return table->set_error(TENON_TYPE_ERROR, "[add_amount] expected float32");
  if (!table->tensor_is_contiguous(self))
    return table->set_error(TENON_VALUE_ERROR, "[add_amount] expected a contiguous tensor");
  TenonTensor out;
  int32_t status = table->tensor_empty(table->tensor_sizes(self), NULL, table->tensor_dim(self), 6,
                                       0, -1, &out);
  if (status != TENON_OK) return status;
  results[0].kind = TENON_TENSOR;
  results[0].as.tensor = out;
  void *from, *to;
  if ((status = table->tensor_data(self, &from)) != TENON_OK) return status;
  if ((status = table->tensor_data(out, &to)) != TENON_OK) return status;
  const double amount = arguments[1].as.number;
  for (int64_t i = 0; i < table->tensor_numel(self); ++i)
    ((float*)to)[i] = ((float*)from)[i] + (float)amount;
  return TENON_OK;
}

/// aten::mul.Tensor, called by its name.
static int32_t squared(void* state, TenonOperator op, uint64_t keys, const TenonValue* arguments,
                       int64_t argument_count, TenonValue* results, int64_t result_count) {
  (void)state, (void)op, (void)keys, (void)argument_count;
  TenonOperator mul;
  const int32_t status = table->operator_find("aten::mul.Tensor", &mul);
  if (status != TENON_OK) return status;
  const TenonValue both[2] = {arguments[0], arguments[0]};
  return table->operator_call(mul, both, 2, results, result_count, &result_count);
}

static int32_t start(const TenonInterface* given) {
  table = given;
  TenonLibrary library;
  int32_t status = table->library_open("built_with_1_0", __FILE__, &library);
  if (status == TENON_OK)
    status = table->library_define(library, "add_amount(Tensor self, float amount=1) -> Tensor");
  if (status == TENON_OK)
    status = table->library_kernel(library, "add_amount", "CPU", add_amount, NULL);
  if (status == TENON_OK) status = table->library_define(library, "squared(Tensor self) -> Tensor");
  if (status == TENON_OK)
    status = table->library_kernel(library, "squared", "CompositeImplicit", squared, NULL);
  return status;
}

__attribute__((visibility("default"))) const TenonStableLibrary tenon_stable_library = {
    NEEDED_MAJOR, NEEDED_MINOR, start};
