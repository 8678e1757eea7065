"""Nets of Caffe as texts: small ones, written for these tests."""

LENET = """
name: "Digits"
layer { name: "train" type: "Data" top: "data" top: "label" include { phase: TRAIN }
  transform_param { scale: 0.00390625 } data_param { source: "train_lmdb" batch_size: 64 backend: LMDB } }
layer { name: "test" type: "Data" top: "data" top: "label" include { phase: TEST }
  transform_param { scale: 0.00390625 } data_param { source: "test_lmdb" batch_size: 100 backend: LMDB } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  param { lr_mult: 1 } param { lr_mult: 2 }
  convolution_param { num_output: 20 kernel_size: 5 stride: 1 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool1" top: "ip1" inner_product_param { num_output: 500 } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2" inner_product_param { num_output: 10 } }
layer { name: "accuracy" type: "Accuracy" bottom: "ip2" bottom: "label" top: "accuracy" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
"""
"""As BVLC's LeNet is built."""

SOLVER = """
net: "digits.prototxt"  # beside it
test_iter: 100
test_interval: 500
base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005
lr_policy: "inv" gamma: 0.0001 power: 0.75
display: 100 max_iter: 10000
snapshot: 5000 snapshot_prefix: "snapshots/digits"
solver_mode: CPU
"""

V1 = """
name: "old"
input: "data" input: "label" input_dim: [1, 3, 8, 8, 1, 1, 1, 1]
layers { name: "conv1" type: CONVOLUTION bottom: "data" top: "conv1" blobs_lr: 1 blobs_lr: 2 weight_decay: 1
  weight_decay: 0 convolution_param { num_output: 4 kernel_size: 3 } }
layers { name: "relu1" type: RELU bottom: "conv1" top: "conv1" }
layers { name: "loss" type: SOFTMAX_LOSS bottom: "conv1" bottom: "label" top: "loss" loss_weight: 1.5 }
"""

V0 = """
name: "oldest"
input: "data" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layers { layer { name: "pad1" type: "padding" pad: 2 } bottom: "data" top: "pad1" }
layers { layer { name: "conv1" type: "conv" num_output: 4 kernelsize: 5 group: 1 stride: 2 biasterm: false
  weight_filler { type: "gaussian" std: 0.01 } blobs_lr: 1. weight_decay: 0. } bottom: "pad1" top: "conv1" }
layers { layer { name: "pool1" type: "pool" pool: AVE kernelsize: 3 stride: 2 } bottom: "conv1" top: "pool1" }
layers { layer { name: "norm1" type: "lrn" local_size: 3 alpha: 0.0001 beta: 0.5 } bottom: "pool1" top: "norm1" }
"""
