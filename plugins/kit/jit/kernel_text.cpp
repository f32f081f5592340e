#include "plugins/kit/jit/kernel_text.hpp"

#include <cctype>
#include <optional>
#include <sstream>

namespace tessera::kit {
namespace {

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Goes over a text token by token: words, and single signs; not blanks, comments, literals, directives.
class scanner {
 public:
  explicit scanner(std::string_view text) : m_text(text) {}

  /// The next token; "" at the end.
  std::string_view next() {
    while (skip()) continue;
    m_begin = m_at;
    if (m_at == m_text.size()) return {};
    if (!begins_word(m_text[m_at])) return m_text.substr(m_at++, 1);
    while (m_at < m_text.size() && in_word(m_text[m_at])) ++m_at;
    return m_text.substr(m_begin, m_at - m_begin);
  }
  std::size_t begin() const { return m_begin; }  ///< of the token
  std::size_t at() const { return m_at; }        ///< behind it

 private:
  bool skip() {
    if (m_at == m_text.size()) return false;
    const char c = m_text[m_at];
    const std::string_view rest = m_text.substr(m_at);
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      m_line_begins = m_line_begins || c == '\n';
      ++m_at;
      return true;
    }
    const bool first_of_line = m_line_begins;
    m_line_begins = false;
    if (rest.starts_with("//")) return skip_to("\n", false);
    if (rest.starts_with("/*")) return skip_to("*/", true);
    if (c == '"' || c == '\'') return skip_literal(c);
    if (c == '#' && first_of_line) return skip_directive();
    return false;
  }
  bool skip_to(std::string_view end, bool and_it) {
    const auto found = m_text.find(end, m_at + 2);
    m_at = found == m_text.npos ? m_text.size() : found + (and_it ? end.size() : 0);
    return true;
  }
  bool skip_literal(char quote) {
    for (++m_at; m_at < m_text.size() && m_text[m_at] != quote && m_text[m_at] != '\n'; ++m_at)
      if (m_text[m_at] == '\\' && m_at + 1 < m_text.size()) ++m_at;
    if (m_at < m_text.size()) ++m_at;
    return true;
  }
  bool skip_directive() {
    while (m_at < m_text.size() && (m_text[m_at] != '\n' || m_text[m_at - 1] == '\\')) ++m_at;
    return true;
  }

