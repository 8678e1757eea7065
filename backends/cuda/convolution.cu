// im2col and col2im. The columns lie [C, kernel_h, kernel_w, out_h, out_w, N].

// Reads the image by strides, so that it needs neither a padded copy nor a particular memory order.
extern "C" __global__ void im2col(const real *__restrict__ image, real *__restrict__ columns, const Geometry g)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.out_h, g.out_w);
    int column = p.c % g.kernel_w;
    int row = p.c / g.kernel_w % g.kernel_h;
    int channel = p.c / g.kernel_w / g.kernel_h;
    int y = p.y * g.stride_h - g.pad_top + row * g.dilation_h;
    int x = p.x * g.stride_w - g.pad_left + column * g.dilation_w;
    bool inside = y >= 0 && y < g.height && x >= 0 && x < g.width;
    columns[i] = inside ? element(image, g, p.n, channel, y, x) : (real)0;
}

extern "C" __global__ void col2im(const real *__restrict__ columns, real *__restrict__ image, const Geometry g)
{
    long long i = thread_number();
    if (i >= g.total)
        return;
    Place p = place_of(i, g, g.height, g.width);
    long long outputs = (long long)g.out_h * g.out_w * g.batch;
    const real *channel = columns + (long long)p.c * g.kernel_h * g.kernel_w * outputs + p.n;
    image[i] = sum_of_windows(g, p, [&](int cell, int y, int x) {
        return channel[cell * outputs + ((long long)y * g.out_w + x) * g.batch];
    });
}
