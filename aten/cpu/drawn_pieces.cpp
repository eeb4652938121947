#include "aten/iterator/drawn_pieces.h"

#include <algorithm>
#include <mutex>

#include "aten/core/parallel.h"
#include "aten/cpu/random_fill.h"
#include "aten/cpu/random_words.h"

namespace tenon::native {
namespace {

/// What the second-level cache holds beside other operands; a multiple of the 16 that normal
/// numbers are drawn by.
constexpr int64_t kPiece = int64_t{1} << 15;

/// `count` elements of a contiguous tensor from `begin` on; a single value as it is.
TensorBase piece_of(const TensorBase& t, int64_t begin, int64_t count) {
  if (t.dim() == 0) return t;
  return make_view(make_detached(t), {count}, {1}, t.storage_offset() + begin);
}

struct Piece {
  int64_t begin, count;
};

/// The pieces of n elements, handed out with their numbers in the order of the elements.
template <class T>
class DrawnPieces {
 public:
  DrawnPieces(GeneratorImpl& generator, Draw draw, int64_t n)
      : generator_(generator), draw_(draw), n_(n) {}

  /// The next piece; its count is 0 where there is none. `numbers` holds 2 * kPiece, `words` as
  /// many numbers' words.
  Piece next(T* numbers, uint32_t* words) {
    NormalBlocks<T> normal;
    const Piece piece = draw(words, normal);
    uniform_of_raw(words, numbers, piece.count);
    if (draw_ == Draw::Normal) normal.transform(numbers, piece.count, T(0), T(1));
    return piece;
  }

 private:
  /// All that threads wait for one another for.
  Piece draw(uint32_t* words, NormalBlocks<T>& normal) {
    std::lock_guard lock(mutex_);
    // The last piece is no short one: below 16 normal numbers are drawn otherwise.
    const int64_t left = n_ - begin_, count = left < 2 * kPiece ? left : kPiece;
    draw_raw_words(generator_, words, count * kWordsOf<T>);
    if (draw_ == Draw::Normal) normal.draw_last(generator_, count);
    begin_ += count;
    return {begin_ - count, count};
  }

  GeneratorImpl& generator_;
  Draw draw_;
  int64_t n_, begin_ = 0;
  std::mutex mutex_;
};

template <class T>
void run_pieces(const PointwiseOp& op, Draw draw, ResultTypes types, ArrayRef<TensorBase> outputs,
                ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                GeneratorImpl& generator) {
  const int64_t n = outputs[0].numel();
  DrawnPieces<T> pieces(generator, draw, n);
  const int64_t workers = std::min<int64_t>(get_num_threads(), n / kPiece);
  parallel_for(0, workers, 1, [&](int64_t, int64_t) {
    const TensorBase numbers = empty({2 * kPiece}, scalar_type_of<T>, kCPU);
    const TensorBase words = empty({2 * kPiece * kWordsOf<T>}, kInt, kCPU);
    TensorBase parts[kMaxOperands];
    const TensorBase* operands[kMaxOperands];
    for (int k = 0; k < kMaxOperands; ++k) operands[k] = &parts[k];
    while (true) {
      const auto [begin, count] = pieces.next(static_cast<T*>(numbers.mutable_data_ptr()),
                                              static_cast<uint32_t*>(words.mutable_data_ptr()));
      if (count == 0) return;
      size_t k = 0;
      for (const TensorBase& output : outputs) parts[k++] = piece_of(output, begin, count);
      for (const TensorBase* input : inputs) parts[k++] = piece_of(*input, begin, count);
      parts[k] = piece_of(numbers, 0, count);
      run_pointwise(op, {count}, types, kCPU, {operands, outputs.size()},
                    {operands + outputs.size(), inputs.size() + 1}, scalars, true);
    }
  });
}

}  // namespace

bool serves_drawn_pieces(ArrayRef<Draw> draws, Device device, IntArrayRef shape,
                         ArrayRef<const TensorBase*> inputs) {
  int64_t numel = 1;
  for (const int64_t size : shape) numel *= size;
  return draws.size() == 1 && device.is_cpu() && numel >= 2 * kPiece &&
         std::all_of(inputs.begin(), inputs.end(), [&](const TensorBase* t) {
           return t->dim() == 0 || (t->is_contiguous() && t->sizes() == shape);
         });
}

void run_in_drawn_pieces(const PointwiseOp& op, Draw draw, ResultTypes types,
                         ArrayRef<TensorBase> outputs, ArrayRef<const TensorBase*> inputs,
                         ArrayRef<const Scalar*> scalars,
                         const std::optional<Generator>& generator) {
  const LockedGenerator source(op.name, generator);
  if (types.common == kDouble) {
    run_pieces<double>(op, draw, types, outputs, inputs, scalars, *source);
  } else {
    run_pieces<float>(op, draw, types, outputs, inputs, scalars, *source);
  }
}

}  // namespace tenon::native
