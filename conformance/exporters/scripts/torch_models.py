# ruff: noqa: E501
"""Networks of the usual kinds with random weights, exported by torch: `legacy` (TorchScript) or `dynamo` (torch.export)."""

import io
import sys
import warnings
from functools import partial

import onnx
import torch
import torch.nn.functional as F
from common_export import write_all
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
DYNAMO = sys.argv[2] == "dynamo"


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels, 3, padding=1)
        )

    def forward(self, x):
        return F.relu(x + self.body(x))


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand, self.depth = nn.Conv2d(8, 16, 1), nn.Conv2d(16, 16, 5, padding=2, groups=16)
        self.squeeze, self.excite, self.project = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1), nn.Conv2d(16, 8, 1)

    def forward(self, x):
        y = F.hardswish(self.depth(F.hardswish(self.expand(x))))
        return x + self.project(y * F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1))))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.middle, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(11, 3, 3, padding=1)

    def forward(self, x):
        y = F.silu(self.middle(F.silu(self.down(x))))
        y = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        return self.up(torch.cat([y, x], 1))


class Upscale(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.shuffle, self.slope = nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.PReLU(12)

    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode="nearest") + self.shuffle(self.slope(self.conv(x)))


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth, self.norm = nn.Conv2d(8, 8, 7, padding=3, groups=8), nn.LayerNorm(8)
        self.wide, self.narrow, self.scale = nn.Linear(8, 32), nn.Linear(32, 8), nn.Parameter(torch.rand(8))

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        return x + (self.scale * self.narrow(F.gelu(self.wide(y)))).permute(0, 3, 1, 2)


class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.GroupNorm(4, 8), nn.GroupNorm(4, 8)
        self.conv, self.out, self.time = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1), nn.Linear(16, 8)

    def forward(self, x, time):
        frequencies = torch.exp(torch.arange(8) * -0.5)
        angles = time[:, None] * frequencies[None]
        embedding = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        y = self.conv(F.silu(self.first(x))) + embedding[:, :, None, None]
        return x + self.out(F.silu(self.second(y)))


class Block(nn.Module):
    def __init__(self, size=16, heads=4, causal=False):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.before, self.after = nn.LayerNorm(size), nn.LayerNorm(size)
        self.mlp = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU("tanh" if causal else "none"), nn.Linear(4 * size, size))

    def forward(self, x):
        batch, length, size = x.shape
        q, k, v = self.qkv(self.before(x)).reshape(batch, length, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).reshape(batch, length, size)
        x = x + self.out(y)
        return x + self.mlp(self.after(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.blocks, self.norm = nn.Sequential(Block(causal=True), Block(causal=True)), nn.LayerNorm(16)

    def forward(self, ids):
        places = torch.arange(ids.shape[1])
        return self.norm(self.blocks(self.words(ids) + self.places(places))) @ self.words.weight.T


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, 16, 4, 4), nn.Parameter(torch.rand(1, 1, 16))
        self.places, self.blocks, self.head = nn.Parameter(torch.rand(1, 17, 16)), nn.Sequential(Block(), Block()), nn.Linear(16, 10)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.token.expand(y.shape[0], -1, -1), y], 1) + self.places
        return self.head(self.blocks(y)[:, 0])


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(40, 16), nn.RMSNorm(16)
        self.q, self.kv, self.out = nn.Linear(16, 16, False), nn.Linear(16, 16, False), nn.Linear(16, 16, False)
        self.gate, self.up, self.down = nn.Linear(16, 32, False), nn.Linear(16, 32, False), nn.Linear(32, 16, False)

    def rotate(self, x, angles):
        left, right = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-right, left], -1) * angles.sin()

    def forward(self, ids, mask):
        x = self.words(ids)
        batch, length, size = x.shape
        y = self.norm(x)
        angles = torch.outer(torch.arange(length).float(), 1.0 / 10000 ** (torch.arange(0, 4, 2).float() / 4))
        angles = torch.cat([angles, angles], -1)
        q = self.rotate(self.q(y).reshape(batch, length, 4, 4).transpose(1, 2), angles)
        k, v = self.kv(y).reshape(batch, length, 2, 2, 4).permute(2, 0, 3, 1, 4)
        k, v = self.rotate(k, angles).repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        causal = torch.full((length, length), float("-inf")).triu(1) + (1.0 - mask[:, None, None, :].float()) * -10000.0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=causal)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, size))
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.words, self.cells, self.head = nn.Embedding(20, 8), kind(8, 6, 2, batch_first=True, bidirectional=True), nn.Linear(12, 3)

    def forward(self, ids):
        return F.log_softmax(self.head(self.cells(self.words(ids))[0].mean(1)), -1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.boxes, self.scores = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 1), nn.Conv2d(8, 5, 1)

    def forward(self, x):
        y = F.leaky_relu(self.conv(x), 0.1)
        boxes, scores = self.boxes(y).flatten(2).transpose(1, 2), self.scores(y).flatten(2).transpose(1, 2).sigmoid()
        best, label = scores.max(-1)
        top, index = best.topk(10, 1)
        boxes = boxes.gather(1, index[..., None].expand(-1, -1, 4)).clamp(0, 1)
        return boxes, torch.where(top > 0.5, label.gather(1, index), -1), top


