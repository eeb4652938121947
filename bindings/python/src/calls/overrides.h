#pragma once

#include <vector>

#include "bindings/python/src/tensor_object.h"

/// `__torch_function__`: classes that take the calls their objects are passed to. Subclasses of
/// Tensor have it from Tensor; any other class may define it.
namespace tenon::python {

struct Function;

/// How many modes of `__torch_function__` threads are in, all together; Python's lock guards it.
extern int function_mode_count;
bool has_override_slow(PyObject* object);
/// Whether the object's class, or a mode of this thread, takes the calls that it is passed to. Two
/// comparisons for plain tensors.
inline bool has_override(PyObject* object) {
  return (!is_exact_tensor(object) || TENON_UNLIKELY(function_mode_count != 0)) &&
         has_override_slow(object);
}

/// The objects of a call whose classes take it: one of each class, subclasses first. The thread's
/// innermost mode comes before them.
class Overriding {
 public:
  Overriding();
  /// The object itself, or what is in a tuple or list.
  void add(PyObject* object);
  explicit operator bool() const { return by_mode_ || !objects_.empty(); }
  /// What the mode or the first class makes of `function(*args, **keywords)` that does not answer
  /// NotImplemented. Throws; null where all do.
  PyObject* call(PyObject* function, PyObject* args, PyObject* keywords) const;

 private:
  bool by_mode_;
  std::vector<PyObject*> objects_;
};

/// The call of a function or, with `self`, a method of Tensor, by the classes of its arguments that
/// take it; null where there are none. TypeError where all answer NotImplemented.
PyObject* call_override(const Function& function, PyObject* self, PyObject* const* args,
                        Py_ssize_t count, PyObject* names);

/// A class that takes calls below autograd does not take them above, unless it says how: Tensor's
/// own __torch_function__ is not inherited.
void disable_inherited_torch_function(PyTypeObject* type);

/// What Python knows a function as, where that is no attribute of its name.
void set_callable(const Function& function, PyObject* callable);

/// The same for `Tensor.<name>`, called with the arguments given; NotImplemented where all
/// classes answer so and `is_operator`, TypeError otherwise.
PyObject* call_override(const char* name, std::initializer_list<PyObject*> args,
                        bool is_operator = false);

/// The same for reading an attribute, `Tensor.<name>.__get__`, and for setting it.
PyObject* get_by_override(const char* name, PyObject* self);
void set_by_override(const char* name, PyObject* self, PyObject* value);

/// Adds the modes, DisableTorchFunction, DisableTorchFunctionSubclass and what tenon/overrides.py
/// is made of.
void add_overrides(PyObject* module);

}  // namespace tenon::python
