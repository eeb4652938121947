#include "tenon/native/sort.h"

#include <algorithm>
#include <bit>
#include <memory>

#include <hwy/contrib/sort/vqsort.h>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/sort_keys.h"
#include "tenon/native/topk.h"

namespace tenon {
namespace {

/// Key above, place below: sorting these sorts the keys and keeps equal ones in order. Keys of 64
/// bits need a pair, unless the largest and the smallest of a row lie so near that the place fits.
using Packed = uint64_t;
using Pair = hwy::uint128_t;

constexpr int64_t kCandidates = 256;
/// Columns that are read at a time, so that memory is read in its order.
constexpr int64_t kColumnsAtOnce = 16;

template <class P>
void sort_packed(P* p, int64_t n) {
  // Highway's vectorised quicksort (Blacher, Giesen, Sanders and Wassenberg, 2022).
  if (n < 64) {
    std::sort(p, p + n);
  } else {
    static thread_local const hwy::Sorter sorter;
    sorter(p, static_cast<size_t>(n), hwy::SortAscending());
  }
}

/// The order of a contiguous row: indices of the elements, best first; only the first k need be
/// right.
class RowOrder {
 public:
  RowOrder(ScalarType type, int64_t n, int64_t k) : type_(type), n_(n), k_(k) {
    short_ = native::has_short_keys(type) && n < (int64_t{1} << 32);
    place_bits_ = short_ ? 32 : std::bit_width(static_cast<uint64_t>(n));
    packed_ = std::make_unique_for_overwrite<Packed[]>(
        static_cast<size_t>(short_ && k < n ? capacity() : n));
  }
  int64_t operator[](int64_t i) const {
    return static_cast<int64_t>(paired_ ? pairs_[i].lo
                                        : packed_[i] & ((Packed{1} << place_bits_) - 1));
  }

  void run(const void* values, bool inverted) {
    if (!short_) {
      order_long(values, inverted);
    } else if (k_ < n_) {
      select_packed(values, inverted);
    } else {
      for_each_block(values, inverted, [this](const uint32_t* keys, int64_t begin, int64_t m) {
        for (int64_t j = 0; j < m; ++j) packed_[begin + j] = pack(keys[j], begin + j);
      });
      sort_packed(packed_.get(), n_);
    }
  }

 private:
  static Packed pack(uint32_t key, int64_t index) {
    return (static_cast<Packed>(key) << 32) | static_cast<Packed>(index);
  }
  int64_t capacity() const { return std::min(n_, 2 * k_ + kCandidates); }

  template <class F>
  void for_each_block(const void* values, bool inverted, F&& f) const {
    uint32_t keys[kCandidates];
    const auto* bytes = static_cast<const char*>(values);
    const auto item = static_cast<int64_t>(element_size(type_));
    for (int64_t begin = 0; begin < n_; begin += kCandidates) {
      const int64_t m = std::min(kCandidates, n_ - begin);
      native::make_keys(type_, bytes + begin * item, m, inverted, keys);
      f(keys, begin, m);
    }
  }

  /// Keeps the candidates: once 2 k are there, the worse half goes, and from then on most blocks
  /// hold nothing better and are left at a glance.
  void select_packed(const void* values, bool inverted) {
    int64_t count = 0;
    Packed limit = ~Packed{0};
    if (k_ == 0) return;
    for_each_block(values, inverted, [&](const uint32_t* keys, int64_t begin, int64_t m) {
      if (pack(native::smallest(keys, m), begin) > limit) return;
      for (int64_t j = 0; j < m; ++j) {
        const Packed p = pack(keys[j], begin + j);
        if (p > limit) continue;
        if (count == capacity()) count = shrink(count, limit);
        if (p <= limit) packed_[count++] = p;
      }
      if (count >= 2 * k_) count = shrink(count, limit);
    });
    std::nth_element(packed_.get(), packed_.get() + (k_ - 1), packed_.get() + count);
    sort_packed(packed_.get(), k_);
  }

  int64_t shrink(int64_t count, Packed& limit) {
    std::nth_element(packed_.get(), packed_.get() + (k_ - 1), packed_.get() + count);
    limit = packed_[k_ - 1];
    return k_;
  }

