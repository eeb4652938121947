#include "aten/cpu/onednn.h"

#include "tenon/config.h"

#if TENON_HAS_ONEDNN

#include <algorithm>
#include <list>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"

namespace tenon::native::onednn {
namespace {

using dnnl::memory;
using Dims = memory::dims;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  thread_local dnnl::stream s(engine());
  return s;
}

std::optional<memory::data_type> data_type(ScalarType dtype) {
  switch (dtype) {
  case ScalarType::Float: return memory::data_type::f32;
  case ScalarType::BFloat16: return memory::data_type::bf16;
  case ScalarType::Half: return memory::data_type::f16;
  default: return std::nullopt;
  }
}

/// Memory for the time of one call.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : bytes_(bytes), data_(bytes ? memory_allocate(bytes) : nullptr) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (data_) tenon::memory::deallocate(data_, bytes_);
  }
  void* data() const { return data_; }

 private:
  static void* memory_allocate(size_t bytes) { return tenon::memory::allocate(bytes); }

  size_t bytes_;
  void* data_;
};

/// An operand: as the tensor lies in memory, and as the primitive wants it.
struct Operand {
  int argument = 0;  // DNNL_ARG_..., 0: not there
  bool output = false;
  memory user;
  memory inner;
  std::optional<dnnl::reorder> reorder;
};

/// A primitive with everything that does not change between two calls of the same geometry.
struct Cached {
  bool usable = false;
  dnnl::primitive primitive;
  Operand operands[4];
  memory scratchpad;
  size_t scratchpad_bytes = 0;
  std::unordered_map<int, memory> arguments;

  void add(int slot, int argument, bool output, const memory::desc& user,
           const memory::desc& inner) {
    Operand& o = operands[slot];
    o.argument = argument;
    o.output = output;
    o.user = memory(user, engine(), nullptr);
    o.inner = o.user;
    if (user != inner) {
      o.inner = memory(inner, engine(), nullptr);
      o.reorder = output ? dnnl::reorder(o.inner, o.user) : dnnl::reorder(o.user, o.inner);
    }
    arguments[argument] = o.inner;
  }
  void finish(dnnl::primitive p, const memory::desc& scratchpad_desc) {
    primitive = std::move(p);
    scratchpad_bytes = scratchpad_desc.get_size();
    scratchpad = memory(scratchpad_desc, engine(), nullptr);
    arguments[DNNL_ARG_SCRATCHPAD] = scratchpad;
    usable = true;
  }

  /// Runs on the tensors' data, in the order of the slots.
  void run(std::array<void*, 4> data) {
    const auto bytes = [&](int i) {
      return operands[i].reorder ? operands[i].inner.get_desc().get_size() : 0;
    };
    const Scratch buffers[4] = {Scratch(bytes(0)), Scratch(bytes(1)), Scratch(bytes(2)),
                                Scratch(bytes(3))};
    const Scratch scratch(scratchpad_bytes);
    dnnl::stream& s = stream();
    tenon::detail::expect_openmp_region();
    for (int i = 0; i < 4; ++i) {
      Operand& o = operands[i];
      if (!o.argument) continue;
      o.user.set_data_handle(data[i]);
      if (!o.reorder) continue;
      o.inner.set_data_handle(buffers[i].data());
      if (!o.output) o.reorder->execute(s, o.user, o.inner);
    }
    scratchpad.set_data_handle(scratch.data());
    primitive.execute(s, arguments);
    for (Operand& o : operands) {
      if (o.argument && o.reorder && o.output) o.reorder->execute(s, o.inner, o.user);
    }
    s.wait();
  }
};

enum class Kind : int64_t { Forward, BackwardData, BackwardWeight, Product };

constexpr size_t kKeySize = 32;
using Key = std::array<int64_t, kKeySize>;

struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (const int64_t v : key)
      h = (h ^ static_cast<uint64_t>(v)) * 0xff51afd7ed558ccdull, h ^= h >> 32;
    return h;
  }
};

/// The primitives last used by this thread; no lock, and none is shared while it runs.
class Cache {
 public:
  static Cache& get() {
    thread_local Cache cache;
    return cache;
  }
  /// The entry of `key`, made by `make(entry)` the first time; one that cannot be made stays
  /// unusable.
  template <class Make>
  Cached& find(const Key& key, Make&& make) {
    const auto known = index_.find(key);
    if (known != index_.end()) {
      if (known->second != entries_.begin())
        entries_.splice(entries_.begin(), entries_, known->second);
      return known->second->second;
    }
    if (entries_.size() == kCapacity) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front();
    entries_.front().first = key;
    index_[key] = entries_.begin();
    try {
      make(entries_.front().second);
    } catch (const dnnl::error&) {
      entries_.front().second.usable = false;
    }
    return entries_.front().second;
  }

