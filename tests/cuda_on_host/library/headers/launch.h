// What the driver knows of a kernel: how many parameters of which size, and how to call it. Compiled after every kernel's
// text, with one line HOST_KERNEL(name) for each.
namespace cuda_on_host {

// Whether kernels compute with double: those keep what is subnormal in it.
template <typename T> struct is_double { static const bool value = false; };
template <> struct is_double<double> { static const bool value = true; };
template <typename T> struct is_double<T *> : is_double<typename std::remove_const<T>::type> {};
template <template <typename, int, bool, bool> class Array, typename T, int n, bool c, bool narrow>
struct is_double<Array<T, n, c, narrow>> : is_double<typename std::remove_const<T>::type> {};

// 10000 for an address, 1000 for what floats, and the size: of what lies there, if that is a number.
template <typename T> struct kind_of {
    static constexpr int value = std::is_floating_point<T>::value * 1000 + (int)sizeof(T);
};
template <typename T> struct kind_of<T *> {
    static constexpr int value = 10000 + (std::is_arithmetic<T>::value ? kind_of<T>::value : 0);
};
template <> struct kind_of<void *> { static constexpr int value = 10000; };

struct Kernel {
    int count;
    const size_t *sizes;
    const int *kinds;
    bool doubles;
    void (*call)(void **parameters);
};

template <auto function> struct Described;
template <typename... A, void (*function)(A...)> struct Described<function> {
    template <size_t... I> static void call_in_order(void **parameters, std::index_sequence<I...>)
    {
        function(*(typename std::remove_const<A>::type *)parameters[I]...);
    }
    static void call(void **parameters) { call_in_order(parameters, std::index_sequence_for<A...>()); }
    static constexpr size_t sizes[] = {sizeof(A)..., 0};
    static constexpr int kinds[] = {kind_of<typename std::remove_const<A>::type>::value..., 0};
    static constexpr bool doubles = (false || ... || (!std::is_floating_point<A>::value && is_double<A>::value));
    static constexpr Kernel kernel = {(int)sizeof...(A), sizes, kinds, doubles, call};
};

}  // namespace cuda_on_host

#define HOST_KERNEL(name)                                                             \
    extern "C" __attribute__((visibility("default"))) const cuda_on_host::Kernel *host_kernel_##name() \
    {                                                                                 \
        return &cuda_on_host::Described<name>::kernel;                                \
    }
