#pragma once
// Kernels in tessera-c (docs/kernels.md): what a plugin must know of a text to make its compiler's language of it.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::kit {

struct kernel_parameter {
  std::string type;  ///< as it stands there: "GLOBAL const double*"
  std::string name;
  bool pointer = false;
};

/// One function behind KERNEL. Places are counted in bytes from the begin of the text.
struct kernel_declaration {
  std::string name;
  std::vector<kernel_parameter> parameters;
  std::size_t list_begin = 0, list_end = 0;  ///< between the brackets of the parameters
  std::size_t body = 0;                      ///< behind the body's opening brace
};

/// The kernels of a text, in its order. What looks otherwise than a kernel should is left to the compiler, which says
/// it better.
std::vector<kernel_declaration> find_kernels(std::string_view text);

/// Whether BARRIER stands somewhere in the text outside of comments.
bool has_barrier(std::string_view text);

/// Whether products and sums must stay apart: "#pragma STDC FP_CONTRACT OFF" stands in the text.
bool forbids_contraction(std::string_view text);

/// "-DA -DB=2" as its words.
std::vector<std::string> split_options(const char* options);

/// The words for indices, in terms of three functions of a dimension; `index` gives a thread's number in the whole
/// grid.
std::string index_words(std::string_view thread, std::string_view group, std::string_view threads,
                        std::string_view groups);

/// A text for a compiler whose language is CUDA's dialect.
std::string gpu_source(std::string_view text);

/// A text for OpenCL C: a kernel's pointer is two parameters there, the buffer and a `long`, the offset in bytes.
std::string opencl_source(std::string_view text, bool has_fp64);

/// A text as C for the host, with the table of its kernels at the end (host_image.hpp).
std::string host_source(std::string_view text);

}  // namespace tessera::kit
