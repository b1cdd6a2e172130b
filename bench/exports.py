"""Small networks with random weights, as public exporters write them, for networks.py.

Each function writes a file and returns the features that the library calls those of the pictures.
"""

import numpy as np

SIDE = 224
MEAN, STD = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
NETWORKS = {}


def network(function):
    NETWORKS[function.__name__] = function
    return function


def normalised(pictures):
    return ((pictures / 255 - MEAN) / STD).transpose(0, 3, 1, 2).astype(np.float32)


class Reading:
    """A module whose outputs are chosen by a function of the network."""

    def __new__(cls, net, of):
        import torch

        class Module(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.net = net

            def forward(self, x):
                return of(self.net, x)

        return Module().eval()


def to_onnx(module, path, names=None, inputs=("input",), example=None, dynamo=False, free=True):
    import torch

    example = example if example is not None else (torch.zeros(2 if free else 1, 3, SIDE, SIDE),)
    if dynamo:
        shapes = ({0: torch.export.Dim("batch")},) if free else None
        torch.onnx.export(module, example, str(path), dynamo=True, external_data=False, output_names=names,
                          dynamic_shapes=shapes, verbose=False)
        return
    axes = {n: {0: "batch"} for n in (*inputs, *(names or []))} if free else None
    torch.onnx.export(module, example, str(path), dynamo=False, input_names=list(inputs), output_names=names,
                      dynamic_axes=axes, opset_version=17)


def run(module, pictures, of=None):
    """The features that the library computes, n×d."""
    import torch

    with torch.no_grad():
        x = torch.from_numpy(normalised(pictures))
        return (of(x) if of else module(x)).float().flatten(1).numpy()


# timm


def timm_net(name, **settings):
    import timm
    import torch

    torch.manual_seed(0)
    return timm.create_model(name, num_classes=0, **settings).eval()


def tiny_vit(**settings):
    import torch
    from timm.models.vision_transformer import VisionTransformer

    torch.manual_seed(0)
    return VisionTransformer(img_size=SIDE, num_classes=0, **{"patch_size": 16, "embed_dim": 48, "depth": 2,
                                                               "num_heads": 3, **settings}).eval()


def features(net, x):
    return net.forward_features(x)


def pooled(net, x):
    return net.forward_head(net.forward_features(x), pre_logits=True)


def timm_case(path, pictures, net, of=features, dynamo=False, mean=None, **more):
    """mean names the axes of what is exported over which the features are the mean."""
    to_onnx(Reading(net, of), path, dynamo=dynamo, **more)
    return run(net, pictures, lambda x: of(net, x).mean(mean) if mean else pooled(net, x))


@network
def resnet10t(path, pictures):
    return timm_case(path, pictures, timm_net("resnet10t"), of=pooled)


@network
def resnet10t_dynamo(path, pictures):
    return timm_case(path, pictures, timm_net("resnet10t"), of=pooled, dynamo=True)


@network
def resnet10t_map(path, pictures):
    return timm_case(path, pictures, timm_net("resnet10t"))


@network
def resnet10t_channels_then_pixels(path, pictures):
    """[n, 1024, 49]: 1024 channels are a square number too."""
    net = timm_net("resnet10t", channels=(64, 128, 256, 1024))
    return timm_case(path, pictures, net, of=lambda n, x: n.forward_features(x).flatten(2))


@network
def resnet10t_squeezed(path, pictures):
    return timm_case(path, pictures, timm_net("resnet10t"), of=lambda n, x: pooled(n, x).squeeze(), free=False)


@network
def resnet10t_stages(path, pictures):
    """The maps of five stages, which a detector wants: which one must be asked."""
    import timm
    import torch

    torch.manual_seed(0)
    net = timm.create_model("resnet10t", features_only=True).eval()
    to_onnx(net, path)
    return run(net, pictures, lambda x: net(x)[-1].mean((2, 3)))


@network
def resnet10t_logits(path, pictures):
    """A classifier of 1000 classes: its scores, or what is before its last layer."""
    import timm
    import torch

    torch.manual_seed(0)
    net = timm.create_model("resnet10t", num_classes=1000).eval()
    to_onnx(net, path, names=["logits"])
    return run(net, pictures, lambda x: pooled(net, x))


@network
def resnet10t_probabilities(path, pictures):
    import timm
    import torch

    torch.manual_seed(0)
    net = timm.create_model("resnet10t", num_classes=1000).eval()
    to_onnx(Reading(net, lambda n, x: n(x).softmax(1)), path, names=["probabilities"])
    return run(net, pictures, lambda x: pooled(net, x))


@network
def resnet_training_mode(path, pictures):
    """Dropout and batch statistics left on: the same picture has other features in each run."""
    import torch

    net = timm_net("resnet10t", drop_rate=0.5)
    net.train()
    module = Reading(net, pooled).train()
    example = (torch.zeros(2, 3, SIDE, SIDE),)
    torch.onnx.export(module, example, str(path), dynamo=False, training=torch.onnx.TrainingMode.TRAINING,
                      do_constant_folding=False, input_names=["input"], dynamic_axes={"input": {0: "b"}},
                      opset_version=17)
    net.eval()
    return run(net, pictures, lambda x: pooled(net, x))


@network
def convnext_atto_map(path, pictures):
    return timm_case(path, pictures, timm_net("convnext_atto", dims=(16, 24, 32, 48), depths=(1, 1, 1, 1)),
                     of=lambda n, x: n.norm_pre(n.stages(n.stem(x))), mean=(2, 3))


@network
def swin_map(path, pictures):
    """timm's Swin gives a map with channels last."""
    net = timm_net("swin_tiny_patch4_window7_224", embed_dim=12, depths=(1, 1, 1, 1), num_heads=(1, 2, 3, 4))
    return timm_case(path, pictures, net)


@network
def vit_class_token(path, pictures):
    return timm_case(path, pictures, tiny_vit())


@network
def vit_patches_only(path, pictures):
    return timm_case(path, pictures, tiny_vit(class_token=False, global_pool="avg"), mean=1)


@network
def vit_class_token_registers(path, pictures):
    return timm_case(path, pictures, tiny_vit(reg_tokens=4))


@network
def vit_registers_only(path, pictures):
    """Four registers, no class token: the mean of the patches."""
    return timm_case(path, pictures, tiny_vit(reg_tokens=4, class_token=False, global_pool="avg"))


@network
def vit_one_register(path, pictures):
    """One register and no class token looks like a class token."""
    return timm_case(path, pictures, tiny_vit(reg_tokens=1, class_token=False, global_pool="avg"))


@network
def vit_map(path, pictures):
    """The patches as a map, as mmpretrain and ViTDet give them."""
    net = tiny_vit(class_token=False, global_pool="avg")
    return timm_case(path, pictures, net,
                     of=lambda n, x: n.forward_features(x).transpose(1, 2).unflatten(2, (14, 14)), mean=(2, 3))


@network
def vit_patches_width_256(path, pictures):
    """[n, 196, 256]: both axes could be patches."""
    return timm_case(path, pictures, tiny_vit(class_token=False, global_pool="avg", embed_dim=256, num_heads=4))


@network
def mixer(path, pictures):
    import torch
    from timm.models.mlp_mixer import MlpMixer

    torch.manual_seed(0)
    net = MlpMixer(img_size=SIDE, patch_size=16, num_blocks=2, embed_dim=48, num_classes=0).eval()
    return timm_case(path, pictures, net)


@network
def efficientnet_lite0_dynamo(path, pictures):
    return timm_case(path, pictures, timm_net("efficientnet_lite0"), of=pooled, dynamo=True)


@network
def deit_distilled(path, pictures):
    """Two tokens before the patches; DeiT's features are their mean."""
    import torch
    from timm.models.deit import VisionTransformerDistilled

    torch.manual_seed(0)
    net = VisionTransformerDistilled(img_size=SIDE, patch_size=16, embed_dim=48, depth=2, num_heads=3,
                                     num_classes=0).eval()
    to_onnx(Reading(net, features), path)
    return run(net, pictures, lambda x: net.forward_features(x)[:, 0])


@network
def cait(path, pictures):
    return timm_case(path, pictures, timm_net("cait_xxs24_224", depth=2, embed_dim=48, num_heads=4))


@network
def levit(path, pictures):
    return timm_case(path, pictures, timm_net("levit_128s"))


@network
def hiera(path, pictures):
    return timm_case(path, pictures, timm_net("hiera_tiny_224", embed_dim=24, stages=(1, 1, 1, 1)), mean=1)


@network
def pvt_v2_map(path, pictures):
    return timm_case(path, pictures, timm_net("pvt_v2_b0", depths=(1, 1, 1, 1)))


# other types of numbers


@network
def vit_float16(path, pictures):
    """As onnxconverter and .half() write it: float16 in and out."""
    import torch

    net = tiny_vit().half()
    to_onnx(Reading(net, features), path, example=(torch.zeros(2, 3, SIDE, SIDE, dtype=torch.float16),))
    return run(tiny_vit(), pictures, lambda x: pooled(tiny_vit(), x))


@network
def vit_quantized_dynamic(path, pictures):
    from onnxruntime.quantization import quantize_dynamic

    whole = path.with_suffix(".whole.onnx")
    expected = timm_case(whole, pictures, tiny_vit())
    quantize_dynamic(whole, path)
    whole.unlink()
    return expected


@network
def resnet10t_quantized_static(path, pictures):
    from onnxruntime.quantization import CalibrationDataReader, quantize_static

    class Pictures(CalibrationDataReader):
        rows = iter({"input": x[None]} for x in normalised(pictures))

        def get_next(self):
            return next(self.rows, None)

    whole = path.with_suffix(".whole.onnx")
    expected = timm_case(whole, pictures, timm_net("resnet10t"), of=pooled)
    quantize_static(whole, path, Pictures())
    whole.unlink()
    return expected


# normalisation inside


@network
def resnet10t_takes_0_to_1(path, pictures):
    import torch

    mean, std = (torch.tensor(v, dtype=torch.float32).view(1, 3, 1, 1) for v in (MEAN, STD))
    net = timm_net("resnet10t")
    to_onnx(Reading(net, lambda n, x: pooled(n, (x - mean) / std)), path)
    return run(net, pictures, lambda x: pooled(net, x))


@network
def resnet10t_takes_0_to_255(path, pictures):
    import torch

    mean, std = (torch.tensor(v * 255, dtype=torch.float32).view(1, 3, 1, 1) for v in (MEAN, STD))
    net = timm_net("resnet10t")
    to_onnx(Reading(net, lambda n, x: pooled(n, (x - mean) / std)), path)
    return run(net, pictures, lambda x: pooled(net, x))


@network
def resnet10t_takes_bytes(path, pictures):
    """uint8 pictures with channels last, as servers want them."""
    import torch

    mean, std = (torch.tensor(v * 255, dtype=torch.float32).view(1, 3, 1, 1) for v in (MEAN, STD))
    net = timm_net("resnet10t")
    to_onnx(Reading(net, lambda n, x: pooled(n, (x.permute(0, 3, 1, 2).float() - mean) / std)), path,
            example=(torch.zeros(2, SIDE, SIDE, 3, dtype=torch.uint8),))
    return run(net, pictures, lambda x: pooled(net, x))


# TensorFlow


def keras_case(path, pictures, net, scale=lambda x: x, nchw=False):
    import tensorflow as tf
    import tf2onnx

    spec = [tf.TensorSpec((None, SIDE, SIDE, 3), tf.float32, name="image")]
    more = {"inputs_as_nchw": ["image"]} if nchw else {}
    tf2onnx.convert.from_keras(net, spec, opset=17, output_path=str(path), **more)
    out = net.predict(scale(pictures.astype(np.float32)), verbose=0)
    return out if out.ndim == 2 else out.mean((1, 2))


def imagenet(x):
    return ((x / 255 - MEAN) / STD).astype(np.float32)


@network
def keras_mobilenet_v2(path, pictures):
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    return keras_case(path, pictures, tf.keras.applications.MobileNetV2(
        alpha=0.35, include_top=False, weights=None, pooling="avg", input_shape=(SIDE, SIDE, 3)), imagenet)


@network
def keras_mobilenet_v2_map(path, pictures):
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    return keras_case(path, pictures, tf.keras.applications.MobileNetV2(
        alpha=0.35, include_top=False, weights=None, input_shape=(SIDE, SIDE, 3)), imagenet)


@network
def keras_mobilenet_v2_map_inputs_as_nchw(path, pictures):
    """Colours first in, channels last out (onnx/tensorflow-onnx#1986)."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    return keras_case(path, pictures, tf.keras.applications.MobileNetV2(
        alpha=0.35, include_top=False, weights=None, input_shape=(SIDE, SIDE, 3)), imagenet, nchw=True)


@network
def keras_efficientnet_b0(path, pictures):
    """Its first layers divide by 255 and normalise."""
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    return keras_case(path, pictures, tf.keras.applications.EfficientNetB0(
        include_top=False, weights=None, pooling="avg", input_shape=(SIDE, SIDE, 3)))
