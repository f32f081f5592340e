#pragma once
// How layers are laid on a document. Internal to this room.
#include <string>
#include <string_view>

#include "core/config/document.hpp"
#include "core/config/value.hpp"

namespace tessera::config {

/// Applies one layer after the other to a document; used by document::load.
class layers {
 public:
  explicit layers(document& onto) : m_document(onto) {}

  /// A parsed file. `folder` is what its relative paths are relative to.
  void file(const table& top, const std::filesystem::path& folder);
  /// Name and value of each environment variable.
  void environment(const std::vector<std::pair<std::string, std::string>>& variables);
  /// "section.key=value" from the command line.
  void set(const std::string& assignment);
  void workers(std::uint32_t count);

 private:
  document& m_document;

  void section(const std::string& name, const value& from, const std::filesystem::path& folder);
  void plugin_table(const std::string& name, const value& from);
  void checksum_table(const value& from);
  void add_checksum(const std::string& plugin, const std::string& digits, const std::string& where);
  void set_plugin_option(std::string_view path, std::string_view text, const std::string& where);
  void text(const struct key& k, std::string_view value_text, const std::string& where);
  document::plugin_table& plugin_entry(const std::string& name, const std::string& where);
};

/// Reads [[loctype]], [[location]] and [[hierarchy]] (declaration_reader.cpp); appends to `to`.
void read_declarations(const std::string& name, const value& from, declarations& to);

/// Throws "unknown key" with the nearest of the known names as hint.
[[noreturn]] void unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known,
                          const std::string& where);

}  // namespace tessera::config