 private:
  static constexpr size_t kCapacity = 256;

  std::list<std::pair<Key, Cached>> entries_;
  std::unordered_map<Key, std::list<std::pair<Key, Cached>>::iterator, KeyHash> index_;
};

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

bool is_channels_last(const TensorBase& t) {
  return !t.is_contiguous() && (t.dim() == 4 || t.dim() == 5) &&
         t.is_contiguous(t.dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d);
}

/// Descriptors of a convolution: as the tensors lie, and as they are asked for.
struct ConvDescriptors {
  memory::desc src, weight, bias, dst;
  memory::desc any_src, any_weight, any_dst;
  Dims stride, dilation, padding;

  ConvDescriptors(const ConvGeometry& g, memory::data_type type, bool src_last, bool dst_last) {
    const size_t n = g.spatial, first = 3 - n;
    Dims src_dims{g.batch, g.channels}, dst_dims{g.batch, g.outputs}, weight_dims;
    if (g.groups > 1) weight_dims.push_back(g.groups);
    weight_dims.push_back(g.outputs / g.groups);
    weight_dims.push_back(g.channels / g.groups);
    for (size_t i = first; i < 3; ++i) {
      src_dims.push_back(g.in[i]);
      dst_dims.push_back(g.out[i]);
      weight_dims.push_back(g.kernel[i]);
      stride.push_back(g.stride[i]);
      dilation.push_back(g.dilation[i] - 1);
      padding.push_back(g.padding[i]);
    }
    using Tag = memory::format_tag;
    constexpr Tag kFirst[] = {Tag::ncw, Tag::nchw, Tag::ncdhw};
    constexpr Tag kLast[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
    constexpr Tag kWeight[] = {Tag::oiw, Tag::oihw, Tag::oidhw};
    constexpr Tag kGrouped[] = {Tag::goiw, Tag::goihw, Tag::goidhw};
    src = memory::desc(src_dims, type, (src_last ? kLast : kFirst)[n - 1]);
    dst = memory::desc(dst_dims, type, (dst_last ? kLast : kFirst)[n - 1]);
    weight = memory::desc(weight_dims, type, (g.groups > 1 ? kGrouped : kWeight)[n - 1]);
    bias = memory::desc({g.outputs}, type, Tag::x);
    // Channels last is used as it is; from row-major, the layout of the fastest kernel pays for its
    // reorder.
    any_src = src_last ? src : memory::desc(src_dims, type, Tag::any);
    any_dst = dst_last ? dst : memory::desc(dst_dims, type, Tag::any);
    any_weight = memory::desc(weight_dims, type, Tag::any);
  }
  Dims padding_end(const ConvGeometry& g) const {
    Dims end;
    for (size_t i = 3 - g.spatial; i < 3; ++i) {
      const int64_t covered = (g.out[i] - 1) * g.stride[i] + (g.kernel[i] - 1) * g.dilation[i] + 1;
      end.push_back(covered - g.in[i] - g.padding[i]);
    }
    return end;
  }
};

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

/// Whether oneDNN has no kernel for it but plain loops, against which a matrix product of patches
/// is a hundred times faster.
template <class Description>
bool is_reference(const Description& description) {
  return std::string_view(description.impl_info_str()).starts_with("ref");
}

dnnl::convolution_forward::primitive_desc forward_desc(const ConvGeometry& g,
                                                       const ConvDescriptors& d, bool with_bias,
                                                       dnnl::prop_kind kind) {
  const memory::desc bias = with_bias ? d.bias : memory::desc();
#if DNNL_VERSION_MAJOR >= 3
  return {engine(),  kind,     kDirect,    d.any_src, d.any_weight,     bias,
          d.any_dst, d.stride, d.dilation, d.padding, d.padding_end(g), attributes()};
#else
  return {{kind, kDirect, d.any_src, d.any_weight, bias, d.any_dst, d.stride, d.dilation, d.padding,
           d.padding_end(g)},
          attributes(),
          engine()};
#endif
}

Key conv_key(Kind kind, const ConvGeometry& g, ScalarType dtype, bool src_last, bool dst_last,
             bool bias) {
  Key key{static_cast<int64_t>(kind),
          static_cast<int64_t>(dtype),
          get_num_threads(),
          src_last + 2 * dst_last + 4 * bias,
          g.spatial,
          g.batch,
          g.channels,
          g.outputs,
          g.groups};
  size_t at = 9;
  for (const auto* triple : {&g.in, &g.out, &g.kernel, &g.stride, &g.padding, &g.dilation}) {
    for (const int64_t v : *triple) key[at++] = v;
  }
  return key;
}

}  // namespace

