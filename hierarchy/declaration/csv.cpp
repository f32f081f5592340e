#include "hierarchy/declaration/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "hierarchy/declaration/refuse.hpp"

namespace tessera::hierarchy {
namespace {

using config::optionally;
using config::placed;
using word = placed<std::string>;

[[noreturn]] void unknown(std::string_view what, const word& name, const std::vector<std::string>& known) {
  const std::string near = suggest(name.value, known);
  refuse(fmt::format("unknown {} '{}'", what, name.value), name.where,
         near.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near));
}

/// One field: its key and values.
struct field {
  word key;
  std::vector<word> values;
};

/// Splits a line at `separator`, trims, and keeps the column of each piece.
std::vector<placed<std::string_view>> pieces(std::string_view text, char separator, const std::string& line_place,
                                             std::size_t column) {
  std::vector<placed<std::string_view>> found;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    std::string_view piece = text.substr(begin, end - begin);
    const auto first = std::min(piece.find_first_not_of(" \t"), piece.size());
    piece.remove_prefix(first);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\t')) piece.remove_suffix(1);
    found.push_back({piece, fmt::format("{}:{}", line_place, column + begin + first)});
    begin = end + 1;
  }
  return found;
}

/// One line: the record's name and its fields, taken by key.
class record {
 public:
  record(word name, std::vector<field> fields, std::vector<std::string> known)
      : m_name(std::move(name)), m_fields(std::move(fields)) {
    for (std::size_t i = 0; i < m_fields.size(); ++i) {
      const word& key = m_fields[i].key;
      if (std::ranges::count(known, key.value) == 0) unknown(fmt::format("key in {}:", m_name.value), key, known);
      for (std::size_t j = 0; j < i; ++j)
        if (m_fields[j].key.value == key.value) refuse(fmt::format("'{}' is given twice", key.value), key.where);
    }
  }

  const std::string& where() const { return m_name.where; }
  const field* find(std::string_view key) const {
    for (const field& f : m_fields)
      if (f.key.value == key) return &f;
    return nullptr;
  }
  const field& needed(std::string_view key) const {
    const field* f = find(key);
    if (!f || f->values.empty())
      refuse(fmt::format("this {} has no '{}'", m_name.value, key), f ? f->key.where : where());
    return *f;
  }
  optionally<std::string> text(std::string_view key) const {
    const field* f = find(key);
    if (!f) return std::nullopt;
    if (f->values.size() != 1) refuse(fmt::format("'{}' wants one value, not {}", key, f->values.size()), f->key.where);
    return f->values.front();
  }
  word one(std::string_view key) const {
    needed(key);
    return *text(key);
  }
  optionally<std::uint64_t> count(std::string_view key, std::uint64_t minimum) const {
    const auto written = text(key);
    if (!written) return std::nullopt;
    std::uint64_t number = 0;
    const char* const end = written->value.data() + written->value.size();
    const auto [rest, status] = std::from_chars(written->value.data(), end, number);
    if (status != std::errc{} || rest != end || number < minimum || number > 1u << 20)
      refuse(fmt::format("'{}' wants an integer of {} to {}, not '{}'", key, minimum, 1u << 20, written->value),
             written->where);
    return placed<std::uint64_t>{number, written->where};
  }
  optionally<std::uint64_t> bytes(std::string_view key) const {
    const auto written = text(key);
    if (!written) return std::nullopt;
    const auto number = parse_bytes(written->value);
    if (!number || *number == 0 || *number > 1ll << 50)
      refuse(fmt::format("'{}' wants a size such as 16GB, not '{}'", key, written->value), written->where);
    return placed<std::uint64_t>{static_cast<std::uint64_t>(*number), written->where};
  }
  optionally<double> rate(std::string_view key) const {
    const auto written = text(key);
    if (!written) return std::nullopt;
    const auto number = parse_rate(written->value, rate_of::bytes);
    if (!number || *number <= 0)
      refuse(fmt::format("'{}' wants a rate such as 12GB/s, not '{}'", key, written->value), written->where);
    return placed<double>{*number, written->where};
  }
  bool flag(std::string_view key) const {
    const field* f = find(key);
    if (!f || f->values.empty()) return f != nullptr;
    const word value = *text(key);
    if (value.value == "true" || value.value == "1") return true;
    if (value.value == "false" || value.value == "0") return false;
    refuse(fmt::format("'{}' is true or false, not '{}'", key, value.value), value.where);
  }

