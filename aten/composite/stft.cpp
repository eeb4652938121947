#include "tenon/native/stft.h"
#include "aten/batching/examples.h"

#include <optional>

#include "tenon/native/istft.h"
#include "tenon/ops/_fft_c2c.h"
#include "tenon/ops/_fft_c2r.h"
#include "tenon/ops/_fft_r2c.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/min.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/pad.h"
#include "tenon/ops/unfold_backward.h"
#include "tenon/ops/view_as_real.h"

namespace tenon {
namespace {

/// What both transforms say of their windows.
struct Frames {
  int64_t n_fft, hop, win;

  Frames(int64_t n_fft_, std::optional<int64_t> hop_length, std::optional<int64_t> win_length)
      : n_fft(n_fft_), hop(hop_length.value_or(n_fft / 4)), win(win_length.value_or(n_fft)) {}

  int64_t before() const { return (n_fft - win) / 2; }
  int64_t after() const { return n_fft - win - before(); }

  /// The window in the middle of n_fft values, zeros around it.
  Tensor window(const std::optional<Tensor>& given, const Tensor& like) const {
    const Tensor values =
        given ? *given : ones(win, like.options().dtype(to_real(like.scalar_type())));
    return win == n_fft ? values : constant_pad_nd(values, {before(), after()});
  }
};

void check_window_device(const char* op, const Tensor& self, const std::optional<Tensor>& window) {
  TENON_CHECK(!window || window->device() == self.device(), "[", op, "] ", op,
              " input and window must be on the same device but got self on ", self.device(),
              " and window on ", window->device());
}

const char* onesided_of_complex() {
  return "Cannot have onesided output if window or input is complex";
}

}  // namespace

/// [B, L] or [L] -> [B, n_fft (onesided: n_fft/2 + 1), frames], without B if there was none: the
/// fft of each frame of n_fft samples, hop_length (n_fft/4) apart, by the window of win_length
/// (n_fft) samples. center: frame t has sample t hop_length in its middle; the ends are padded by
/// pad_mode. align_to_window, without center: the first frame's window begins at the first sample.
Tensor native::stft_center(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                           std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                           bool center, std::string_view pad_mode, bool normalized,
                           std::optional<bool> onesided, std::optional<bool> return_complex,
                           std::optional<bool> align_to_window) {
  check_window_device("stft", self, window);
  TENON_CHECK(!(align_to_window && center),
              "[stft] stft align_to_window should only be set when center = false");
  const bool complex = self.is_complex() || (window && window->is_complex());
  TENON_CHECK(
      return_complex || complex,
      "[stft] stft requires the return_complex parameter be given for real inputs, and will "
      "further require that return_complex=True in a future PyTorch release.");
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point() || self.is_complex(),
                              "[stft] expected a tensor of floating point or complex values, got ",
                              self.scalar_type());
  TENON_CHECK(self.dim() == 1 || self.dim() == 2, "[stft] expected a 1D or 2D tensor, got ",
              self.sizes());
  const Frames frames(n_fft, hop_length, win_length);
  Tensor input = self.dim() == 1 ? self.unsqueeze(0) : self;
  if (center) {
    // Reflections are of [B, C, L].
    const int64_t half = n_fft / 2;
    input = pad(input.unsqueeze(0), {half, half}, pad_mode).squeeze(0);
  }
  const bool aligned = align_to_window.value_or(false);
  const int64_t length = input.size(1) + (aligned ? frames.n_fft - frames.win : 0);
  TENON_CHECK(n_fft > 0 && n_fft <= length, "[stft] expected 0 < n_fft < ", length,
              ", but got n_fft=", n_fft);
  TENON_CHECK(frames.hop > 0, "[stft] expected hop_length > 0, but got hop_length=", frames.hop);
  TENON_CHECK(frames.win > 0 && frames.win <= n_fft,
              "[stft] expected 0 < win_length <= n_fft, but got win_length=", frames.win);
  TENON_CHECK(!window || (window->dim() == 1 && window->size(0) == frames.win),
              "[stft] expected a 1D window tensor of size equal to win_length=", frames.win,
              ", but got window with size ", window->sizes());
  if (aligned) input = constant_pad_nd(input, {frames.before(), frames.after()});
  input = input.unfold(-1, n_fft, frames.hop);
  if (window || frames.win < n_fft) input = input * frames.window(window, self);
  const bool half = onesided.value_or(!complex);
  const int64_t mode = normalized ? 1 : 0;
  TENON_CHECK(!(half && complex), "[stft] ", onesided_of_complex());
  Tensor result =
      input.is_complex() ? _fft_c2c(input, 2, mode, true) : _fft_r2c(input, 2, mode, half);
  result = result.transpose(1, 2);
  if (self.dim() == 1) result = result.squeeze(0);
  return return_complex.value_or(true) ? result : view_as_real(result);
}

