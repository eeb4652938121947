"""brevitas: layers that quantize in training, and a calibration; optimum-quanto's weights."""

import brevitas.nn as qnn
import torch
from brevitas.core.scaling import ScalingImplType
from brevitas.graph.calibrate import bias_correction_mode, calibration_mode
from brevitas.quant import Int8ActPerTensorFloat, Int8WeightPerTensorFloat, Uint8ActPerTensorFloat

torch.manual_seed(0)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.input = qnn.QuantIdentity(bit_width=8, act_quant=Int8ActPerTensorFloat, return_quant_tensor=True)
        self.convolution = qnn.QuantConv2d(3, 4, 3, weight_bit_width=8, weight_quant=Int8WeightPerTensorFloat)
        self.activation = qnn.QuantReLU(bit_width=8, act_quant=Uint8ActPerTensorFloat, return_quant_tensor=True)
        self.linear = qnn.QuantLinear(
            4 * 36, 2, bias=True, weight_bit_width=8, weight_scaling_impl_type=ScalingImplType.STATS
        )

    def forward(self, x):
        hidden = self.activation(self.convolution(self.input(x)))
        return self.linear(getattr(hidden, "value", hidden).flatten(1))


network = Network()
generator = torch.Generator().manual_seed(1)
with torch.no_grad():
    for name, parameter in network.named_parameters():
        if name.endswith("weight") or name.endswith("bias"):
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
x = torch.randn(8, 3, 8, 8, generator=generator)
with torch.no_grad(), calibration_mode(network):
    network(x)
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(x), torch.arange(8) % 2)
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
network.eval()
weight = network.convolution.quant_weight()
print("weight", weight.bit_width.item(), weight.scale.item(), len(weight.int().unique()), weight.value.norm().item())
output = network.input(x)
print(
    "activation",
    output.scale.item(),
    output.int().abs().max().item(),
    (output.value - x).abs().max().item() <= output.scale.item(),
)
print("sum", (output + output).bit_width.item())
with torch.no_grad(), bias_correction_mode(network):
    network(x)
print("corrected", network.linear.bias.tolist())
pool, norm = qnn.TruncAvgPool2d(2), qnn.BatchNorm2dToQuantScaleBias(3, weight_quant=None, bias_quant=None)
print("names", sorted(network.state_dict())[:4], type(pool).__name__, norm(x).shape)
embedding = qnn.QuantEmbedding(5, 3, weight_bit_width=8)
print("embedding", embedding(torch.tensor([1, 2])).shape)
