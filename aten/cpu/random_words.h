#pragma once

#include <algorithm>
#include <cstdint>

#include "aten/core/generator.h"

namespace tenon::native {

/// Draws from an mt19937 in bulk, the same values in the same order as one at a time. The engine
/// must be left alone while this lives; it gets its state back in the destructor.
class RandomWords {
 public:
  explicit RandomWords(Mt19937& engine)
      : engine_(engine), state_(engine.words()), next_(engine.position()) {}
  ~RandomWords() { engine_.set_state(state_, next_); }
  RandomWords(const RandomWords&) = delete;
  RandomWords& operator=(const RandomWords&) = delete;

  void draw(uint32_t* out, int64_t count);
  /// The same before tempering, which needs no engine.
  void draw_raw(uint32_t* out, int64_t count);

 private:
  Mt19937& engine_;
  std::array<uint32_t, Mt19937::kWords> state_;
  int next_;
};

/// Below this many draws the engine itself is quicker than copying its state twice.
inline constexpr int64_t kFewWords = 256;

/// The next values in [0, 1): float k 2^-24, k = word & (2^24 - 1); double k 2^-53, k = two words &
/// (2^53 - 1), high word first; then scaled to from + u (to - from).
void draw_uniform(GeneratorImpl& generator, float* out, int64_t count, float from, float to);
void draw_uniform(GeneratorImpl& generator, double* out, int64_t count, double from, double to);

/// draw_uniform in two parts, the second of which needs no generator: the words of `count` numbers,
/// one each for float and two for double, and the numbers in [0, 1) that they give.
template <class T>
inline constexpr int64_t kWordsOf = static_cast<int64_t>(sizeof(T) / sizeof(uint32_t));
void draw_raw_words(GeneratorImpl& generator, uint32_t* words, int64_t count);
void uniform_of_raw(uint32_t* words, float* out, int64_t count);
void uniform_of_raw(uint32_t* words, double* out, int64_t count);

/// One value of the same streams.
inline float uniform_float(GeneratorImpl& generator) {
  return static_cast<float>(generator.random() & 0xffffffu) * 0x1p-24f;
}
inline double uniform_double(GeneratorImpl& generator) {
  return static_cast<double>(generator.random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
}

/// Turns blocks of 16 values in [0, 1) into normal ones, in place, by Box and Muller's method with
/// 1 - data[j] and data[j + 8], j < 8, of each block; count is a multiple of 16.
void box_muller(float* data, int64_t count, float mean, float std);
void box_muller(double* data, int64_t count, double mean, double std);

/// n >= 16 normal numbers as PyTorch draws them: blocks of 16; where n is no multiple, the last 16
/// are drawn once more. Drawing is apart from computing, which needs no generator.
template <class T>
class NormalBlocks {
 public:
  static constexpr int64_t kBlock = 16;

  void draw(GeneratorImpl& generator, T* out, int64_t n) {
    draw_uniform(generator, out, n, T(0), T(1));
    draw_last(generator, n);
  }
  /// What draw() adds to n uniform numbers.
  void draw_last(GeneratorImpl& generator, int64_t n) {
    if (n % kBlock != 0) draw_uniform(generator, last_, kBlock, T(0), T(1));
  }
  void transform(T* out, int64_t n, T mean, T std) {
    box_muller(out, n / kBlock * kBlock, mean, std);
    if (n % kBlock == 0) return;
    box_muller(last_, kBlock, mean, std);
    std::copy_n(last_, kBlock, out + n - kBlock);
  }

 private:
  T last_[kBlock];
};

}  // namespace tenon::native