bool matrix_product(ScalarType dtype, ProductSizes sizes, MatrixBatch a, MatrixBatch b,
                    MatrixBatch out, const void* bias) {
  const auto type = data_type(dtype);
  const auto plain = [](const MatrixBatch& x, int64_t rows, int64_t columns) {
    return (x.col == 1 && (x.row >= columns || rows == 1)) ||
           (x.row == 1 && (x.col >= rows || columns == 1));
  };
  if (!type || sizes.k == 0 || !plain(a, sizes.m, sizes.k) || !plain(b, sizes.k, sizes.n) ||
      !plain(out, sizes.m, sizes.n)) {
    return false;
  }
  const Key key{static_cast<int64_t>(Kind::Product),
                static_cast<int64_t>(dtype),
                get_num_threads(),
                bias != nullptr,
                sizes.batch,
                sizes.m,
                sizes.n,
                sizes.k,
                a.batch,
                a.row,
                a.col,
                b.batch,
                b.row,
                b.col,
                out.batch,
                out.row,
                out.col};
  Cached& cached = Cache::get().find(key, [&](Cached& c) {
    const auto describe = [&](const MatrixBatch& x, int64_t rows, int64_t columns) {
      return sizes.batch == 1
                 ? memory::desc({rows, columns}, *type, Dims{x.row, x.col})
                 : memory::desc({sizes.batch, rows, columns}, *type, Dims{x.batch, x.row, x.col});
    };
    const memory::desc da = describe(a, sizes.m, sizes.k), db = describe(b, sizes.k, sizes.n);
    const memory::desc dout = describe(out, sizes.m, sizes.n);
    const memory::desc dbias =
        !bias              ? memory::desc()
        : sizes.batch == 1 ? memory::desc({1, sizes.n}, *type, Dims{sizes.n, 1})
                           : memory::desc({1, 1, sizes.n}, *type, Dims{sizes.n, sizes.n, 1});
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc desc(engine(), da, db, dbias, dout, attributes());
#else
    const dnnl::matmul::primitive_desc desc({da, db, dbias, dout}, attributes(), engine());
#endif
    c.add(0, DNNL_ARG_SRC, false, da, da);
    c.add(1, DNNL_ARG_WEIGHTS, false, db, db);
    c.add(2, DNNL_ARG_DST, true, dout, dout);
    if (bias) c.add(3, DNNL_ARG_BIAS, false, dbias, dbias);
    c.finish(dnnl::matmul(desc), desc.scratchpad_desc());
  });
  if (!cached.usable) return false;
  cached.run({a.data, b.data, out.data, const_cast<void*>(bias)});
  return true;
}

bool conv_forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
                  const TensorBase& bias, const TensorBase& dst) {
  const auto type = data_type(src.scalar_type());
  if (!type) return false;
  const bool src_last = is_channels_last(src), dst_last = is_channels_last(dst);
  const Key key = conv_key(Kind::Forward, g, src.scalar_type(), src_last, dst_last, bias.defined());
  Cached& cached = Cache::get().find(key, [&](Cached& c) {
    const ConvDescriptors d(g, *type, src_last, dst_last);
    const auto desc = forward_desc(g, d, bias.defined(), dnnl::prop_kind::forward_inference);
    if (is_reference(desc)) return;
    c.add(0, DNNL_ARG_SRC, false, d.src, desc.src_desc());
    c.add(1, DNNL_ARG_WEIGHTS, false, d.weight, desc.weights_desc());
    c.add(2, DNNL_ARG_DST, true, d.dst, desc.dst_desc());
    if (bias.defined()) c.add(3, DNNL_ARG_BIAS, false, d.bias, desc.bias_desc());
    c.finish(dnnl::convolution_forward(desc), desc.scratchpad_desc());
  });
  if (!cached.usable) return false;
  cached.run({src.data_ptr(), weight.data_ptr(), dst.data_ptr(),
              bias.defined() ? bias.data_ptr() : nullptr});
  return true;
}

