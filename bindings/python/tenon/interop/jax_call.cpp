// What XLA calls for an operator of Tenon's: compiled by jax.py against the header that comes with
// jaxlib.
#include <xla/ffi/api/c_api.h>

#include <cstdlib>
#include <cstring>

namespace {

/// Of bindings/python/src/calls/foreign_calls.cpp.
using RunCall = char* (*)(const char* name, size_t length, void* const* given, size_t given_count,
                          void* const* results, size_t count) noexcept;
RunCall run_call = nullptr;

/// Replaces pointers to buffers by pointers to their data.
struct DataOf {
  static constexpr int64_t kFew = 16;
  void* few[kFew];
  void** data;

  DataOf(void* const* buffers, int64_t count)
      : data(count <= kFew ? few : new void*[static_cast<size_t>(count)]) {
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<XLA_FFI_Buffer*>(buffers[i])->data;
  }
  ~DataOf() {
    if (data != few) delete[] data;
  }
  DataOf(const DataOf&) = delete;
  DataOf& operator=(const DataOf&) = delete;
};

XLA_FFI_Error* error(const XLA_FFI_Api* api, const char* message) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  return api->XLA_FFI_Error_Create(&args);
}

/// Which call it is, or null.
const XLA_FFI_ByteSpan* name_of(const XLA_FFI_Attrs& attrs) {
  for (int64_t i = 0; i < attrs.size; ++i) {
    const XLA_FFI_ByteSpan& key = *attrs.names[i];
    if (attrs.types[i] == XLA_FFI_AttrType_STRING && key.len == 4 &&
        std::memcmp(key.ptr, "call", 4) == 0) {
      return static_cast<const XLA_FFI_ByteSpan*>(attrs.attrs[i]);
    }
  }
  return nullptr;
}

}  // namespace

extern "C" void tenon_set_run_call(void* address) { run_call = reinterpret_cast<RunCall>(address); }

extern "C" XLA_FFI_Error* tenon_call(XLA_FFI_CallFrame* frame) {
  // At registration XLA asks which version this was compiled for.
  if (frame->extension_start && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    auto* metadata =
        reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame->extension_start)->metadata;
    metadata->api_version.major_version = XLA_FFI_API_MAJOR;
    metadata->api_version.minor_version = XLA_FFI_API_MINOR;
    return nullptr;
  }
  const XLA_FFI_ByteSpan* name = name_of(frame->attrs);
  if (!name) return error(frame->api, "a call of Tenon without its name");
  const DataOf given(frame->args.args, frame->args.size);
  const DataOf results(frame->rets.rets, frame->rets.size);
  char* const message =
      run_call(name->ptr, name->len, given.data, static_cast<size_t>(frame->args.size),
               results.data, static_cast<size_t>(frame->rets.size));
  if (!message) return nullptr;
  XLA_FFI_Error* const result = error(frame->api, message);
  std::free(message);
  return result;
}
