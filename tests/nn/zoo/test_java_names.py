"""The zoo in Java's spelling."""

import pytest

import nd
from nn import dl4j


def test_a_program_of_javas_goes_line_by_line():
    model = (
        dl4j.VGG16.builder()
        .numClasses(10)
        .inputShape([3, 32, 32])
        .updater(dl4j.Adam(1e-3))
        .cacheMode(dl4j.CacheMode.DEVICE)
        .workspaceMode(dl4j.WorkspaceMode.NONE)
        .cudnnAlgoMode(dl4j.AlgoMode.NO_WORKSPACE)
        .build()
    )
    assert isinstance(model, dl4j.ZooModel)
    assert model.unused == {"cacheMode": "DEVICE", "workspaceMode": "NONE", "cudnnAlgoMode": "NO_WORKSPACE"}
    assert model.modelName() == "vgg16"
    assert model.modelType() is dl4j.ComputationGraph
    assert model.pretrainedAvailable(dl4j.PretrainedType.IMAGENET)
    assert model.pretrainedChecksum(dl4j.PretrainedType.IMAGENET) == 3501732770
    assert model.pretrainedUrl(dl4j.PretrainedType.CIFAR10).endswith("/models/vgg16_dl4j_cifar10_inference.v1.zip")
    facts = model.metaData()
    assert facts.getInputShape() == ((3, 32, 32),)
    assert (facts.getNumOutputs(), facts.getZooType(), facts.useMDS()) == (1, dl4j.ZooType.CNN, False)
    net = dl4j.LeNet.builder().numClasses(10).build().init()
    assert net.numParams() == 1_256_080


def test_detectors_tell_their_boxes():
    for model, last in ((dl4j.TinyYOLO, (16.62, 10.52)), (dl4j.YOLO2, (9.77052, 9.16828))):
        detector = model.builder().numClasses(2).build()
        assert detector.getNBoxes() == 5
        assert detector.getPriorBoxes()[-1] == last
        assert len(detector.getPriorBoxes()) == 5


def test_weights_are_asked_for_as_in_java(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with pytest.raises(nd.ConfigurationError, match=r"Download https://.*lenet_dl4j_mnist_inference\.zip"):
        dl4j.LeNet.builder().build().initPretrained(dl4j.PretrainedType.MNIST)