  std::string_view m_text;
  std::size_t m_at = 0, m_begin = 0;
  bool m_line_begins = true;
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

/// "GLOBAL const double* x": what stands before the last word, and that.
std::optional<kernel_parameter> parameter_of(std::string_view text) {
  std::string clean;  // without comments, on one line
  scanner tokens(text);
  std::string last;
  for (auto token = tokens.next(); !token.empty(); token = tokens.next()) {
    clean += last + (clean.empty() && last.empty() ? "" : " ");
    last = token;
  }
  if (last.empty() || !begins_word(last[0]) || trimmed(clean).empty()) return std::nullopt;
  return kernel_parameter{std::string(trimmed(clean)), last, clean.find('*') != clean.npos};
}

/// What follows KERNEL, if it is a function of no result with a body.
std::optional<kernel_declaration> declaration_at(scanner& tokens, std::string_view text) {
  if (tokens.next() != "void") return std::nullopt;
  kernel_declaration made;
  made.name = tokens.next();
  if (made.name.empty() || !begins_word(made.name[0]) || tokens.next() != "(") return std::nullopt;
  made.list_begin = tokens.at();
  std::size_t begin = tokens.at();
  for (int depth = 1; depth > 0;) {
    const auto token = tokens.next();
    if (token.empty()) return std::nullopt;
    if (token == "(") ++depth;
    if (token == ")") --depth;
    if ((token != "," || depth != 1) && depth != 0) continue;
    const std::string_view piece = trimmed(text.substr(begin, tokens.begin() - begin));
    begin = tokens.at();
    if (depth == 0 && made.parameters.empty() && (piece.empty() || piece == "void")) continue;
    auto parameter = parameter_of(piece);
    if (!parameter) return std::nullopt;
    made.parameters.push_back(std::move(*parameter));
  }
  made.list_end = tokens.begin();
  if (tokens.next() != "{") return std::nullopt;
  made.body = tokens.at();
  return made;
}

constexpr const char* user_text = "#line 1 \"kernel\"\n";

}  // namespace

std::vector<kernel_declaration> find_kernels(std::string_view text) {
  std::vector<kernel_declaration> found;
  scanner tokens(text);
  for (auto token = tokens.next(); !token.empty(); token = tokens.next())
    if (token == "KERNEL")
      if (auto one = declaration_at(tokens, text)) found.push_back(std::move(*one));
  return found;
}

bool has_barrier(std::string_view text) {
  scanner tokens(text);
  for (auto token = tokens.next(); !token.empty(); token = tokens.next())
    if (token == "BARRIER") return true;
  // In a macro of the text it would not be seen above.
  return text.find("BARRIER") != text.npos && text.find("#define") != text.npos;
}

bool forbids_contraction(std::string_view text) { return text.find("#pragma STDC FP_CONTRACT OFF") != text.npos; }

std::vector<std::string> split_options(const char* options) {
  std::istringstream words(options != nullptr ? options : "");
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

std::string index_words(std::string_view thread, std::string_view group, std::string_view threads,
                        std::string_view groups) {
  std::string made;
  const auto put = [&](const char* word, std::string_view form, int d) {
    const std::string letter(1, "XYZ"[d]), number = std::to_string(d), small(1, "xyz"[d]);
    std::string value(form);
    for (auto at = value.find('@'); at != value.npos; at = value.find('@')) value.replace(at, 1, number);
    for (auto at = value.find('$'); at != value.npos; at = value.find('$')) value.replace(at, 1, small);
    made += "#define " + std::string(word) + "_" + letter + " ((int)" + value + ")\n";
  };
  for (int d = 0; d < 3; ++d) {
    put("THREAD", thread, d);
    put("GROUP", group, d);
    put("THREADS", threads, d);
    put("GROUPS", groups, d);
    const std::string x(1, "XYZ"[d]);
    made += "#define INDEX_" + x + " ((long)GROUP_" + x + " * THREADS_" + x + " + THREAD_" + x + ")\n";
  }
  return made;
}

std::string gpu_source(std::string_view text) {
  return R"(#define KERNEL extern "C" __global__
#define FUNCTION static __device__ inline
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name, count) __shared__ type name[count]
#define RESTRICT __restrict__
#define BARRIER __syncthreads()
#define ATOMIC_ADD(place, value) atomicAdd(place, value)
)" + index_words("threadIdx.$", "blockIdx.$", "blockDim.$", "gridDim.$") +
         user_text + std::string(text);
}

std::string opencl_source(std::string_view text, bool has_fp64) {
  std::string made = has_fp64 ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
  if (forbids_contraction(text)) made += "#pragma OPENCL FP_CONTRACT OFF\n";
  made += R"(#define KERNEL __kernel
#define FUNCTION static inline
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_ARRAY(type, name, count) __local type name[count]
#define RESTRICT restrict
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ATOMIC_ADD(place, value) atomic_add(place, value)
)" + index_words("get_local_id(@)", "get_group_id(@)", "get_local_size(@)", "get_num_groups(@)") +
          user_text;
  std::size_t done = 0;
  for (const kernel_declaration& one : find_kernels(text)) {
    made += text.substr(done, one.list_begin - done);
    std::string unpacked;
    for (const kernel_parameter& p : one.parameters) {
      if (&p != &one.parameters.front()) made += ", ";
      if (!p.pointer) {
        made += p.type + " " + p.name;
        continue;
      }
      const std::string buffer = "tessera_buffer_" + p.name, offset = "tessera_offset_" + p.name;
      made += "__global char* " + buffer + ", long " + offset;
      unpacked += " " + p.type + " " + p.name + " = (" + p.type + ")(" + buffer + " + " + offset + ");";
    }
    for (const char c : text.substr(one.list_begin, one.list_end - one.list_begin))
      if (c == '\n') made += c;  // lines stay what they are
    made += text.substr(one.list_end, one.body - one.list_end);
    made += unpacked;
    done = one.body;
  }
  return made + std::string(text.substr(done));
}

