"""Networks as ONNX models at work: the checker of onnx, and outputs of onnxruntime beside the network's own."""

import numpy as np
import onnx
import onnxruntime

import nd
from nn import MultiLayerNetwork
from nn.onnx.writing import onnx_model

CLOSE = {"rtol": 1e-5, "atol": 1e-5}  # of onnxruntime's float32 to ours


class Written:
    """A network as a model that was checked, with full shape inference, and is run by onnxruntime."""

    def __init__(self, net, **settings):
        self.net, self.model = net, onnx_model(net, **settings)
        onnx.checker.check_model(self.model, full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        content = self.model.SerializeToString()
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def outputs(self, *features):
        """Return the outputs of the model for the features of every input, and other inputs behind them."""
        names = [one.name for one in self.session.get_inputs()]
        given = [np.asarray(x, self.net.dtype) for x in features]
        return self.session.run(None, dict(zip(names, given, strict=True)))

    def check(self, *features, masks=()):
        """Compare the outputs with the network's; masks are those of the features, None for inputs that have none."""
        given = [np.asarray(x, self.net.dtype) for x in features]
        masks = [mask if mask is None else np.asarray(mask, self.net.dtype) for mask in masks]
        single = isinstance(self.net, MultiLayerNetwork)
        settings = {"features_mask": masks[0]} if single and masks else {"features_masks": masks} if masks else {}
        expected = self.net.output(*given, **settings)
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        found = self.outputs(*features, *(mask for mask in masks if mask is not None))
        assert len(found) == len(expected)
        for ours, theirs, told in zip(expected, found, self.session.get_outputs(), strict=True):
            ours = nd.to_host(ours)
            np.testing.assert_allclose(theirs, ours, **CLOSE)
            assert theirs.dtype == ours.dtype
            assert len(told.shape) == ours.ndim
            sizes = zip(told.shape, ours.shape, strict=True)
            assert all(isinstance(said, str) or said == size for said, size in sizes), (told.shape, ours.shape)

    @property
    def ops(self):
        """Operators in their order."""
        return [node.op_type for node in self.model.graph.node]
