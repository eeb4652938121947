#include "tenon/native/multilabel_margin_loss_forward.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "tenon/native/multilabel_margin_loss_backward.h"

namespace tenon {
namespace {

/// Rows of classes; a tensor without dimensions has one class.
struct Rows {
  int64_t count, classes;

  explicit Rows(const Tensor& self)
      : count(self.dim() == 2 ? self.size(0) : 1), classes(self.dim() == 0 ? 1 : self.size(-1)) {}
  int64_t grain() const { return 1 + 8192 / (classes * classes + 1); }
};

}  // namespace

void native::multilabel_margin_loss_forward_cpu(const Tensor& self, const Tensor& target,
                                                int64_t reduction, const Tensor& output,
                                                const Tensor& is_target) {
  const Rows rows(self);
  const int64_t classes = rows.classes;
  const TensorBase x = contiguous(self), labels = contiguous(target);
  TENON_DISPATCH_FLOATING(self.scalar_type(), "multilabel_margin_loss_forward", {
    const TensorBase losses = empty(rows.count, self.scalar_type(), self.device());
    scalar_t* loss = losses.data_ptr<scalar_t>();
    scalar_t* marks = is_target.mutable_data_ptr<scalar_t>();
    parallel_for(0, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const scalar_t* in = x.data_ptr<scalar_t>() + n * classes;
        const int64_t* label = labels.data_ptr<int64_t>() + n * classes;
        scalar_t* mark = marks + n * classes;
        std::fill_n(mark, classes, scalar_t(0));
        int64_t count = 0;
        for (; count < classes && label[count] >= 0; ++count) mark[label[count]] = 1;
        double sum = 0;
        for (int64_t i = 0; i < count; ++i) {
          const scalar_t edge = 1 - in[label[i]];
          scalar_t part[8] = {};
          int64_t c = 0;
          for (; c + 8 <= classes; c += 8) {
            for (int64_t j = 0; j < 8; ++j) {
              const scalar_t over = edge + in[c + j];
              part[j] += ((over > 0) & (mark[c + j] == 0)) ? over : scalar_t(0);
            }
          }
          for (; c < classes; ++c) {
            const scalar_t over = edge + in[c];
            part[0] += ((over > 0) & (mark[c] == 0)) ? over : scalar_t(0);
          }
          for (const scalar_t each : part) sum += each;
        }
        loss[n] = static_cast<scalar_t>(sum / static_cast<double>(classes));
      }
    });
    scalar_t* to = output.mutable_data_ptr<scalar_t>();
    if (reduction == 0 && self.dim() == 2) {
      std::copy_n(loss, rows.count, to);
    } else if (rows.count > 0) {
      double sum = 0;
      for (int64_t n = 0; n < rows.count; ++n) sum += loss[n];
      *to = static_cast<scalar_t>(reduction == 1 ? sum / static_cast<double>(rows.count) : sum);
    } else {
      *to = 0;
    }
  });
}

void native::multilabel_margin_loss_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                                 const Tensor& target, int64_t reduction,
                                                 const Tensor& is_target,
                                                 const Tensor& grad_input) {
  const Rows rows(self);
  const int64_t classes = rows.classes;
  const TensorBase x = contiguous(self), labels = contiguous(target), marks = contiguous(is_target);
  TENON_DISPATCH_FLOATING(self.scalar_type(), "multilabel_margin_loss_backward", {
    const TensorBase grads = contiguous(grad_output, self.scalar_type());
    const scalar_t* given = grads.data_ptr<scalar_t>();
    const bool each = grad_output.dim() == 1;
    const scalar_t share =
        1 /
        static_cast<scalar_t>(classes * (reduction == 1 ? std::max<int64_t>(rows.count, 1) : 1));
    scalar_t* all = grad_input.mutable_data_ptr<scalar_t>();
    parallel_for(0, rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const scalar_t* in = x.data_ptr<scalar_t>() + n * classes;
        const scalar_t* mark = marks.data_ptr<scalar_t>() + n * classes;
        const int64_t* label = labels.data_ptr<int64_t>() + n * classes;
        scalar_t* to = all + n * classes;
        std::fill_n(to, classes, scalar_t(0));
        for (int64_t i = 0; i < classes && label[i] >= 0; ++i) {
          const scalar_t edge = 1 - in[label[i]];
          scalar_t over = 0;
          for (int64_t c = 0; c < classes; ++c) {
            const scalar_t one = ((edge + in[c] > 0) & (mark[c] == 0)) ? scalar_t(1) : scalar_t(0);
            to[c] += one;
            over += one;
          }
          to[label[i]] -= over;
        }
        const scalar_t scale = share * given[each ? n : 0];
        for (int64_t c = 0; c < classes; ++c) to[c] *= scale;
      }
    });
  });
}

}  // namespace tenon
