# ruff: noqa: E501
"""Networks with many casts, exported by torch: in FLOAT16, in mixed precision, with shared weights, masks and computed sizes."""

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


class Norm(nn.Module):
    """RMSNorm as large language models have it: in FLOAT, whatever the type of the network. Equal weights are shared by the exporter."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        y = x.to(torch.float32)
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return (self.weight.to(torch.float32) * y).to(x.dtype)


class HalfLayer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first, self.second = Norm(size), Norm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size, False), nn.Linear(size, size, False)
        self.up, self.down = nn.Linear(size, 2 * size, False), nn.Linear(2 * size, size, False)

    def forward(self, x, mask):
        q, k, v = self.qkv(self.first(x)).chunk(3, -1)
        scores = (q @ k.transpose(-1, -2)).float() / q.shape[-1] ** 0.5 + mask.float()
        x = x + self.out(scores.softmax(-1).to(v.dtype) @ v)
        return x + self.down(F.silu(self.up(self.second(x)).float()).to(x.dtype))


class HalfTransformer(nn.Module):
    """A FLOAT16 network with tied embeddings; scores, norms and logits are in FLOAT."""

    def __init__(self, layers=3, size=16):
        super().__init__()
        self.words, self.norm = nn.Embedding(50, size), Norm(size)
        self.layers = nn.ModuleList(HalfLayer(size) for _ in range(layers))

    def forward(self, ids, mask):
        x = self.words(ids)
        bias = (1.0 - mask[:, None, :].to(x.dtype)) * torch.finfo(torch.float16).min
        causal = torch.full((ids.shape[1], ids.shape[1]), -1e4, dtype=x.dtype).triu(1)
        for layer in self.layers:
            x = layer(x, bias + causal)
        return self.norm(x).float() @ self.words.weight.float().T


class HalfNorms(nn.Module):
    """FLOAT16 weights, of which several are equal, used in FLOAT."""

    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(4))
        self.linear = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        for norm, linear in zip(self.norms, self.linear):
            y = F.layer_norm(x.float(), (16,), norm.weight.float(), norm.bias.float()).to(x.dtype)
            x = x + F.gelu(linear(y))
        return x


class SharedBlocks(nn.Module):
    """One block applied three times, its weights cast at each use."""

    def __init__(self):
        super().__init__()
        self.block, self.scale = nn.Linear(12, 12), nn.Parameter(torch.rand(12))

    def forward(self, x):
        for _ in range(3):
            x = F.linear(x.float(), self.block.weight.float(), self.block.bias.float()) * self.scale.float()
            x = x.to(torch.float16)
        return x


class Buckets(nn.Module):
    """Relative positions as in T5: integers, comparisons, and casts between them."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(16, 2)

    def forward(self, x):
        length = x.shape[1]
        distance = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        bucket = (distance > 0).to(torch.long) * 8
        distance = distance.abs()
        large = 4 + (torch.log(distance.float() / 4 + 1e-6) * 4).to(torch.long)
        bucket = bucket + torch.where(distance < 4, distance, torch.minimum(large, torch.full_like(large, 7)))
        return x @ x.transpose(-1, -2) + self.bias(bucket).sum(-1)


class Sizes(nn.Module):
    """Sizes that are computed from shapes, with casts to FLOAT and back."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)

    def forward(self, x):
        y = self.conv(F.avg_pool2d(x, 2))
        y = F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        y = F.interpolate(y, scale_factor=1.5, mode="nearest", recompute_scale_factor=True)
        return y / torch.tensor(float(x.shape[1]) ** 0.5), torch.arange(y.shape[-1]).to(x.dtype) / y.shape[-1]


class Masks(nn.Module):
    """Casts that change nothing, and casts that are made twice."""

    def forward(self, x, ids):
        x = x.to(torch.float32)
        mask = (ids != 0).to(torch.float32)
        padding = (ids != 0).to(torch.int64).to(torch.int64)
        y = x * mask[..., None].to(x.dtype).float()
        lengths = padding.sum(1).to(torch.float32)
        mean = y.sum(1) / lengths[:, None].float().clamp(min=1)
        half = x.half().float() + x.half().float()
        return mean.float(), half, (padding.bool() & (ids > 2).bool()).to(torch.float32)


class Tables(nn.Module):
    """Integer tables that are reshaped, sliced and cast before use."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(24, dtype=torch.int64))
        self.register_buffer("flags", torch.tensor([1, 0, 1, 1], dtype=torch.uint8))

    def forward(self, x):
        grid = self.table.reshape(4, 6)[:, ::2].t().to(torch.float32)
        kept = self.flags.bool()[None].expand(3, -1).to(torch.float32)
        ones = torch.ones_like(self.table[:4], dtype=torch.int64).to(x.dtype)
        return x @ (grid * kept) + ones


class Autocast(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.float16):
            return self.inner(x).float()


def mixed():
    return Autocast(nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.Softmax(-1), nn.Linear(16, 4)))


def mixed_cnn():
    return Autocast(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)))


def ids(length=7, most=20):
    return torch.randint(0, most, (2, length))


CASES = {
    "half_transformer": (lambda: HalfTransformer().half(), [ids(), torch.ones(2, 7, dtype=torch.int64)]),
    "half_norms": (lambda: HalfNorms().half(), [torch.rand(2, 5, 16).half()]),
    "shared_blocks": (lambda: SharedBlocks().half(), [torch.rand(3, 12).half()]),
    "buckets": (Buckets, [torch.rand(2, 6, 4)]),
    "buckets_half": (lambda: Buckets().half(), [torch.rand(2, 6, 4).half()]),
    "sizes": (Sizes, [torch.rand(1, 2, 8, 8)]),
    "masks": (Masks, [torch.rand(2, 7, 4), ids()]),
    "tables": (Tables, [torch.rand(2, 3)]),
    "mixed": (mixed, [torch.rand(3, 8)]),
    "mixed_cnn": (mixed_cnn, [torch.rand(2, 3, 12, 12)]),
}


def export(make, inputs, variant):
    network = make().eval()
    dynamic, options = variant == "dynamic", {"dynamo": DYNAMO}
    # Large models are exported so, since torch folds in memory.
    if variant == "unfolded":
        options |= {"optimize": False} if DYNAMO else {"do_constant_folding": False}
    names = [f"input_{index}" for index in range(len(inputs))]
    axes = (0, 1) if inputs[0].ndim == 3 or len(inputs) == 2 else (0,)
    if dynamic and DYNAMO:
        options["dynamic_shapes"] = tuple({axis: torch.export.Dim.DYNAMIC for axis in axes} for _ in inputs)
        inputs = [torch.cat([value, value]) if value.shape[0] == 1 else value for value in inputs]
    elif dynamic:
        options["dynamic_axes"] = {name: {axis: f"axis_{axis}" for axis in axes} for name in names}
    if not DYNAMO:
        stream = io.BytesIO()
        torch.onnx.export(network, tuple(inputs), stream, input_names=names, opset_version=18, **options)
        return onnx.load_from_string(stream.getvalue()), inputs
    return torch.onnx.export(network, tuple(inputs), verbose=False, **options).model_proto, inputs


def cases():
    for name, (make, inputs) in CASES.items():
        for variant in ("static", "dynamic", "unfolded"):
            yield f"{name}_{variant}", partial(export, make, inputs, variant)


write_all(cases())
