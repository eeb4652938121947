#include "tenon/native/sort.h"

#include <algorithm>
#include <memory>

#include <hwy/contrib/sort/vqsort.h>

#include "aten/core/parallel.h"
#include "aten/cpu/sort_keys.h"
#include "aten/cpu/strided_dim.h"
#include "tenon/native/topk.h"

namespace tenon {
namespace {

/// Key above, place below: sorting these sorts the keys and keeps equal ones in order.
using Packed = uint64_t;
struct Pair {
  uint64_t key;
  int64_t index;
  friend bool operator<(const Pair& a, const Pair& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

constexpr int64_t kCandidates = 256;

void sort_packed(Packed* p, int64_t n) {
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
    if (short_) {
      packed_ =
          std::make_unique_for_overwrite<Packed[]>(static_cast<size_t>(k < n ? capacity() : n));
    } else {
      pairs_ = std::make_unique_for_overwrite<Pair[]>(static_cast<size_t>(n));
    }
  }
  int64_t operator[](int64_t i) const {
    return short_ ? static_cast<int64_t>(packed_[i] & 0xffffffffu) : pairs_[i].index;
  }

  void run(const void* values, bool inverted) {
    if (!short_) {
      order_pairs(values, inverted);
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

  void order_pairs(const void* values, bool inverted) {
    uint64_t keys[kCandidates];
    const auto* bytes = static_cast<const char*>(values);
    const bool wide = element_size(type_) == 8;
    for (int64_t begin = 0; begin < n_; begin += kCandidates) {
      const int64_t m = std::min(kCandidates, n_ - begin);
      const char* at = bytes + begin * static_cast<int64_t>(element_size(type_));
      if (wide) {
        native::make_keys(type_, at, m, inverted, keys);
      } else {
        uint32_t narrow[kCandidates];
        native::make_keys(type_, at, m, inverted, narrow);
        std::copy(narrow, narrow + m, keys);
      }
      for (int64_t j = 0; j < m; ++j) pairs_[begin + j] = {keys[j], begin + j};
    }
    if (k_ < n_) {
      std::partial_sort(pairs_.get(), pairs_.get() + k_, pairs_.get() + n_);
    } else {
      std::sort(pairs_.get(), pairs_.get() + n_);
    }
  }

  ScalarType type_;
  int64_t n_;
  int64_t k_;
  bool short_;
  std::unique_ptr<Packed[]> packed_;
  std::unique_ptr<Pair[]> pairs_;
};

/// The k first of every row along dim, in order.
void order_rows(const Tensor& self, int64_t dim, int64_t k, bool inverted, const Tensor& values,
                const Tensor& indices) {
  if (values.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = native::dense(self);
  const native::DenseOutput v(values);
  const native::DenseOutput at(indices);
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
                   const auto gathered =
                       std::make_unique_for_overwrite<T[]>(static_cast<size_t>(inner > 1 ? n : 0));
                   for (int64_t i = begin; i < end; ++i) {
                     const T* row = from + i / inner * n * inner + i % inner;
                     if (inner > 1) {
                       for (int64_t j = 0; j < n; ++j) gathered[j] = row[j * inner];
                       row = gathered.get();
                     }
                     order.run(row, inverted);
                     const int64_t out = i / inner * k * inner + i % inner;
                     for (int64_t j = 0; j < k; ++j) {
                       const int64_t place = order[j];
                       to[out + j * inner] = row[place];
                       places[out + j * inner] = place;
                     }
                   }
                 });
  });
  v.finish();
  at.finish();
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
