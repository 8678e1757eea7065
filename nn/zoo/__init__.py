"""Known architectures, layer for layer those of Deeplearning4j's zoo; see docs/zoo.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.on_demand import names_on_demand

if TYPE_CHECKING:
    from .alexnet import AlexNet as AlexNet
    from .darknet import YOLO2 as YOLO2
    from .darknet import Darknet19 as Darknet19
    from .darknet import TinyYOLO as TinyYOLO
    from .facenet import FaceNetNN4Small2 as FaceNetNN4Small2
    from .inception_resnet import InceptionResNetV1 as InceptionResNetV1
    from .lenet import LeNet as LeNet
    from .nasnet import NASNet as NASNet
    from .resnet import ResNet50 as ResNet50
    from .simple_cnn import SimpleCNN as SimpleCNN
    from .squeezenet import SqueezeNet as SqueezeNet
    from .text_generation import TextGenerationLSTM as TextGenerationLSTM
    from .unet import UNet as UNet
    from .vgg import VGG16 as VGG16
    from .vgg import VGG19 as VGG19
    from .xception import Xception as Xception
    from .zoo_model import ModelMetaData as ModelMetaData
    from .zoo_model import PretrainedType as PretrainedType
    from .zoo_model import ZooModel as ZooModel
    from .zoo_model import ZooType as ZooType
else:
    _NAMES = {
        "alexnet": "AlexNet",
        "darknet": "Darknet19 TinyYOLO YOLO2",
        "facenet": "FaceNetNN4Small2",
        "inception_resnet": "InceptionResNetV1",
        "lenet": "LeNet",
        "nasnet": "NASNet",
        "resnet": "ResNet50",
        "simple_cnn": "SimpleCNN",
        "squeezenet": "SqueezeNet",
        "text_generation": "TextGenerationLSTM",
        "unet": "UNet",
        "vgg": "VGG16 VGG19",
        "xception": "Xception",
        "zoo_model": "ModelMetaData PretrainedType ZooModel ZooType",
    }
    __getattr__, __dir__ = names_on_demand(__name__, _NAMES)
    __all__ = sorted(" ".join(_NAMES.values()).split())
