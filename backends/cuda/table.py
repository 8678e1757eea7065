"""What computes what for the CuPy backend: of each row the first choice that holds.

Where none does, and for primitives that are not here, the generic implementation computes (`backends.generic`), or CuPy
itself: the methods of `CupyBackend`.
"""

from __future__ import annotations

from ..dispatch import Choice, Table, always
from . import draws, embedding, rows, spatial, stacks

TABLE: Table = {
    # ---- convolution and pooling
    "conv2d": (Choice(spatial.convolves, spatial.conv2d),),
    "conv2d_backward": (
        Choice(spatial.goes_back, spatial.conv2d_backward),
        Choice(spatial.has_image, spatial.back_by_columns),  # gradients that do not lie as the kernels write them
    ),
    "conv2d_max_pool": (Choice(spatial.pools_what_is_biased, spatial.conv2d_max_pool),),
    "conv2d_max_pool_backward": (Choice(spatial.goes_back_from_pooled, spatial.conv2d_max_pool_backward),),
    "grouped": (Choice(spatial.convolves_groups, spatial.grouped),),
    "grouped_backward": (
        Choice(spatial.goes_back_in_groups, spatial.grouped_backward),
        Choice(spatial.has_image, spatial.grouped_back_by_columns),  # as of conv2d_backward
    ),
    "im2col": (Choice(spatial.is_real_image, spatial.im2col),),
    "col2im": (Choice(spatial.is_real_image, spatial.col2im),),
    "avg_pool": (Choice(always, spatial.avg_pool),),
    "avg_pool_backward": (Choice(always, spatial.avg_pool_backward),),
    "max_pool": (Choice(always, spatial.max_pool),),
    "max_pool_backward": (Choice(always, spatial.max_pool_backward),),
    "pnorm_pool": (Choice(always, spatial.pnorm_pool),),
    "pnorm_pool_backward": (Choice(always, spatial.pnorm_pool_backward),),
    # ---- products
    "affine_gradients": (Choice(stacks.makes_affine_gradients, stacks.affine_gradients),),
    "batched_matmul": (Choice(stacks.makes_stacks, stacks.batched_matmul),),
    "gradients_of_products": (Choice(stacks.gradients_are_one, stacks.gradients_of_products),),
    "sum_of_products": (Choice(stacks.sum_is_a_product, stacks.sum_of_products),),
    # ---- rows
    "normalize_rows": (Choice(rows.are_alike, rows.normalize),),
    "normalize_rows_back": (Choice(rows.are_alike_back, rows.normalize_back),),
    "softmax": (Choice(rows.are_last, rows.softmax),),
    "pull_rows": (Choice(embedding.is_real, embedding.pull_rows),),
    "scatter_add": (Choice(embedding.is_real, embedding.scatter_add),),
    # ---- others
    "dropout_factors": (Choice(draws.are_real, draws.dropout_factors),),
    "to_activation_order": (Choice(spatial.lies_batch_innermost, spatial.as_it_lies),),
}
