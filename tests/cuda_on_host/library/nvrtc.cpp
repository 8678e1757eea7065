// NVRTC: compiles CUDA text by g++, and keeps what it has compiled by content.
#include "image.h"

#include <cuda_runtime_api.h>
#include <nvrtc.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

extern char **environ;

namespace {

struct Named {                     // an instance of a template, and what its kernel is called
    std::string expression, name;
};

struct Program {
    std::string source, log;
    std::string image;
    std::vector<Named> instances;
};

std::string read(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

bool exists(const std::string &path) { return access(path.c_str(), R_OK) == 0; }

// A name beside a file, of this process and call alone: another one may write the same file.
std::string beside(const std::string &path)
{
    static std::atomic<int> number{0};
    return path + "." + std::to_string(getpid()) + "." + std::to_string(number++);
}

// Written beside its place and moved there whole.
void write(const std::string &path, const std::string &text)
{
    std::string made = beside(path);
    std::ofstream file(made, std::ios::binary);
    file << text;
    file.close();
    if (file && !chmod(made.c_str(), 0755))
        rename(made.c_str(), path.c_str());
    else
        unlink(made.c_str());
}

std::string setting(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

// FNV-1a, 64 bits, from two beginnings.
std::string digest(const std::string &text)
{
    char name[33];
    unsigned long long a = 0xcbf29ce484222325, b = 0x84222325cbf29ce4;
    for (unsigned char c : text) {
        a = (a ^ c) * 0x100000001b3;
        b = (b ^ c) * 0x100000001b3;
    }
    snprintf(name, sizeof name, "%016llx%016llx", a, b);
    return name;
}

// The options that CuPy or ndwright give, and what g++ is told; a word that is no option of NVRTC's is refused.
bool translate(const std::string &option, std::vector<std::string> &flags, bool &flush)
{
    auto begins = [&](const char *word) { return option.rfind(word, 0) == 0; };
    if (begins("-D") || begins("-I"))
        flags.push_back(option);
    else if (begins("--std=") || begins("-std="))
        flags.push_back(option.find("++1") == std::string::npos ? "-std=" + option.substr(option.find('=') + 1)
                                                                : "-std=c++17");  // which launch.h needs
    else if (option == "-ftz=true")
        flush = true;
    else
        return begins("-arch=") || begins("--gpu-architecture=") || begins("--fmad=") || option == "--pch" ||
               option == "-ftz=false" || option == "--device-as-default-execution-space" || option == "-default-device";
    return true;
}

// "extern __shared__" arrays, whose size a launch gives, are the driver's.
std::string with_dynamic_shared(const std::string &source)
{
    static const std::regex array(R"(extern\s+__shared__\s+([^;\[\]]+?)\s*\b(\w+)\s*\[\s*\]\s*;)");
    return std::regex_replace(source, array, "$1 *$2 = ($1 *)dynamic_shared;");
}

bool is_of_cupy(const std::string &source) { return source.find("#include <cupy/") != std::string::npos; }

std::string with_launchers(const std::string &source, const std::vector<Named> &instances)
{
    static const std::regex kernel(R"(__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
    std::set<std::string> names;
    for (std::sregex_iterator each(source.begin(), source.end(), kernel), end; each != end; ++each)
        names.insert((*each)[1]);
    for (const Named &each : instances)
        names.erase(each.expression.substr(0, each.expression.find('<')));  // a template is no kernel
    // In a namespace without a name AddressSanitizer watches the shared arrays of inline functions too.
    bool apart = !is_of_cupy(source);
    std::string text = (apart ? "namespace {\n" : "") + ("#line 1 \"kernel\"\n" + source) + (apart ? "\n}\n" : "\n") +
                       "#line 1 \"launchers\"\n#include \"launch.h\"\n";
    for (const std::string &name : names)
        text += "HOST_KERNEL(" + name + ")\n";
    for (const Named &each : instances)
        text += "static constexpr auto " + each.name + " = " + each.expression + ";\nHOST_KERNEL(" + each.name + ")\n";
    return text;
}

int run(const std::vector<std::string> &command, const std::string &input, const std::string &log)
{
    std::vector<char *> arguments, environment;
    for (const std::string &word : command)
        arguments.push_back((char *)word.c_str());
    arguments.push_back(nullptr);
    for (char **each = environ; *each; ++each)
        if (strncmp(*each, "LD_PRELOAD=", 11))  // g++ is not to be watched
            environment.push_back(*each);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, input.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    pid_t child;
    int status = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&files);
    if (status)
        return status;
    waitpid(child, &status, 0);
    return status;
}

// Texts of CuPy's own are not compiled by options that the tests add, sanitizers say.
std::vector<std::string> compiler(bool of_cupy)
{
    std::vector<std::string> command = {"g++", "-O1", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
                                        "-ffp-contract=off", "-fno-gnu-unique", "-x", "c++"};
    std::istringstream more(of_cupy ? "" : setting("HOST_CUDA_FLAGS"));
    for (std::string word; more >> word;)
        command.push_back(word);
    return command;
}

nvrtcResult compile(Program &program, std::vector<std::string> flags, bool flush)
{
    std::vector<std::string> command = compiler(is_of_cupy(program.source));
    std::string headers = setting("HOST_CUDA_HEADERS");
    std::string text = is_of_cupy(program.source) ? "#include \"cupy_kernel.h\"\n" : "#include \"kernel.h\"\n";
    text += with_launchers(with_dynamic_shared(program.source), program.instances);
    command.push_back("-I" + headers);  // which take the place of others
    command.insert(command.end(), flags.begin(), flags.end());
    std::string key = text + read(headers + "/kernel.h") + read(headers + "/launch.h");
    for (const std::string &word : command)
        key += word + "\n";
    Image head = {};
    memcpy(head.magic, IMAGE_MAGIC, sizeof head.magic);
    strcpy(head.name, digest(key).c_str());
    head.flush = flush;
    std::string path = kernel_folder() + "/" + head.name + ".so";
    if (!exists(path)) {
        std::string made = beside(path), input = made + ".cu", log = made + ".log";
        std::ofstream(input, std::ios::binary) << text;
        for (const std::string &word : {std::string("-"), std::string("-o"), made})
            command.push_back(word);
        int status = run(command, input, log);
        program.log = read(log);
        unlink(log.c_str());
        unlink(input.c_str());
        if (status) {
            unlink(made.c_str());
            program.log += status == ENOENT ? "the host CUDA needs g++\n" : "";
            return NVRTC_ERROR_COMPILATION;
        }
        rename(made.c_str(), path.c_str());
    }
    std::string object = read(path);
    head.size = object.size();
    program.image = std::string((const char *)&head, sizeof head) + object;
    return NVRTC_SUCCESS;
}

}  // namespace

std::string kernel_folder()
{
    std::string folder = setting("HOST_CUDA_KERNELS");
    return folder.empty() ? "/tmp" : folder;
}

std::string library_path(const Image &head, const char *object)
{
    std::string path = kernel_folder() + "/" + head.name + ".so";
    if (!exists(path))
        write(path, std::string(object, head.size));
    return exists(path) ? path : "";
}

extern "C" {

nvrtcResult nvrtcVersion(int *major, int *minor)
{
    *major = CUDART_VERSION / 1000;
    *minor = CUDART_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
    return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS"
           : result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION"
           : result == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR_INVALID_INPUT";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *made, const char *source, const char *, int, const char *const *,
                               const char *const *)
{
    *made = (nvrtcProgram) new Program{source, "", "", {}};
    return NVRTC_SUCCESS;
}

// Only CuPy has templates, so that their names begin as those of its other kernels.
nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char *expression)
{
    Program &program = *(Program *)handle;
    std::string text = expression, number = std::to_string(program.instances.size());
    program.instances.push_back({text, "cupy_" + text.substr(0, text.find('<')) + "_" + number});
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char *expression, const char **name)
{
    for (const Named &each : ((Program *)handle)->instances)
        if (each.expression == expression) {
            *name = each.name.c_str();
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    delete (Program *)*program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count, const char *const *options)
{
    Program &program = *(Program *)handle;
    std::vector<std::string> flags;
    bool flush = false;
    for (int i = 0; i < count; ++i)
        if (!translate(options[i], flags, flush)) {
            program.log = std::string("nvrtc: error: unrecognized option ") + options[i];
            return NVRTC_ERROR_INVALID_OPTION;
        }
    return compile(program, flags, flush);
}

static nvrtcResult give(const std::string &text, char *into)
{
    memcpy(into, text.data(), text.size());
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size)
{
    *size = ((Program *)program)->image.size();
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *image) { return give(((Program *)program)->image, image); }

// CuPy reads its first lines, which say what has compiled it, and runs the cubin.
static const std::string PTX = std::string("// g++ ") + __VERSION__ + " for the host\n";

nvrtcResult nvrtcGetPTXSize(nvrtcProgram, size_t *size) { *size = PTX.size() + 1; return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetPTX(nvrtcProgram, char *text) { return give(PTX + '\0', text); }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size)
{
    *size = ((Program *)program)->log.size() + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    give(((Program *)program)->log + '\0', log);
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *count) { *count = 1; return NVRTC_SUCCESS; }
nvrtcResult nvrtcGetSupportedArchs(int *architectures) { *architectures = 75; return NVRTC_SUCCESS; }

}  // extern "C"
