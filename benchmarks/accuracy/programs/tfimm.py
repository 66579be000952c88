"""Calls of tfimm 0.2.14 (tf_keras): image models with small configurations, forward pass, features, training step."""

from __future__ import annotations

import tensorflow as tf
from program import Call, Programs
from tfimm.architectures import (
    cait,
    convmixer,
    convnext,
    efficientnet,
    mlp_mixer,
    pit,
    poolformer,
    pvt,
    pvt_v2,
    resnet,
    resnetv2,
    swin,
    vgg,
    vit,
)

from programs.made import floats, integers

programs = Programs("tfimm")
X = floats(2, 32, 32, 3)
K = {"name": "m", "url": "", "nb_classes": 5, "in_channels": 3, "input_size": (32, 32)}
MODELS = {
    "ViT": lambda: vit.ViT(
        vit.ViTConfig(
            **K,
            patch_size=8,
            embed_dim=16,
            nb_blocks=2,
            nb_heads=2,
            drop_rate=0.1,
            drop_path_rate=0.1,
        )
    ),
    "ViT distilled": lambda: vit.ViT(
        vit.ViTConfig(**K, patch_size=8, embed_dim=16, nb_blocks=2, nb_heads=2, distilled=True)
    ),
    "ViT interpolate": lambda: vit.ViT(
        vit.ViTConfig(
            **K, patch_size=8, embed_dim=16, nb_blocks=2, nb_heads=2, interpolate_input=True
        )
    ),
    "Swin": lambda: swin.SwinTransformer(
        swin.SwinTransformerConfig(
            **K, patch_size=2, embed_dim=8, nb_blocks=(2, 2), nb_heads=(2, 2), window_size=4
        )
    ),
    "ConvNeXt": lambda: convnext.ConvNeXt(
        convnext.ConvNeXtConfig(**K, patch_size=4, embed_dim=(8, 16), nb_blocks=(1, 1))
    ),
    "PiT": lambda: pit.PoolingVisionTransformer(
        pit.PoolingVisionTransformerConfig(
            **K, patch_size=8, stride=4, embed_dim=(8, 16), nb_blocks=(1, 1), nb_heads=(2, 2)
        )
    ),
    "CaiT": lambda: cait.CaiT(
        cait.CaiTConfig(**K, patch_size=8, embed_dim=16, nb_blocks=2, nb_heads=2)
    ),
    "PoolFormer": lambda: poolformer.PoolFormer(
        poolformer.PoolFormerConfig(**K, embed_dim=(8, 16), nb_blocks=(1, 1), mlp_ratio=(2.0, 2.0))
    ),
    "ResNet": lambda: resnet.ResNet(
        resnet.ResNetConfig(
            **K,
            nb_blocks=(1, 1, 1, 1),
            nb_channels=(8, 16, 16, 16),
            stem_width=8,
            drop_path_rate=0.1,
        )
    ),
    "ResNet se bottleneck": lambda: resnet.ResNet(
        resnet.ResNetConfig(
            **K,
            block="bottleneck",
            nb_blocks=(1, 1, 1, 1),
            nb_channels=(8, 16, 16, 16),
            stem_width=8,
            attn_layer="se",
            downsample_mode="avg",
            stem_type="deep",
            aa_layer="blur_pool",
        )
    ),
    "ResNet eca": lambda: resnet.ResNet(
        resnet.ResNetConfig(
            **K, nb_blocks=(1, 1, 1, 1), nb_channels=(8, 16, 16, 16), stem_width=8, attn_layer="eca"
        )
    ),
    "ResNetV2": lambda: resnetv2.ResNetV2(
        resnetv2.ResNetV2Config(
            **K,
            nb_blocks=(1, 1, 1, 1),
            nb_channels=(128, 128, 128, 128),
            stem_width=32,
            drop_path_rate=0.1,
        )
    ),
    "MLPMixer": lambda: mlp_mixer.MLPMixer(
        mlp_mixer.MLPMixerConfig(**K, patch_size=8, embed_dim=16, nb_blocks=2)
    ),
    "ResMLP": lambda: mlp_mixer.MLPMixer(
        mlp_mixer.MLPMixerConfig(
            **K,
            patch_size=8,
            embed_dim=16,
            nb_blocks=2,
            mlp_ratio=(4.0, 4.0),
            block_layer="res_block",
            norm_layer="affine",
        )
    ),
    "gMLP": lambda: mlp_mixer.MLPMixer(
        mlp_mixer.MLPMixerConfig(
            **K,
            patch_size=8,
            embed_dim=16,
            nb_blocks=2,
            mlp_ratio=(6.0, 6.0),
            block_layer="spatial_gating_block",
            mlp_layer="gated_mlp",
        )
    ),
    "EfficientNet": lambda: efficientnet.EfficientNet(
        efficientnet.EfficientNetConfig(
            **K,
            stem_size=8,
            architecture=(("ds_r1_k3_s1_e1_c8_se0.25",), ("ir_r1_k3_s2_e2_c8_se0.25",)),
            nb_features=16,
            drop_path_rate=0.1,
        )
    ),
    "ConvMixer": lambda: convmixer.ConvMixer(
        convmixer.ConvMixerConfig(**K, patch_size=4, embed_dim=8, depth=2, kernel_size=3)
    ),
    "PVT": lambda: pvt.PyramidVisionTransformer(
        pvt.PyramidVisionTransformerConfig(
            **K,
            patch_size=(4, 2),
            embed_dim=(8, 16),
            nb_blocks=(1, 1),
            nb_heads=(1, 2),
            mlp_ratio=(2.0, 2.0),
            sr_ratio=(2, 1),
        )
    ),
    "VGG": lambda: vgg.VGG(vgg.VGGConfig(**K, layers=(4, "M", 8, "M"), nb_features=8)),
    "PVTv2": lambda: pvt_v2.PyramidVisionTransformerV2(
        pvt_v2.PyramidVisionTransformerV2Config(
            **K,
            embed_dim=(8, 16),
            nb_blocks=(1, 1),
            nb_heads=(1, 2),
            mlp_ratio=(2.0, 2.0),
            sr_ratio=(2, 1),
        )
    ),
}
for _n, _make in MODELS.items():

    def _forward(_make=_make, training=False):
        m = _make()
        m(X)
        return Call(lambda x: m(x, training=training), [X], True)

    programs(_n)(_forward)
    programs(_n + " training")(lambda _make=_make: _forward(_make, True))

    def _features(_make=_make):
        m = _make()
        m(X)
        return Call(lambda x: list(m(x, return_features=True)[1].values()), [X], False)

    programs(_n + " features")(_features)


@programs("ViT training step")
def _step():
    m = MODELS["ViT"]()
    m.compile(
        tf.keras.optimizers.legacy.Adam(1e-3),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    y = integers(5, 2)
    m.train_on_batch(X, y)
    return Call(lambda x, y: m.train_step((x, y))["loss"], [X, y], False, False)
