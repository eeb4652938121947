"""Parts of detectors: torchvision's models, anchors, boxes and losses, without its C++ operators."""

import torch
import torchvision
from torchvision import ops
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList
from torchvision.transforms import v2

torch.manual_seed(0)
a = torch.tensor([[0.0, 0.0, 10.0, 10.0], [5.0, 5.0, 15.0, 20.0]])
b = torch.tensor([[2.0, 2.0, 8.0, 8.0], [0.0, 0.0, 20.0, 20.0]])
print("iou", ops.box_iou(a, b).tolist(), ops.generalized_box_iou(a, b).tolist())
print(
    "convert",
    ops.box_convert(a, "xyxy", "cxcywh").tolist(),
    ops.box_area(a).tolist(),
    ops.clip_boxes_to_image(a, (8, 12)).tolist(),
)
x, y = torch.randn(4, 3, requires_grad=True), torch.randint(0, 2, (4, 3)).float()
print("losses", ops.sigmoid_focal_loss(x, y, reduction="mean").item(), ops.complete_box_iou_loss(a, b).tolist())
anchors = AnchorGenerator(((8,), (16,)), ((0.5, 1.0),) * 2)(
    ImageList(torch.zeros(1, 3, 32, 32), [(32, 32)]), [torch.zeros(1, 4, 4, 4), torch.zeros(1, 4, 2, 2)]
)
print("anchors", anchors[0].shape, anchors[0].sum().item())
pyramid = ops.FeaturePyramidNetwork([4, 8], 6)
print({k: tuple(v.shape) for k, v in pyramid({"p": torch.randn(1, 4, 8, 8), "q": torch.randn(1, 8, 4, 4)}).items()})
print(
    "layers",
    ops.StochasticDepth(0.5, "row").eval()(x).shape,
    ops.SqueezeExcitation(4, 2)(torch.ones(1, 4, 3, 3)).shape,
    ops.MLP(3, [4, 2])(x).shape,
)
fcn = torchvision.models.segmentation.fcn_resnet50(weights=None, weights_backbone=None, num_classes=3).eval()
print("fcn", round(fcn(torch.ones(1, 3, 32, 32))["out"].mean().item(), 4))
image = torch.arange(3 * 8 * 8, dtype=torch.uint8).reshape(3, 8, 8)
steps = v2.Compose(
    [
        v2.ToDtype(torch.float32, scale=True),
        v2.Resize((4, 4), antialias=True),
        v2.Normalize([0.5] * 3, [0.5] * 3),
        v2.CenterCrop(2),
    ]
)
print(
    "v2",
    round(steps(image).sum().item(), 4),
    v2.functional.adjust_hue(image, 0.2).sum().item(),
    v2.functional.rotate(image, 90).sum().item(),
)
