#include "languages/sial/language/imports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "languages/sial/language/parser.hpp"

namespace tessera::sial {
namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& f : folders)
    text += (text.empty() ? "" : ", ") + (f.empty() ? std::string("the current folder") : f);
  return text;
}

class loader {
 public:
  loader(const reader& read, const std::vector<std::string>& folders, message_list& messages, loaded_files& all)
      : m_read(read), m_folders(folders), m_messages(messages), m_all(all) {}

  std::uint32_t add(const std::string& path, const std::string& text) {
    const auto number = static_cast<std::uint32_t>(m_all.files.size());
    m_all.sources.files.push_back({path, split_lines(text)});
    m_all.files.push_back(parse(lex(text, number, m_messages), number, m_messages));
    m_all.imported.emplace_back();
    m_open.push_back(number);
    const std::vector<syntax::import> imports = m_all.files[number].imports;
    for (const syntax::import& i : imports)
      if (const auto found = resolve(number, i))
        if (std::ranges::count(m_all.imported[number], *found) == 0) m_all.imported[number].push_back(*found);
    m_open.pop_back();
    m_all.order.push_back(number);
    return number;
  }

 private:
  std::optional<std::uint32_t> resolve(std::uint32_t from, const syntax::import& i) {
    std::vector<std::string> searched{fs::path(m_all.sources.files[from].path).parent_path().string()};
    searched.insert(searched.end(), m_folders.begin(), m_folders.end());
    for (const std::string& folder : searched) {
      const std::string path = (fs::path(folder) / i.path).lexically_normal().string();
      for (const syntax::file& f : m_all.files)
        if (m_all.sources.files[f.number].path == path) return known(f.number, i);
      const auto text = i.path.empty() ? std::nullopt : m_read(path);
      if (!text) continue;
      if (m_all.files.size() >= max_files || m_open.size() >= max_import_depth) {
        m_messages.error(i.where, "imports nest too deeply, or are too many");
        return {};
      }
      return add(path, *text);
    }
    m_all.files[from].complete = false;
    m_messages.error(i.where, fmt::format("there is no file '{}'", i.path), "searched: " + joined(searched));
    return {};
  }

  std::optional<std::uint32_t> known(std::uint32_t number, const syntax::import& i) {
    if (std::ranges::count(m_open, number) == 0) return number;
    std::string chain;
    for (auto at = std::ranges::find(m_open, number); at != m_open.end(); ++at)
      chain += m_all.sources.files[*at].path + " -> ";
    m_messages.error(i.where, "files import each other in a circle", chain + m_all.sources.files[number].path);
    m_all.files[i.where.where.file].complete = false;
    return {};
  }

  const reader& m_read;
  const std::vector<std::string>& m_folders;
  message_list& m_messages;
  loaded_files& m_all;
  std::vector<std::uint32_t> m_open;  // the files whose imports are being loaded, outermost first
};

}  // namespace

loaded_files load(const std::string& main_path, const reader& read, const std::vector<std::string>& folders,
                  message_list& messages) {
  loaded_files all;
  const std::string path = fs::path(main_path).lexically_normal().string();
  if (const auto text = read(path))
    loader(read, folders, messages, all).add(path, *text);
  else
    messages.error({{}, 0}, fmt::format("cannot read '{}'", main_path));
  return all;
}

}  // namespace tessera::sial
