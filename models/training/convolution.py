"""3×3 convolutions on a CPU as matrix products, where those are faster than oneDNN's kernels.

On the small maps at the end of a ResNet-18 (2×2 or 3×3 pixels of 512 channels) oneDNN's
bfloat16 convolutions run at a tenth to a twentieth of the rate of a matrix product of the
same size, most of all for the gradient of the weights: 55 ms against 3 on one core with AMX.
"""
import torch
import torch.nn.functional as F
from torch import nn

SMALL_MAP = 16   # output pixels up to which all three products win
WIDE = 256       # channels from which the weights' gradient wins on larger maps too
DEEP = 256 * 512  # input times output channels from which the small maps win


def output_size(height, width, stride):
    """Height and width of the output for those of the input."""
    return (height - 1) // stride + 1, (width - 1) // stride + 1


def patches(x, stride):
    """The 3×3 patches of a channels-last N×C×H×W tensor, zeros around it: (N·Ho·Wo)×(9·C), rows in order (y, x,
    channel)."""
    n, c, h, w = x.shape
    framed = F.pad(x.permute(0, 2, 3, 1), (0, 0, 1, 1, 1, 1))
    height, width = output_size(h, w, stride)
    row = (w + 2) * c
    windows = framed.as_strided((n, height, width, 3, 3 * c), ((h + 2) * row, stride * row, stride * c, row, 1))
    return windows.reshape(n * height * width, 9 * c)


def unpatch(columns, shape, stride):
    """The adjoint of patches: every patch added back to its place in an N×C×H×W tensor."""
    n, c, h, w = shape
    height, width = output_size(h, w, stride)
    columns = columns.view(n, height, width, 3, 3, c)
    framed = columns.new_zeros(n, h + 2, w + 2, c)
    for y in range(3):
        for x in range(3):
            framed[:, y:y + stride * height:stride, x:x + stride * width:stride] += columns[:, :, :, y, x]
    return framed[:, 1:-1, 1:-1].permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)


def rows(weight):
    """A Co×C×3×3 weight as Co×(9·C), in the order of patches."""
    return weight.permute(0, 2, 3, 1).reshape(len(weight), -1)


class Products(torch.autograd.Function):
    """The convolution whose products are chosen by the size of its maps."""

    @staticmethod
    def forward(ctx, x, weight, stride):
        x = x.contiguous(memory_format=torch.channels_last)
        ctx.save_for_backward(x, weight)
        ctx.stride = stride
        if not small(x, weight, stride):
            return F.conv2d(x, weight, stride=stride, padding=1)
        out = patches(x, stride) @ rows(weight).t()
        return out.view(len(x), *output_size(*x.shape[2:], stride), len(weight)).permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        stride, need = ctx.stride, ctx.needs_input_grad[0]
        grad = grad.contiguous(memory_format=torch.channels_last)
        g = grad.permute(0, 2, 3, 1).reshape(-1, len(weight))
        out, c = len(weight), x.shape[1]
        dw = (g.t().contiguous() @ patches(x, stride)).view(out, 3, 3, c).permute(0, 3, 1, 2)
        if not need:
            return None, dw, None
        if small(x, weight, stride):
            return unpatch(g @ rows(weight), x.shape, stride), dw, None
        dx = torch.ops.aten.convolution_backward(grad, x, weight, None, [stride, stride], [1, 1], [1, 1],
                                                 False, [0, 0], 1,
                                                 [True, False, False])[0]
        return dx, dw, None


def small(x, weight, stride):
    """Whether the map is so small, and the channels so many, that products win throughout."""
    height, width = output_size(*x.shape[2:], stride)
    return height * width <= SMALL_MAP and weight.shape[0] * weight.shape[1] >= DEEP


class Conv3x3(nn.Conv2d):
    """A 3×3 convolution without bias that trains through Products on a CPU in bfloat16."""

    def __init__(self, cin, cout, stride):
        super().__init__(cin, cout, 3, stride, 1, bias=False)

    def forward(self, x):
        if not self.wins(x):
            return super().forward(x)
        return Products.apply(x.bfloat16(), self.weight.bfloat16(), self.stride[0])

    def wins(self, x):
        return (torch.is_grad_enabled() and x.device.type == "cpu" and torch.is_autocast_enabled("cpu")
                and max(self.in_channels, self.out_channels) >= WIDE)