 private:
  word m_name;
  std::vector<field> m_fields;
};

template <typename declared>
void read_numbering(const record& from, declared& to) {
  to.all = from.flag("all");
  to.start = from.count("start", 0);
  to.count = from.count("total_count", 1);
  to.where = from.where();
  if (to.all && (to.start || to.count)) refuse("'all' and 'start'/'total_count' exclude each other", from.where());
  if (to.start && !to.count) refuse("'start' needs 'total_count': how many there are", to.start->where);
}

config::loctype read_loctype(const record& from) {
  config::loctype type;
  type.name = from.one("name");
  type.kind = from.one("kind");
  type.cores = from.count("num_cores", 1);
  type.memory = from.bytes("mem");
  if (const auto size = from.bytes("size")) {
    if (type.memory) refuse("a loctype has 'mem' or 'size', not both", size->where);
    type.memory = size;
  }
  type.bandwidth = from.rate("bandwidth");
  return type;
}

config::location read_location(const record& from) {
  config::location made;
  made.names = from.needed("name").values;
  made.type = from.one("type");
  read_numbering(from, made);
  return made;
}

config::hierarchy read_hierarchy(const record& from) {
  config::hierarchy made;
  made.parent = from.one("parent");
  const field& children = from.needed("children");
  const word& sign = children.values.front();
  if (sign.value != "+" && sign.value != "-")
    refuse(fmt::format("'children' starts with + (attach) or - (detach), not '{}'", sign.value), sign.where,
           "for example children,+,LocB,LocC");
  if (children.values.size() < 2) refuse("'children' names nobody", children.key.where);
  made.attach = sign.value == "+";
  made.children.assign(children.values.begin() + 1, children.values.end());
  read_numbering(from, made);
  return made;
}

}  // namespace

config::declarations parse_csv(std::string_view text, const std::string& source) {
  config::declarations found;
  std::size_t line_number = 0;
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark))
    text.remove_prefix(mark.size());  // that of UTF-8, which spreadsheets write in front
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(0, std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t;") == line.npos) continue;

    const std::string place = fmt::format("{}:{}", source, line_number);
    std::vector<field> fields;
    for (const auto& written : pieces(line, ';', place, 1)) {
      if (written.value.empty()) continue;
      const std::size_t column = static_cast<std::size_t>(written.value.data() - line.data()) + 1;
      field f;
      for (const auto& piece : pieces(written.value, ',', place, column)) {
        word w{std::string(piece.value), piece.where};
        if (w.value.empty())
          refuse(f.key.value.empty() ? "an empty key" : fmt::format("an empty value of '{}'", f.key.value), w.where,
                 "a field is key,value[,value...]");
        if (f.key.value.empty())
          f.key = std::move(w);
        else
          f.values.push_back(std::move(w));
      }
      fields.push_back(std::move(f));
    }
    const field head = fields.front();
    fields.erase(fields.begin());
    if (!head.values.empty())
      refuse(fmt::format("the record's name '{}' is followed by a comma", head.key.value), head.key.where,
             "fields are separated by ';'");
    if (head.key.value == "loctype")
      found.loctypes.push_back(
          read_loctype({head.key, fields, {"name", "kind", "num_cores", "mem", "size", "bandwidth"}}));
    else if (head.key.value == "location")
      found.locations.push_back(read_location({head.key, fields, {"name", "type", "all", "start", "total_count"}}));
    else if (head.key.value == "hierarchy")
      found.hierarchies.push_back(
          read_hierarchy({head.key, fields, {"children", "parent", "all", "start", "total_count"}}));
    else
      unknown("record", head.key, {"loctype", "location", "hierarchy"});
  }
  return found;
}

}  // namespace tessera::hierarchy