class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.locate = nn.Linear(3 * 8 * 8, 6)

    def forward(self, x):
        grid = F.affine_grid(self.locate(x.flatten(1)).reshape(-1, 2, 3), x.shape, align_corners=False)
        return F.grid_sample(x, grid, align_corners=False)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.experts = nn.Linear(8, 3), nn.Parameter(torch.rand(3, 8, 8))

    def forward(self, x):
        return torch.einsum("bte,btd,edf->btf", self.weight(x).softmax(-1), x, self.experts)


class Mask(nn.Module):
    def forward(self, x, lengths):
        mask = torch.arange(x.shape[1])[None] < lengths[:, None]
        x = x.masked_fill(~mask[..., None], 0.0)
        return x.cumsum(1) / lengths[:, None, None], torch.roll(x, 1, 1).std(1), x.logsumexp(-1)


class Pad(nn.Module):
    def forward(self, x):
        x = F.pad(x, (1, 1, 2, 0), mode="reflect")
        return F.avg_pool2d(x, 2, ceil_mode=True, count_include_pad=False), F.max_pool2d(x, 3, 2, dilation=2), F.unfold(x, 2)


def image(*shape):
    return torch.rand(*shape)


def ids(length=7, most=20):
    return torch.randint(0, most, (2, length))


CASES = {
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 16), nn.Softplus(), nn.Linear(16, 4), nn.Softmax(1)), [image(3, 8)]),
    "cnn": (lambda: nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2), Residual(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)), [image(2, 3, 32, 32)]),
    "mobile": (Mobile, [image(1, 8, 12, 12)]),
    "unet": (UNet, [image(1, 3, 16, 16)]),
    "upscale": (Upscale, [image(1, 3, 8, 8)]),
    "convnext": (ConvNeXt, [image(1, 8, 10, 10)]),
    "diffusion": (Diffusion, [image(2, 8, 6, 6), image(2)]),
    "gan": (lambda: nn.Sequential(nn.ConvTranspose2d(4, 8, 4, 2, 1), nn.InstanceNorm2d(8, affine=True), nn.Tanh(), nn.Conv2d(8, 3, 1), nn.Sigmoid()), [image(1, 4, 4, 4)]),
    "encoder": (lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu"), 2), [image(2, 6, 16)]),
    "gpt": (Gpt, [ids()]),
    "vit": (Vit, [image(2, 3, 16, 16)]),
    "llama": (Llama, [ids(), torch.ones(2, 7, dtype=torch.int64)]),
    "lstm": (partial(Recurrent, nn.LSTM), [ids()]),
    "gru": (partial(Recurrent, nn.GRU), [ids()]),
    "detector": (Detector, [image(1, 3, 8, 8)]),
    "warp": (Warp, [image(1, 3, 8, 8)]),
    "mixer": (Mixer, [image(2, 5, 8)]),
    "mask": (Mask, [image(2, 5, 4), torch.tensor([3, 5])]),
    "pad": (Pad, [image(1, 2, 9, 9)]),
}


def export(make, inputs, dynamic):
    network = make().eval()
    options = {"dynamo": DYNAMO}
    names = [f"input_{index}" for index in range(len(inputs))]
    if dynamic and DYNAMO:
        options["dynamic_shapes"] = tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs)
        inputs = [torch.cat([value, value]) if value.shape[0] == 1 else value for value in inputs]
    elif dynamic:
        options["dynamic_axes"] = {name: {0: "batch"} for name in names}
    if not DYNAMO:
        stream = io.BytesIO()
        torch.onnx.export(network, tuple(inputs), stream, input_names=names, opset_version=18, **options)
        return onnx.load_from_string(stream.getvalue()), inputs
    return torch.onnx.export(network, tuple(inputs), verbose=False, **options).model_proto, inputs


def cases():
    for name, (make, inputs) in CASES.items():
        for dynamic in (False, True):
            yield f"{name}{'_dynamic' if dynamic else ''}", partial(export, make, inputs, dynamic)


write_all(cases())
