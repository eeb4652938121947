"""ultralytics: a detector from its description, its loss, boxes and non-maximum suppression."""

import os

os.environ["YOLO_CONFIG_DIR"] = os.getcwd()
os.environ["YOLO_OFFLINE"], os.environ["YOLO_VERBOSE"] = "true", "false"

import numpy as np
import torch
from ultralytics import YOLO
from ultralytics.engine.results import Results
from ultralytics.nn.tasks import ClassificationModel, DetectionModel, SegmentationModel
from ultralytics.utils import DEFAULT_CFG, LOGGER, nms, ops
from ultralytics.utils.metrics import bbox_iou, box_iou

LOGGER.setLevel("ERROR")
generator = torch.Generator().manual_seed(0)


def filled(model):
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * (1.0 / parameter[0].numel() ** 0.5))
    return model


model = filled(DetectionModel("yolov8n.yaml", ch=3, nc=4, verbose=False))
image = torch.rand(2, 3, 64, 64, generator=generator)
model.eval()
with torch.no_grad():
    output = model(image)[0]
print("detector", output.shape, output.square().mean().item(), sum(p.numel() for p in model.parameters()))
model.args = DEFAULT_CFG
model.train()
batch = {
    "img": image,
    "batch_idx": torch.tensor([0.0, 0.0, 1.0]),
    "cls": torch.tensor([[0.0], [2.0], [1.0]]),
    "bboxes": torch.tensor([[0.5, 0.5, 0.4, 0.4], [0.3, 0.3, 0.2, 0.2], [0.6, 0.4, 0.5, 0.3]]),
}
loss, parts = model(batch)
loss.sum().backward()
print(
    "loss",
    {name: part.item() for name, part in parts.items()},
    sum(p.grad.norm().item() for p in model.parameters() if p.grad is not None),
)
model.eval()
found = nms.non_max_suppression(output, conf_thres=0.2, iou_thres=0.5, max_det=5)
print("kept", [tuple(part.shape) for part in found])
boxes = torch.rand(4, 4, generator=generator) * 32
print("boxes", ops.xywh2xyxy(boxes).tolist()[0], ops.scale_boxes((64, 64), boxes.clone(), (128, 100)).tolist()[0])
print(
    "overlap",
    box_iou(ops.xywh2xyxy(boxes), ops.xywh2xyxy(boxes.flip(0))).sum().item(),
    bbox_iou(boxes, boxes.flip(0), CIoU=True).flatten().tolist(),
)
results = Results(
    np.zeros((64, 64, 3), np.uint8),
    "x.jpg",
    {0: "cat", 1: "dog"},
    boxes=torch.tensor([[1.0, 2.0, 30.0, 40.0, 0.9, 1.0]]),
)
print("results", results.boxes.xywhn.tolist(), results.summary()[0]["name"], len(results))
classifier = filled(ClassificationModel("yolov8n-cls.yaml", ch=3, nc=5, verbose=False)).eval()
with torch.no_grad():
    print("classifier", classifier(image)[0].sum(1).tolist())
    segments = filled(SegmentationModel("yolov8n-seg.yaml", ch=3, nc=3, verbose=False)).eval()(image)
print("segments", segments[0][0].shape if isinstance(segments[0], tuple) else segments[0].shape)
fused = model.fuse(verbose=False)
with torch.no_grad():
    print("fused", (fused(image)[0] - output).abs().max().item() < 1e-2)
yolo = YOLO("yolov8n.yaml", verbose=False)
print(
    "task",
    yolo.task,
    len(yolo.names),
    len(yolo.predict(np.zeros((64, 64, 3), np.uint8), imgsz=64, verbose=False, conf=0.9)[0]),
)
