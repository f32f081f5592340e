#include "languages/sial/instructions/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/runtime/user_library.hpp"
#include "languages/sial/data/init_file.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

constexpr std::size_t max_arguments = 6;

[[noreturn]] void refuse_library(const std::string& library, std::string message, std::string hint) {
  throw error(error_kind::plugin, std::move(message), library, std::move(hint));
}

bool good_name(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

/// One library's functions that must not run two at once.
using gate = std::shared_ptr<std::mutex>;

void call(const sial_instruction& entry, const gate& one_at_a_time, const instruction_call& c) {
  std::unique_lock<std::mutex> lock;
  if ((entry.flags & SIAL_THREAD_SAFE) == 0) lock = std::unique_lock(*one_at_a_time);
  c.job.take_failure();  // what is left of an earlier call is not about this one
  const std::int32_t status =
      entry.function(c.job.table(), static_cast<std::int32_t>(c.arguments.size()), c.arguments.data());
  c.job.rethrow();
  if (status == 0) return;
  const std::string words = c.job.take_failure();
  throw std::runtime_error(words.empty() ? fmt::format("it returned {}", status) : words);
}

/// The kernel of an instruction with these signatures.
std::optional<instruction_kernel> kernel_of(const sial_instruction& given, const std::vector<std::string>& signatures,
                                            const std::string& library) {
  if (given.kernel == nullptr) return std::nullopt;  // as it is in entries that end before it
  const sial_kernel& k = *given.kernel;
  const auto wrong = [&](const char* what, const char* hint) {
    refuse_library(library, fmt::format("the kernel of the library's instruction '{}' {}", given.name, what), hint);
  };
  if (k.struct_size < offsetof(sial_kernel, text) + sizeof k.text)
    wrong("is too short", "set struct_size to sizeof(sial_kernel)");
  if (k.name == nullptr || *k.name == 0) wrong("has no name", "that of the function in its text");
  if (k.text == nullptr || *k.text == 0) wrong("has no text", "in the language of docs/kernels.md");
  for (const std::string& signature : signatures)
    if (k.over < 0 || static_cast<std::size_t>(k.over) >= signature.size())
      wrong("has no argument of the number `over`", "the block whose elements get a thread each, counted from 0");
  return instruction_kernel{k.name, k.text, static_cast<std::size_t>(k.over)};
}

instruction taken(const sial_instruction& given, std::uint32_t number, const std::string& library,
                  const gate& one_at_a_time) {
  if (given.struct_size < offsetof(sial_instruction, function) + sizeof given.function)
    refuse_library(
        library,
        fmt::format("instruction number {} of the library's table is too short ({} bytes)", number, given.struct_size),
        "set struct_size to sizeof(sial_instruction)");
  if (given.name == nullptr || !good_name(given.name))
    refuse_library(library, fmt::format("instruction number {} of the library's table has no proper name", number),
                   "a letter, then a to z, 0 to 9, '_'; lower case");
  if (given.function == nullptr)
    refuse_library(library, fmt::format("the library's instruction '{}' has no function", given.name),
                   "set `function`");
  if (given.signature == nullptr)
    refuse_library(library, fmt::format("the library's instruction '{}' has no signature", given.name),
                   "\"\" for no arguments");
  try {
    std::vector<std::string> signatures = signatures_of(given.signature);
    auto kernel = kernel_of(given, signatures, library);
    return {given.name, std::move(signatures), library,
            [given, one_at_a_time](const instruction_call& c) { call(given, one_at_a_time, c); }, std::move(kernel)};
  } catch (const std::invalid_argument& failure) {
    refuse_library(library,
                   fmt::format("the signature \"{}\" of the library's instruction '{}' {}", given.signature, given.name,
                               failure.what()),
                   "one letter r, w or u for each of at most 6 arguments; several forms with '|'");
  }
}

}  // namespace

std::vector<std::string> signatures_of(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    std::string one = in_lower_case(std::string_view(text).substr(begin, end - begin));
    if (one.find_first_not_of("rwu") != one.npos) throw std::invalid_argument("has a letter other than r, w, u");
    if (one.size() > max_arguments) throw std::invalid_argument("is for more than 6 arguments");
    all.push_back(std::move(one));
    if (end == text.size()) return all;
    begin = end + 1;
  }
}

std::vector<instruction> instructions_of(const sial_table* table, const std::string& library) {
  if (table == nullptr)
    refuse_library(library,
                   fmt::format("the library cannot serve version {} of the interface of super instructions",
                               SIAL_INTERFACE_VERSION),
                   "build it with this version's tessera/sial.h");
  if (!SIAL_HAS(sial_table, table, instructions))
    refuse_library(library, fmt::format("the library's table is too short ({} bytes)", table->struct_size),
                   "set struct_size to sizeof(sial_table)");
  if (table->version != SIAL_INTERFACE_VERSION)
    refuse_library(
        library,
        fmt::format(
            "the library is built for version {} of the interface of super instructions, this program offers {}",
            table->version, SIAL_INTERFACE_VERSION),
        "build it with this version's tessera/sial.h");
  if (table->count != 0 && table->instructions == nullptr)
    refuse_library(library, "the library's table has no instructions", "set `instructions`, or `count` to 0");
  const gate one_at_a_time = std::make_shared<std::mutex>();
  std::vector<instruction> all;
  const char* at = reinterpret_cast<const char*>(table->instructions);
  for (std::uint32_t k = 0; k < table->count; ++k) {
    sial_instruction one{};
    std::uint32_t size = 0;
    std::memcpy(&size, at, sizeof size);
    std::memcpy(static_cast<void*>(&one), at, std::min<std::size_t>(size, sizeof one));
    one.struct_size = size;
    all.push_back(taken(one, k, library, one_at_a_time));
    at += size;
  }
  return all;
}

std::vector<instruction> load_instructions(const std::filesystem::path& library, const std::string& sha256) {
  void* const entry = load_user_library(library, "tessera_sial_instructions", sha256);
  if (entry == nullptr)
    refuse_library(library.string(),
                   "the shared library has no super instructions: it does not export tessera_sial_instructions",
                   "export the function (SIAL_EXPORT in tessera/sial.h)");
  return instructions_of(reinterpret_cast<sial_instructions_function>(entry)(SIAL_INTERFACE_VERSION), library.string());
}

}  // namespace tessera::sial
