"""Models for lessons and tests, small and readable, with the parameter counts of the published ones.

Random weights, no download. vgg16, resnet18, resnet50, mobilenet_v2 and vit_b_16 have the layers of their
torchvision namesakes (module names are simpler); gpt_block, unet and lstm are of a size that suits a lesson.
"""

from __future__ import annotations

from course.models.networks import gpt_block, lstm, mobilenet_v2, resnet18, resnet50, unet, vgg16, vit_b_16

__all__ = ["gpt_block", "lstm", "mobilenet_v2", "resnet18", "resnet50", "unet", "vgg16", "vit_b_16"]
