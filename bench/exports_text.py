"""More networks for networks.py: those of transformers and open_clip, some with a text side."""

from exports import SIDE, Reading, network, pooled, run, tiny_vit, to_onnx

def heads(**more):
    return {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 96, **more}


def transformer(model, settings):
    import torch

    torch.manual_seed(0)
    net = model(settings).eval()
    net.config.return_dict = True
    return net


def hidden_and_pooled(net, x):
    out = net(pixel_values=x)
    return out.last_hidden_state, out.pooler_output


def vision_case(path, pictures, net, dynamo=False, **more):
    """As optimum exports it: last_hidden_state and pooler_output."""
    to_onnx(Reading(net, hidden_and_pooled), path, names=["last_hidden_state", "pooler_output"],
            inputs=("pixel_values",), dynamo=dynamo, **more)
    return run(net, pictures, lambda x: net(pixel_values=x).pooler_output)


@network
def hf_vit_hidden_state(path, pictures):
    import transformers as t

    net = transformer(t.ViTModel, t.ViTConfig(**heads()))
    to_onnx(Reading(net, lambda n, x: n(pixel_values=x).last_hidden_state), path, names=["last_hidden_state"],
            inputs=("pixel_values",))
    return run(net, pictures, lambda x: net(pixel_values=x).last_hidden_state[:, 0])


@network
def hf_clip_vision(path, pictures):
    import transformers as t

    return vision_case(path, pictures, transformer(t.CLIPVisionModel, t.CLIPVisionConfig(**heads(patch_size=32))))


@network
def hf_clip_vision_projection(path, pictures):
    import transformers as t

    net = transformer(t.CLIPVisionModelWithProjection, t.CLIPVisionConfig(**heads(patch_size=32, projection_dim=24)))

    def of(n, x):
        out = n(pixel_values=x)
        return out.image_embeds, out.last_hidden_state

    to_onnx(Reading(net, of), path, names=["image_embeds", "last_hidden_state"], inputs=("pixel_values",))
    return run(net, pictures, lambda x: net(pixel_values=x).image_embeds)


def both_encoders(net, path, names, of):
    """A graph of a text and an image encoder, as optimum exports it."""
    import torch

    class Both(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, input_ids, pixel_values, attention_mask):
            return of(self.net(input_ids=input_ids, pixel_values=pixel_values, attention_mask=attention_mask))

    ids = torch.ones(2, 7, dtype=torch.int64)
    example = (ids, torch.zeros(2, 3, SIDE, SIDE), torch.ones_like(ids))
    inputs = ("input_ids", "pixel_values", "attention_mask")
    to_onnx(Both().eval(), path, names=names, inputs=inputs, example=example)


@network
def hf_clip_combined(path, pictures):
    import transformers as t

    text = heads(vocab_size=99, max_position_embeddings=16, eos_token_id=1)
    net = transformer(t.CLIPModel, t.CLIPConfig(text_config=text, vision_config=heads(patch_size=32),
                                                projection_dim=24))
    both_encoders(net, path, ["logits_per_image", "logits_per_text", "text_embeds", "image_embeds"],
                  lambda o: (o.logits_per_image, o.logits_per_text, o.text_embeds, o.image_embeds))
    return run(net, pictures, lambda x: image_features(net, x))


def image_features(net, x):
    out = net.get_image_features(pixel_values=x)
    out = getattr(out, "pooler_output", out)
    return out / out.norm(dim=-1, keepdim=True)


@network
def hf_siglip_vision(path, pictures):
    import transformers as t

    return vision_case(path, pictures, transformer(t.SiglipVisionModel, t.SiglipVisionConfig(**heads())))


@network
def hf_siglip_combined(path, pictures):
    import transformers as t

    text = heads(vocab_size=99, max_position_embeddings=16)
    net = transformer(t.SiglipModel, t.SiglipConfig(text_config=text, vision_config=heads()))
    both_encoders(net, path, ["logits_per_image", "logits_per_text", "text_embeds", "image_embeds"],
                  lambda o: (o.logits_per_image, o.logits_per_text, o.text_embeds, o.image_embeds))
    return run(net, pictures, lambda x: image_features(net, x))