bool conv_backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                        const TensorBase& diff_dst) {
  const auto type = data_type(diff_dst.scalar_type());
  if (!type) return false;
  const bool src_last = is_channels_last(diff_src), dst_last = is_channels_last(diff_dst);
  const Key key =
      conv_key(Kind::BackwardData, g, diff_dst.scalar_type(), src_last, dst_last, false);
  Cached& cached = Cache::get().find(key, [&](Cached& c) {
    const ConvDescriptors d(g, *type, src_last, dst_last);
    const auto hint = forward_desc(g, d, false, dnnl::prop_kind::forward_training);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_backward_data::primitive_desc desc(
        engine(), kDirect, d.any_src, d.any_weight, d.any_dst, d.stride, d.dilation, d.padding,
        d.padding_end(g), hint, attributes());
#else
    const dnnl::convolution_backward_data::primitive_desc desc(
        {kDirect, d.any_src, d.any_weight, d.any_dst, d.stride, d.dilation, d.padding,
         d.padding_end(g)},
        attributes(), engine(), hint);
#endif
    if (is_reference(desc)) return;
    c.add(0, DNNL_ARG_DIFF_SRC, true, d.src, desc.diff_src_desc());
    c.add(1, DNNL_ARG_WEIGHTS, false, d.weight, desc.weights_desc());
    c.add(2, DNNL_ARG_DIFF_DST, false, d.dst, desc.diff_dst_desc());
    c.finish(dnnl::convolution_backward_data(desc), desc.scratchpad_desc());
  });
  if (!cached.usable) return false;
  cached.run({diff_src.data_ptr(), weight.data_ptr(), diff_dst.data_ptr(), nullptr});
  return true;
}

bool conv_backward_weight(const ConvGeometry& g, const TensorBase& src,
                          const TensorBase& diff_weight, const TensorBase& diff_bias,
                          const TensorBase& diff_dst) {
  const auto type = data_type(src.scalar_type());
  if (!type) return false;
  const bool src_last = is_channels_last(src), dst_last = is_channels_last(diff_dst);
  const bool with_bias = diff_bias.defined();
  const Key key =
      conv_key(Kind::BackwardWeight, g, src.scalar_type(), src_last, dst_last, with_bias);
  Cached& cached = Cache::get().find(key, [&](Cached& c) {
    const ConvDescriptors d(g, *type, src_last, dst_last);
    const auto hint = forward_desc(g, d, with_bias, dnnl::prop_kind::forward_training);
    const memory::desc bias = with_bias ? d.bias : memory::desc();
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_backward_weights::primitive_desc desc(
        engine(), kDirect, d.any_src, d.any_weight, bias, d.any_dst, d.stride, d.dilation,
        d.padding, d.padding_end(g), hint, attributes());
#else
    const dnnl::convolution_backward_weights::primitive_desc desc(
        {kDirect, d.any_src, d.any_weight, bias, d.any_dst, d.stride, d.dilation, d.padding,
         d.padding_end(g)},
        attributes(), engine(), hint);
#endif
    if (is_reference(desc)) return;
    c.add(0, DNNL_ARG_SRC, false, d.src, desc.src_desc());
    c.add(1, DNNL_ARG_DIFF_WEIGHTS, true, d.weight, desc.diff_weights_desc());
    c.add(2, DNNL_ARG_DIFF_DST, false, d.dst, desc.diff_dst_desc());
    if (with_bias) c.add(3, DNNL_ARG_DIFF_BIAS, true, d.bias, desc.diff_bias_desc());
    c.finish(dnnl::convolution_backward_weights(desc), desc.scratchpad_desc());
  });
  if (!cached.usable) return false;
  cached.run({src.data_ptr(), diff_weight.data_ptr(), diff_dst.data_ptr(),
              with_bias ? diff_bias.data_ptr() : nullptr});
  return true;
}

}  // namespace tenon::native::onednn

#else

namespace tenon::native::onednn {

bool matrix_product(ScalarType, ProductSizes, MatrixBatch, MatrixBatch, MatrixBatch, const void*) {
  return false;
}
bool conv_forward(const ConvGeometry&, const TensorBase&, const TensorBase&, const TensorBase&,
                  const TensorBase&) {
  return false;
}
bool conv_backward_data(const ConvGeometry&, const TensorBase&, const TensorBase&,
                        const TensorBase&) {
  return false;
}
bool conv_backward_weight(const ConvGeometry&, const TensorBase&, const TensorBase&,
                          const TensorBase&, const TensorBase&) {
  return false;
}

}  // namespace tenon::native::onednn

#endif
