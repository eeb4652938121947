#pragma once

#include "aten/core/array_ref.h"
#include "aten/core/device.h"
#include "aten/core/generator.h"
#include "aten/core/memory_format.h"
#include "aten/core/scalar_type.h"
#include "bindings/python/src/object.h"

/// dtype, layout, memory_format, device, Generator and Size.
namespace tenon::python {

/// tenon.float32, tenon.strided, tenon.channels_last: one object for each value.
PyObject* wrap(ScalarType type);
PyObject* wrap(Layout layout);
PyObject* wrap(MemoryFormat format);
PyObject* wrap(Device device);
PyObject* wrap(const Generator& generator);
/// A tenon.Size.
PyObject* wrap_size(ArrayRef<int64_t> sizes);

bool is_dtype(PyObject* object);  ///< also Python's float, int, bool, complex
bool is_layout(PyObject* object);
bool is_memory_format(PyObject* object);
bool is_device(PyObject* object);  ///< also a name, or the number of a GPU
bool is_generator(PyObject* object);

/// Of objects for which the above hold.
ScalarType dtype_of(PyObject* object);
Layout layout_of(PyObject* object);
MemoryFormat memory_format_of(PyObject* object);
Device device_of(PyObject* object);
const Generator& generator_of(PyObject* object);

/// "float32", as the dtype is called in Python.
const char* python_name(ScalarType type);

/// The device of `with device:` or set_default_device(), a borrowed reference; else null.
PyObject* default_device();

void add_named_values(PyObject* module);

}  // namespace tenon::python
