"""Segmentation by prompts: segment_anything."""

from functools import partial

import torch
from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer

torch.manual_seed(0)
encoder = ImageEncoderViT(
    depth=2, embed_dim=32, img_size=64, mlp_ratio=2, norm_layer=partial(torch.nn.LayerNorm, eps=1e-6), num_heads=2, patch_size=16,
    qkv_bias=True, use_rel_pos=True, global_attn_indexes=[1], window_size=2, out_chans=16,
)  # fmt: skip
prompts = PromptEncoder(embed_dim=16, image_embedding_size=(4, 4), input_image_size=(64, 64), mask_in_chans=4)
decoder = MaskDecoder(
    num_multimask_outputs=3, transformer=TwoWayTransformer(depth=1, embedding_dim=16, mlp_dim=32, num_heads=2), transformer_dim=16,
    iou_head_depth=2, iou_head_hidden_dim=16,
)  # fmt: skip
sam = Sam(image_encoder=encoder, prompt_encoder=prompts, mask_decoder=decoder).eval()
image = torch.rand(3, 48, 64) * 255
out = sam(
    [{"image": image, "original_size": (48, 64), "point_coords": torch.tensor([[[10.0, 20.0]]]), "point_labels": torch.ones(1, 1),
      "boxes": torch.tensor([[5.0, 5.0, 40.0, 40.0]])}],
    multimask_output=True,
)  # fmt: skip
print({name: (tuple(value.shape), value.dtype) for name, value in out[0].items()})
print([round(v, 3) for v in out[0]["iou_predictions"][0].tolist()], round(out[0]["low_res_logits"].mean().item(), 4))
