// A compiled kernel, in place of a cubin: this head and a shared object.
#pragma once
#include <string>

#define IMAGE_MAGIC "HOSTCUDA"

struct Image {
    char magic[8];
    char name[33];                 // of the shared object, made of what it was compiled from
    char flush;                    // whether -ftz=true was given
    unsigned long long size;       // of the shared object
};

std::string kernel_folder();
// Return where a shared object lies, which is written there if it is not yet.
std::string library_path(const Image &head, const char *object);