@network
def hf_dinov2(path, pictures):
    import transformers as t

    settings = heads(image_size=SIDE)
    settings.pop("intermediate_size")
    return vision_case(path, pictures, transformer(t.Dinov2Model, t.Dinov2Config(**settings)))


@network
def hf_dinov2_registers_tokens(path, pictures):
    import transformers as t

    settings = heads(image_size=SIDE)
    settings.pop("intermediate_size")
    net = transformer(t.Dinov2WithRegistersModel, t.Dinov2WithRegistersConfig(**settings))
    to_onnx(Reading(net, lambda n, x: n(pixel_values=x).last_hidden_state), path, names=["last_hidden_state"],
            dynamo=True)
    return run(net, pictures, lambda x: net(pixel_values=x).pooler_output)


@network
def dinov2_hub_dictionary(path, pictures):
    """The names that DINOv2's own forward_features gives."""
    net = tiny_vit(reg_tokens=4)

    def of(n, x):
        t = n.forward_features(x)
        return t[:, 0], t[:, 1:5], t[:, 5:], t

    to_onnx(Reading(net, of), path,
            names=["x_norm_clstoken", "x_norm_regtokens", "x_norm_patchtokens", "x_prenorm"])
    return run(net, pictures, lambda x: pooled(net, x))


@network
def hf_beit(path, pictures):
    import transformers as t

    return vision_case(path, pictures, transformer(t.BeitModel, t.BeitConfig(**heads())))


@network
def hf_resnet(path, pictures):
    """transformers' ResNet pools to [n, d, 1, 1]."""
    import transformers as t

    settings = t.ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 1, 1],
                              layer_type="basic")
    return vision_case(path, pictures, transformer(t.ResNetModel, settings))


@network
def hf_swin(path, pictures):
    import transformers as t

    settings = t.SwinConfig(embed_dim=12, depths=[1, 1, 1, 1], num_heads=[1, 2, 3, 4])
    return vision_case(path, pictures, transformer(t.SwinModel, settings))


@network
def hf_vit_hidden_states(path, pictures):
    """Exported with every hidden state and no pooling."""
    import transformers as t

    net = transformer(t.ViTModel, t.ViTConfig(**heads()))

    def of(n, x):
        out = n(pixel_values=x, output_hidden_states=True)
        return out.last_hidden_state, *out.hidden_states

    to_onnx(Reading(net, of), path, names=["last_hidden_state", "hidden_states.0", "hidden_states.1",
                                           "hidden_states.2"], inputs=("pixel_values",))
    return run(net, pictures, lambda x: net(pixel_values=x).last_hidden_state[:, 0])


@network
def hf_mae_masked(path, pictures):
    """ViTMAE hides three quarters of the patches at random in each run."""
    import transformers as t

    net = transformer(t.ViTMAEModel, t.ViTMAEConfig(**heads()))
    to_onnx(Reading(net, lambda n, x: n(pixel_values=x).last_hidden_state), path, names=["last_hidden_state"],
            inputs=("pixel_values",))
    return run(net, pictures, lambda x: net(pixel_values=x).last_hidden_state[:, 0])


# open_clip


@network
def open_clip_image_and_text(path, pictures):
    import open_clip
    import torch
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg

    torch.manual_seed(0)
    net = open_clip.model.CLIP(24, CLIPVisionCfg(layers=2, width=64, head_width=16, patch_size=32, image_size=SIDE),
                               CLIPTextCfg(context_length=16, vocab_size=99, width=32, heads=2, layers=2)).eval()
    to_onnx(net, path, names=["image_features", "text_features", "logit_scale"], inputs=("image", "text"),
            example=(torch.zeros(2, 3, SIDE, SIDE), torch.ones(2, 16, dtype=torch.int64)))
    return run(net, pictures, lambda x: net.encode_image(x, normalize=True))