Tensor native::stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                    std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                    bool normalized, std::optional<bool> onesided,
                    std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  return stft_center(self, n_fft, hop_length, win_length, window, false, "constant", normalized,
                     onesided, return_complex, align_to_window);
}

/// The signal that stft transforms to self, by least squares: frames transformed back are
/// multiplied by the window, added up where they lie, and divided by the sum of the windows'
/// squares there. length: of the result; by default what the frames cover.
Tensor native::istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
                     std::optional<int64_t> win_length, const std::optional<Tensor>& window,
                     bool center, bool normalized, std::optional<bool> onesided,
                     std::optional<int64_t> length, bool return_complex) {
  check_window_device("istft", self, window);
  TENON_CHECK_TYPE(self.is_complex(),
                   "[istft] istft requires a complex-valued input tensor matching the output from "
                   "stft with return_complex=True.");
  const Frames frames(n_fft, hop_length, win_length);
  TENON_CHECK_INDEX(self.dim() >= 2,
                    "[istft] Dimension out of range (expected to be in range of [-", self.dim() + 1,
                    ", ", self.dim(), "], but got -3)");
  TENON_CHECK(self.numel() > 0, "[istft] input tensor cannot be empty, got ", self.sizes());
  // Numbers of dimensions are those of pairs of real values.
  TENON_CHECK(self.dim() <= 3, "[istft] expected a tensor with 3 or 4 dimensions, but got ",
              self.dim() + 1);
  const int64_t values = self.size(-2), count = self.size(-1);
  const bool half = onesided.value_or(values != n_fft);
  TENON_CHECK(!half || values == n_fft / 2 + 1,
              "[istft] expected the frequency dimension (3rd to the last) of the input tensor to "
              "match n_fft / 2 + 1 when onesided=True, but got ",
              values);
  TENON_CHECK(half || values == n_fft,
              "[istft] expected the frequency dimension (3rd to the last) of the input tensor to "
              "match n_fft when onesided=False, but got ",
              values);
  TENON_CHECK(frames.hop > 0 && frames.hop <= frames.win,
              "[istft] expected 0 < hop_length <= win_length, got ", frames.hop, " and ",
              frames.win);
  TENON_CHECK(frames.win > 0 && frames.win <= n_fft,
              "[istft] expected 0 < win_length <= n_fft, got ", frames.win, " and ", n_fft);
  TENON_CHECK(!window || (window->dim() == 1 && window->size(0) == frames.win),
              "[istft] Invalid window shape. window has to be 1D and length of `win_length`, got ",
              window->sizes());
  TENON_CHECK(!(return_complex && half), "[istft] ", onesided_of_complex());
  TENON_CHECK(return_complex || !window || !window->is_complex(),
              "[istft] Complex windows are incompatible with return_complex=False");

  Tensor input = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const int64_t mode = normalized ? 1 : 2;
  if (return_complex) {
    input = _fft_c2c(input, 2, mode, false);
  } else {
    input = _fft_c2r(half ? input : input.narrow(-1, 0, n_fft / 2 + 1), 2, mode, n_fft);
  }
  const Tensor weights = frames.window(window, self);
  const int64_t covered = n_fft + frames.hop * (count - 1);
  const auto added_up = [&](const Tensor& t) {
    return unfold_backward(t, {t.size(0), covered}, 1, n_fft, frames.hop);
  };
  Tensor y = added_up(input * weights);
  Tensor squares = added_up((weights * weights).expand({1, count, n_fft}));
  const int64_t start = center ? n_fft / 2 : 0;
  const int64_t end = length ? start + *length : center ? -(n_fft / 2) : covered;
  y = y.slice(1, start, end);
  squares = squares.slice(1, start, end);
  const double lowest = batching::least_of_examples(abs(squares.detach())).toDouble();
  TENON_CHECK(!(lowest < 1e-11), "[istft] window overlap add min: 1, got ", lowest);
  y = y / squares;
  if (end > covered) y = constant_pad_nd(y, {0, end - covered});
  return self.dim() == 2 ? y.squeeze(0) : y;
}

}  // namespace tenon
