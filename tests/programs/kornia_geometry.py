"""Geometry, colours and augmentation of images: kornia."""

import kornia
import torch

torch.manual_seed(0)
image = torch.rand(2, 3, 16, 16)
k = kornia.geometry
angle = torch.tensor([30.0, -45.0])
print("rotate", round(k.transform.rotate(image, angle).sum().item(), 3))
points = torch.tensor([[[0.0, 0.0], [15.0, 0.0], [15.0, 15.0], [0.0, 15.0]]])
to = points + torch.tensor([1.0, 2.0])
matrix = k.transform.get_perspective_transform(points, to)
print("perspective", [round(v, 4) for v in matrix.flatten().tolist()])
print("warp", round(k.transform.warp_perspective(image[:1], matrix, (16, 16)).sum().item(), 3))
print("homography", [round(v, 3) for v in k.find_homography_dlt(points, to).flatten().tolist()])
rotation = k.conversions.axis_angle_to_rotation_matrix(torch.tensor([[0.1, 0.2, 0.3]]))
print("rotation", [round(v, 4) for v in rotation.flatten().tolist()])
print("quaternion", [round(v, 4) for v in k.conversions.rotation_matrix_to_quaternion(rotation).flatten().tolist()])
for name in ("rgb_to_hsv", "rgb_to_lab", "rgb_to_ycbcr", "rgb_to_grayscale", "rgb_to_luv"):
    print(name, round(getattr(kornia.color, name)(image).mean().item(), 4))
print("harris", round(kornia.feature.harris_response(image[:, :1]).mean().item(), 6))
print(
    "canny",
    round(kornia.filters.canny(image)[0].sum().item(), 3),
    round(kornia.filters.median_blur(image, (3, 3)).sum().item(), 3),
)
print("morphology", round(kornia.morphology.dilation(image, torch.ones(3, 3)).sum().item(), 3))
print(
    "equalize",
    round(kornia.enhance.equalize(image).sum().item(), 3),
    round(kornia.enhance.adjust_gamma(image, 2.2).sum().item(), 3),
)
crop = kornia.augmentation.AugmentationSequential(
    kornia.augmentation.RandomHorizontalFlip(p=1.0), kornia.augmentation.Normalize(0.5, 0.5)
)
print("augmented", round(crop(image).sum().item(), 3))
