"""Parts of torchvision's models by torch.fx: torchvision.models.feature_extraction."""

import torch
from torchvision.models import mobilenet_v3_small, resnet18, swin_t
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

torch.manual_seed(0)
image = torch.randn(1, 3, 64, 64)
model = resnet18(num_classes=10).eval()
train_nodes, eval_nodes = get_graph_node_names(model)
print(len(train_nodes), train_nodes[:6], eval_nodes[-4:])
extractor = create_feature_extractor(
    model, return_nodes={"layer1": "low", "layer4.1.relu_1": "high", "flatten": "flat"}
)
for name, value in extractor(image).items():
    print(name, tuple(value.shape), round(value.mean().item(), 4))
print([name for name, _ in extractor.named_children()])
extractor.train()
print(extractor.training, sum(value.sum().item() > 0 for value in extractor(image.repeat(2, 1, 1, 1)).values()))
mobile = create_feature_extractor(mobilenet_v3_small(num_classes=4).eval(), ["features.3", "avgpool"])
print({name: (tuple(value.shape), round(value.std().item(), 4)) for name, value in mobile(image).items()})
swin = create_feature_extractor(swin_t(num_classes=3).eval(), ["features.1", "flatten"])
print({name: (tuple(value.shape), round(value.abs().mean().item(), 4)) for name, value in swin(image).items()})
