#pragma once
// What a command found out: printed in aligned lines, written as JSON with the same values.
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Figures in the order of their printing. Every line has a JSON key; docs/commands has them.
class report {
 public:
  report();
  ~report();
  report(const report&) = delete;
  report& operator=(const report&) = delete;

  /// A line "label      text", and the value under `key`, unless that is empty.
  void add(const std::string& key, const std::string& label, const std::string& text,
           const nlohmann::ordered_json& value);
  void add(const std::string& key, const std::string& label, const std::string& text);  ///< the text is the value
  void add_integer(const std::string& key, const std::string& label, std::int64_t value);
  /// A value that is only in the JSON.
  void note(const std::string& key, const nlohmann::ordered_json& value);
  /// Transfers and bytes per link, and (JSON) everything else that the runtime counted.
  void add_statistics(const statistics& s);

  /// The text of a line, or "" when there is none with the label.
  std::string text_of(const std::string& label) const;
  std::string to_text() const;
  std::string to_json() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> m_implementation;
};

/// From which size on a device beats the host; null where there is none.
nlohmann::ordered_json crossovers_json(std::span<const placement::crossover> crossovers);

}  // namespace tessera::apps
