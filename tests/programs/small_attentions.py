import torch
from axial_attention import AxialAttention
from byol_pytorch import BYOL
from linformer import Linformer
from nystrom_attention import Nystromformer
from pytorch_revgrad import RevGrad
from torch import nn

torch.manual_seed(0)


def show(name, module, *args):
    out = module(*args)
    out.sum().backward()
    print(
        name,
        tuple(out.shape),
        round(out.mean().item(), 4),
        round(sum(p.grad.norm().item() for p in module.parameters() if p.grad is not None), 2),
    )


show("linformer", Linformer(dim=16, seq_len=32, depth=1, heads=2, k=8).eval(), torch.randn(1, 32, 16))
show(
    "nystrom",
    Nystromformer(dim=16, dim_head=8, heads=2, depth=1, num_landmarks=4, pinv_iterations=3).eval(),
    torch.randn(1, 12, 16),
)
show("axial", AxialAttention(dim=8, dim_index=1, heads=2, num_dimensions=2), torch.randn(1, 8, 4, 4))
x = torch.randn(3, requires_grad=True)
(RevGrad(alpha=0.5)(x) * 2).sum().backward()
print("revgrad", x.grad.tolist())
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4))
learner = BYOL(
    net, image_size=16, hidden_layer=-1, projection_size=8, projection_hidden_size=16, augment_fn=nn.Identity()
)
loss = learner(torch.randn(4, 3, 16, 16))
loss.backward()
learner.update_moving_average()
print("byol", round(loss.item(), 3))
