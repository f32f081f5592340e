#include "languages/sial/instructions/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "languages/sial/data/init_file.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"
#include "languages/sial/instructions/library.hpp"

namespace tessera::sial {
namespace {

std::string owner(const instruction& of) {
  return of.library.empty() ? "a built-in instruction" : "an instruction of " + of.library;
}

std::string text_of(const std::vector<std::string>& signatures) {
  std::vector<std::string> words;
  for (const std::string& one : signatures) words.push_back(one.empty() ? "none" : one);
  return fmt::format("{}", fmt::join(words, " or "));
}

}  // namespace

instruction_registry::instruction_registry(std::vector<std::filesystem::path> folders) : m_folders(std::move(folders)) {
  add(builtin_instructions());
}

std::filesystem::path instruction_registry::path_of(const std::string& library) const {
  if (library.find('/') != library.npos) return std::filesystem::absolute(library);
  std::error_code status;
  for (const std::filesystem::path& folder : m_folders)
    for (const std::string& name : {library, library + ".so", "lib" + library + ".so"})
      if (std::filesystem::is_regular_file(folder / name, status)) return std::filesystem::absolute(folder / name);
  std::vector<std::string> looked;
  for (const std::filesystem::path& folder : m_folders) looked.push_back(folder.string());
  throw error(error_kind::plugin, fmt::format("there is no library of super instructions called '{}'", library), {},
              looked.empty() ? "no folders were given to look in: give a path with a '/'"
                             : fmt::format("looked in {}", fmt::join(looked, ", ")));
}

void instruction_registry::load(const std::string& library, const std::string& sha256) {
  const std::filesystem::path path = path_of(library);
  if (std::ranges::count(m_libraries, path.string()) != 0) return;
  add(load_instructions(path, sha256));
  m_libraries.push_back(path.string());
}

void instruction_registry::add(std::vector<instruction> more) {
  for (std::size_t k = 0; k < more.size(); ++k) {
    const std::string& name = more[k].name;
    const auto taken = m_all.find(name);
    const auto before = std::find_if(more.begin(), more.begin() + static_cast<std::ptrdiff_t>(k),
                                     [&](const instruction& other) { return other.name == name; });
    const bool twice = before != more.begin() + static_cast<std::ptrdiff_t>(k);
    if (taken != m_all.end() || twice)
      throw error(
          error_kind::plugin,
          fmt::format("the super instruction '{}' is there already: {}", name, owner(twice ? *before : taken->second)),
          more[k].library,
          "give it another name; one that takes several signatures has them all in one entry: \"rw|ru\"");
  }
  for (instruction& one : more) {
    std::string name = one.name;
    m_all.emplace(std::move(name), std::move(one));
  }
}

const instruction& instruction_registry::find(const std::string& given_name, const std::string& given_signature) const {
  const std::string name = in_lower_case(given_name), signature = in_lower_case(given_signature);
  const auto found = m_all.find(name);
  if (found == m_all.end()) {
    std::vector<std::string> known;
    for (const auto& [key, is] : m_all) known.push_back(key);
    const std::string near = suggest(name, known);
    throw error(error_kind::input, fmt::format("there is no super instruction '{}'", name), {},
                fmt::format("{}searched: the built-in instructions{}{}",
                            near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                            m_libraries.empty() ? ", no libraries" : ", ", fmt::join(m_libraries, ", ")));
  }
  if (std::ranges::count(found->second.signatures, signature) == 0)
    throw error(error_kind::input,
                fmt::format("super instruction '{}' takes {}, not {}", name, text_of(found->second.signatures),
                            signature.empty() ? "none" : signature),
                found->second.library, "each letter stands for one argument: r read, w write, u update");
  return found->second;
}

const instruction* instruction_registry::look_up(const std::string& name, const std::string& signature) const {
  const auto found = m_all.find(in_lower_case(name));
  return found != m_all.end() && std::ranges::count(found->second.signatures, in_lower_case(signature)) != 0
             ? &found->second
             : nullptr;
}

std::vector<const instruction*> instruction_registry::all() const {
  std::vector<const instruction*> list;
  for (const auto& [name, is] : m_all) list.push_back(&is);
  return list;
}

}  // namespace tessera::sial
