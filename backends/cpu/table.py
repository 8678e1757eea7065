"""What computes what for the NumPy backend, with oneDNN and without: of each row the first choice that holds.

Where none does, and for primitives that are not here, the generic implementation computes (`backends.generic`), or
NumPy itself: the methods of `NumpyBackend`.
"""

from __future__ import annotations

from ..dispatch import Choice, Table, always
from ..generic import spatial
from . import accelerated, batch_norm, channel_groups, convolution, depthwise, pooled_rows, stacks, zeros
from .accelerated import by_onednn

TABLE: Table = {
    # ---- convolution
    "conv2d": (
        Choice(accelerated.convolves, by_onednn("convolution", "convolved")),
        Choice(convolution.is_pointwise, convolution.pointwise),
        Choice(convolution.rows_serve, convolution.by_rows),
        Choice(always, convolution.by_columns),
    ),
    "conv2d_backward": (
        Choice(accelerated.has_saved, by_onednn("convolution", "backward")),
        Choice(convolution.algorithm_is_saved, convolution.back),
    ),
    "conv2d_max_pool": (
        # oneDNN's convolution and pooling, one after the other: its output does not lie as the rows' pooling takes it.
        Choice(accelerated.convolves_before_pooling, spatial.conv2d_max_pool),
        Choice(convolution.rows_pool, convolution.pooled_by_rows),
    ),
    "conv2d_max_pool_backward": (Choice(convolution.rows_have_pooled, pooled_rows.backward),),
    "conv3d": (
        Choice(accelerated.convolves_soundly, by_onednn("convolution", "convolved")),
        Choice(always, convolution.by_columns),
    ),
    "conv3d_backward": (
        Choice(accelerated.has_saved, by_onednn("convolution", "backward")),
        Choice(convolution.algorithm_is_saved, convolution.back),
    ),
    "deconv": (Choice(accelerated.convolves_soundly, by_onednn("convolution", "transposed")),),
    "deconv_backward": (Choice(accelerated.has_saved, by_onednn("convolution", "transposed_back")),),
    "depthwise": (
        Choice(accelerated.takes_weights, by_onednn("convolution", "depthwise")),
        Choice(depthwise.bands_serve, depthwise.by_bands),
    ),
    "depthwise_backward": (
        Choice(accelerated.has_saved, by_onednn("convolution", "depthwise_back")),
        Choice(depthwise.bands_have_served, depthwise.back_by_bands),
    ),
    "grouped": (
        Choice(accelerated.convolves_soundly, by_onednn("convolution", "convolved")),
        Choice(channel_groups.groups_are_of_images, channel_groups.one_by_one),
    ),
    "grouped_backward": (
        Choice(accelerated.has_saved, by_onednn("convolution", "backward")),
        Choice(channel_groups.groups_are_saved, channel_groups.back_one_by_one),
    ),
    "grouped_deconv": (Choice(accelerated.convolves_soundly, by_onednn("convolution", "grouped_transposed")),),
    "grouped_deconv_backward": (Choice(accelerated.has_saved, by_onednn("convolution", "grouped_transposed_back")),),
    "im2col": (Choice(always, convolution.im2col),),
    # ---- pooling
    "avg_pool": (Choice(accelerated.averages, by_onednn("pooling", "means")),),
    "avg_pool_backward": (Choice(accelerated.has_saved, by_onednn("pooling", "back")),),
    "avg_pool3d": (Choice(accelerated.averages_volumes, by_onednn("pooling", "means_of_real")),),
    "avg_pool3d_backward": (Choice(accelerated.has_saved, by_onednn("pooling", "back")),),
    "largest": (Choice(accelerated.takes, by_onednn("pooling", "largest")),),
    "max_pool": (Choice(accelerated.takes, by_onednn("pooling", "maxima")),),
    "max_pool_backward": (Choice(accelerated.has_saved, by_onednn("pooling", "back")),),
    "max_pool3d": (Choice(accelerated.takes, by_onednn("pooling", "maxima")),),
    "max_pool3d_backward": (Choice(accelerated.has_saved, by_onednn("pooling", "back")),),
    # ---- normalisation
    "channel_moments": (
        Choice(accelerated.normalizes, by_onednn("batch_norm", "moments")),
        Choice(always, batch_norm.moments),
    ),
    "normalize_channels": (
        Choice(accelerated.normalizes, by_onednn("batch_norm", "normalized")),
        Choice(always, batch_norm.normalized),
    ),
    "channel_error_sums": (
        Choice(accelerated.normalizes_back, by_onednn("batch_norm", "error_sums")),
        Choice(always, batch_norm.error_sums),
    ),
    "normalize_channels_back": (
        Choice(accelerated.normalizes_back, by_onednn("batch_norm", "back")),
        Choice(always, batch_norm.back),
    ),
    "lrn": (Choice(accelerated.takes, by_onednn("lrn", "forward")),),  # which refuses some, too
    "lrn_back": (Choice(always, by_onednn("lrn", "backward")),),  # nobody else's way forward needs it
    # ---- ReLU, series, stacks
    "lstm": (Choice(accelerated.runs_series, by_onednn("lstm", "SeriesPass")),),
    "relu_back": (Choice(accelerated.rectifies_back, by_onednn("running", "rectified_back")),),
    "sum_of_products": (Choice(stacks.has_room, stacks.sum_of_products),),
    # ---- creation
    "full": (Choice(zeros.are_wanted, zeros.of_system),),
    # ---- memory order
    "input_like": (Choice(accelerated.takes_images, accelerated.input_like),),
    "like": (
        Choice(accelerated.lies_channels_innermost, by_onednn("running", "like")),
        Choice(convolution.lies_rows_first, convolution.memory_rows_first),
    ),
    "to_image_order": (Choice(accelerated.takes_places, by_onednn("running", "in_image_order")),),
}