  void order_long(const void* values, bool inverted) {
    if (n_ == 0) return;
    if (element_size(type_) == 8) {
      native::make_keys(type_, values, n_, inverted, packed_.get());
    } else {
      for_each_block(values, inverted, [this](const uint32_t* keys, int64_t begin, int64_t m) {
        std::copy(keys, keys + m, packed_.get() + begin);
      });
    }
    const auto [least, largest] = std::minmax_element(packed_.get(), packed_.get() + n_);
    const Packed low = *least;
    paired_ = std::bit_width(*largest - low) + place_bits_ > 64;
    if (!paired_) {
      for (int64_t i = 0; i < n_; ++i)
        packed_[i] = (packed_[i] - low) << place_bits_ | static_cast<Packed>(i);
      return sort_first(packed_.get());
    }
    if (!pairs_) pairs_ = std::make_unique_for_overwrite<Pair[]>(static_cast<size_t>(n_));
    for (int64_t i = 0; i < n_; ++i) {
      pairs_[i].lo = static_cast<uint64_t>(i);
      pairs_[i].hi = packed_[i];
    }
    sort_first(pairs_.get());
  }

  template <class P>
  void sort_first(P* all) const {
    if (k_ > 0 && k_ < n_) std::nth_element(all, all + (k_ - 1), all + n_);
    sort_packed(all, k_);
  }

  ScalarType type_;
  int64_t n_;
  int64_t k_;
  bool short_;
  bool paired_ = false;
  int place_bits_;
  std::unique_ptr<Packed[]> packed_;
  std::unique_ptr<Pair[]> pairs_;
};

/// The k first of every row along dim, in order.
void order_rows(const Tensor& self, int64_t dim, int64_t k, bool inverted, const Tensor& values,
                const Tensor& indices) {
  if (values.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput v(values);
  const native::ContiguousOutput at(indices);
  const native::DimSplit split(in.sizes(), d);
  native::dispatch_size(in.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(in.const_data_ptr());
    auto* to = static_cast<T*>(v.data());
    auto* places = static_cast<int64_t*>(at.data());
    const int64_t inner = split.inner;
    const int64_t n = split.length;
    parallel_for(0, split.outer * inner, std::max<int64_t>(1, 4096 / n),
                 [&](int64_t begin, int64_t end) {
                   RowOrder order(self.scalar_type(), n, k);
                   const auto columns = std::make_unique_for_overwrite<T[]>(
                       static_cast<size_t>(inner > 1 ? kColumnsAtOnce * n : 0));
                   for (int64_t i = begin; i < end;) {
                     const T* rows = from + i / inner * n * inner + i % inner;
                     const int64_t count =
                         inner == 1 ? 1 : std::min({kColumnsAtOnce, end - i, inner - i % inner});
                     if (inner > 1) {
                       for (int64_t j = 0; j < n; ++j) {
                         for (int64_t c = 0; c < count; ++c)
                           columns[c * n + j] = rows[j * inner + c];
                       }
                       rows = columns.get();
                     }
                     for (int64_t c = 0; c < count; ++c, ++i) {
                       const T* row = rows + c * n;
                       order.run(row, inverted);
                       const int64_t out = i / inner * k * inner + i % inner;
                       for (int64_t j = 0; j < k; ++j) {
                         const int64_t place = order[j];
                         to[out + j * inner] = row[place];
                         places[out + j * inner] = place;
                       }
                     }
                   }
                 });
  });
  v.copy_back();
  at.copy_back();
}

}  // namespace

/// Always stable. NaN counts as the largest number.
void native::sort_stable_cpu(const Tensor& self, std::optional<bool>, int64_t dim, bool descending,
                             const Tensor& values, const Tensor& indices) {
  order_rows(self, dim, self.dim() == 0 ? 1 : self.size(dim), descending, values, indices);
}

/// Equal elements come in the order of their indices. A number without dimensions is its own row,
/// whatever k is.
void native::topk_cpu(const Tensor& self, int64_t k, int64_t dim, bool largest, bool,
                      const Tensor& values, const Tensor& indices) {
  order_rows(self, dim, self.dim() == 0 ? 1 : k, largest, values, indices);
}

}  // namespace tenon