std::string host_source(std::string_view text) {
  // The structs are those of host_image.hpp.
  std::string made = R"(#include <math.h>
#include <stdbool.h>
#include <tgmath.h>
#undef I
#undef complex
typedef struct { unsigned thread[3], group[3], threads[3], groups[3]; void (*barrier)(void*); void* argument; } tessera_place;
typedef struct { const char* name; unsigned count; const unsigned* sizes; unsigned waits;
  void (*one)(const tessera_place*, void* const*); void (*all)(const tessera_place*, void* const*); } tessera_kernel;
static _Thread_local tessera_place tessera_here;
static inline void tessera_barrier(void) {
  tessera_place mine = tessera_here;
  if (mine.barrier) mine.barrier(mine.argument);
  tessera_here = mine;
}
#define KERNEL static
#define FUNCTION static inline
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name, count) static _Thread_local type name[count]
#define RESTRICT restrict
#define BARRIER tessera_barrier()
#define ATOMIC_ADD(place, value) __atomic_fetch_add(place, value, __ATOMIC_RELAXED)
)" +
                     index_words("tessera_here.thread[@]", "tessera_here.group[@]", "tessera_here.threads[@]",
                                 "tessera_here.groups[@]") +
                     user_text + std::string(text);
  made += "\n#line 1 \"the table of kernels\"\n";
  std::string table;
  const char* const waits = has_barrier(text) ? "1" : "0";
  const auto kernels = find_kernels(text);
  for (const kernel_declaration& one : kernels) {
    std::string arguments, sizes;
    for (const kernel_parameter& p : one.parameters) {
      const std::string number = std::to_string(&p - one.parameters.data());
      arguments += std::string(arguments.empty() ? "" : ", ") + "*(" + p.type + "*)tessera_given[" + number + "]";
      sizes += (p.pointer ? std::string("0") : "sizeof(" + p.type + ")") + ", ";
    }
    made +=
        "static const unsigned tessera_sizes_" + one.name + "[] = {" + sizes + "0};\n" + "static void tessera_one_" +
        one.name + "(const tessera_place* tessera_at, void* const* tessera_given) {\n" +
        "  (void)tessera_given;\n  tessera_here = *tessera_at;\n  " + one.name + "(" + arguments + ");\n}\n" +
        "static void tessera_all_" + one.name + "(const tessera_place* tessera_at, void* const* tessera_given) {\n" +
        "  (void)tessera_given;\n  tessera_here = *tessera_at;\n" +
        "  for (unsigned tessera_z = 0; tessera_z < tessera_at->threads[2]; ++tessera_z)\n" +
        "    for (unsigned tessera_y = 0; tessera_y < tessera_at->threads[1]; ++tessera_y)\n" +
        "      for (unsigned tessera_x = 0; tessera_x < tessera_at->threads[0]; ++tessera_x) {\n" +
        "        tessera_here.thread[0] = tessera_x, tessera_here.thread[1] = tessera_y, tessera_here.thread[2] = "
        "tessera_z;\n        " +
        one.name + "(" + arguments + ");\n      }\n}\n";
    table += "  {\"" + one.name + "\", " + std::to_string(one.parameters.size()) + ", tessera_sizes_" + one.name +
             ", " + waits + ", tessera_one_" + one.name + ", tessera_all_" + one.name + "},\n";
  }
  made += "const tessera_kernel tessera_kernels_1[] = {\n" + table + "  {0, 0, 0, 0, 0, 0}};\n";
  return made;
}

}  // namespace tessera::kit
