#include "languages/sial/job/checkpoint.hpp"
#include "languages/sial/exchange/local_generation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/cache_folder.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::sial {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr const char* prefix = "after-";

[[noreturn]] void fail(const fs::path& where, const std::string& what, const std::string& hint = {}) {
  throw error(error_kind::input, what, where.string(), hint);
}

std::uint64_t hash_of_elements(std::span<const double> values) {
  return hash_of(std::string_view(reinterpret_cast<const char*>(values.data()), values.size_bytes()));
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }
std::uint64_t from_hex(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (wrong != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("'" + text + "' is no hexadecimal number");
  return value;
}

void sync(const fs::path& file) {
  const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0 || ::fsync(handle) != 0) {
    const std::string why = std::strerror(errno);
    if (handle >= 0) ::close(handle);
    fail(file, "cannot be brought to the disk: " + why);
  }
  ::close(handle);
}

ordered_json to_json(const std::vector<kept_dimension>& dims) {
  auto all = ordered_json::array();
  for (const kept_dimension& d : dims) all.push_back({static_cast<int>(d.kind), d.low, d.high});
  return all;
}

std::vector<kept_dimension> dims_from(const ordered_json& all) {
  std::vector<kept_dimension> dims;
  for (const ordered_json& d : all) {
    const int kind = d.at(0).get<int>();
    if (kind < 0 || kind > static_cast<int>(index_kind::sub))
      throw std::invalid_argument(fmt::format("there is no index kind {}", kind));
    dims.push_back({static_cast<index_kind>(kind), d.at(1).get<std::int64_t>(), d.at(2).get<std::int64_t>()});
  }
  if (dims.empty() || dims.size() > max_array_rank)
    throw std::invalid_argument(fmt::format("an array of {} dimensions", dims.size()));
  return dims;
}

class writer {
 public:
  explicit writer(fs::path file) : m_file(std::move(file)), m_out(m_file, std::ios::binary) {}
  ordered_json add(std::span<const double> values) {
    m_out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!m_out) fail(m_file, fmt::format("cannot be written: {}", std::strerror(errno)), "is the disk full?");
    const ordered_json piece{{"at", m_at}, {"count", values.size()}, {"hash", hex(hash_of_elements(values))}};
    m_at += values.size();
    return piece;
  }
  void finish() {
    m_out.close();
    if (!m_out) fail(m_file, fmt::format("cannot be written: {}", std::strerror(errno)), "is the disk full?");
    sync(m_file);
  }

 private:
  fs::path m_file;
  std::ofstream m_out;
  std::uint64_t m_at = 0;  // elements
};

class reader_of_elements {
 public:
  explicit reader_of_elements(fs::path file) : m_file(std::move(file)), m_in(m_file, std::ios::binary) {
    if (!m_in) fail(m_file, "cannot be read");
    m_elements = fs::file_size(m_file) / sizeof(double);
  }
  void read(const ordered_json& piece, std::span<double> to) {
    const auto at = piece.at("at").get<std::uint64_t>(), count = piece.at("count").get<std::uint64_t>();
    if (count != to.size()) fail(m_file, fmt::format("a piece has {} elements where {} belong", count, to.size()));
    if (at > m_elements || count > m_elements - at)
      fail(m_file, fmt::format("{} elements at {} lie behind its end", count, at), "the file is cut off");
    m_in.seekg(static_cast<std::streamoff>(at * sizeof(double)));
    m_in.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size_bytes()));
    if (!m_in) fail(m_file, "cannot be read");
    if (hash_of_elements(to) != from_hex(piece.at("hash").get<std::string>()))
      fail(m_file, fmt::format("the elements at {} are damaged", at));
  }

 private:
  fs::path m_file;
  std::ifstream m_in;
  std::uint64_t m_elements = 0;
};

kept_item item_from(const ordered_json& from, reader_of_elements& elements, runtime& rt) {
  const std::string kind = from.at("kind").get<std::string>();
  if (kind == "scalar") return std::bit_cast<double>(from_hex(from.at("value").get<std::string>()));
  const std::vector<kept_dimension> dims = dims_from(from.at("dims"));
  if (kind == "static") {
    std::vector<double> values(from.at("elements").at("count").get<std::uint64_t>());
    elements.read(from.at("elements"), values);
    return kept_values{dims, std::move(values)};
  }
  if (kind != "blocks") throw std::invalid_argument("there is no kind '" + kind + "'");
  std::vector<std::int64_t> counts;
  for (const kept_dimension& d : dims) counts.push_back(d.high - d.low + 1);
  auto generation = std::make_shared<local_generation>(rt, from.at("array").get<std::string>(), counts);
  for (const ordered_json& b : from.at("blocks")) {
    const auto extents = b.at("shape").get<std::vector<std::int64_t>>();
    if (extents.size() != dims.size()) throw std::invalid_argument("a block of another rank than its array");
    shared_block& made =
        generation->begin_store(b.at("block").get<std::int64_t>(), shape(extents), store_kind::replace);
    auto view = made.elements.write();
    elements.read(b.at("elements"), {view.data(), static_cast<std::size_t>(view.size())});
    made.written = true;
  }
  return kept_blocks{dims, std::move(generation)};
}

ordered_json to_json(const kept_item& item, writer& elements) {
  if (const auto* value = std::get_if<double>(&item))
    return {{"kind", "scalar"}, {"value", hex(std::bit_cast<std::uint64_t>(*value))}};
  if (const auto* values = std::get_if<kept_values>(&item))
    return {{"kind", "static"}, {"dims", to_json(values->dims)}, {"elements", elements.add(values->values)}};
  const auto& blocks = std::get<kept_blocks>(item);
  ordered_json out{{"kind", "blocks"},
                   {"array", blocks.generation->name()},
                   {"dims", to_json(blocks.dims)},
                   {"blocks", ordered_json::array()}};
  for (const std::int64_t ordinal : blocks.generation->ordinals()) {
    const shared_block& b = *blocks.generation->find(ordinal);
    const auto view = b.elements.read();
    const auto extents = b.elements.stored_extents().extents();
    out["blocks"].push_back({{"block", ordinal},
                             {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())},
                             {"elements", elements.add({view.data(), static_cast<std::size_t>(view.size())})}});
  }
  return out;
}

/// "after-3" -> 3.
std::optional<std::size_t> number_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(prefix)) return std::nullopt;
  std::size_t number = 0;
  const char* const begin = name.data() + std::strlen(prefix);
  const auto [end, wrong] = std::from_chars(begin, name.data() + name.size(), number);
  return wrong == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

std::optional<fs::path> newest_in(const fs::path& folder) {
  std::optional<std::size_t> newest;
  std::error_code wrong;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, wrong))
    if (const auto number = number_of(entry.path()); number && (!newest || *number > *newest)) newest = number;
  if (!newest) return std::nullopt;
  return folder / fmt::format("{}{}", prefix, *newest);
}

ordered_json read_manifest(const fs::path& file) {
  std::ifstream in(file);
  if (!in) fail(file, "cannot be read");
  ordered_json manifest = ordered_json::parse(in);
  if (manifest.at("format").get<int>() != format_version)
    fail(file, fmt::format("has format {}, and this program knows {}", manifest.at("format").dump(), format_version));
  return manifest;
}

/// Bytes of the elements of an item in a manifest.
std::uint64_t bytes_of_item(const ordered_json& item) {
  const auto of = [](const ordered_json& piece) { return piece.at("count").get<std::uint64_t>() * sizeof(double); };
  if (item.contains("elements")) return of(item.at("elements"));
  std::uint64_t sum = item.contains("value") ? sizeof(double) : 0;
  if (item.contains("blocks"))
    for (const ordered_json& block : item.at("blocks")) sum += of(block.at("elements"));
  return sum;
}

}  // namespace

job_identity identity_of(const std::vector<std::string>& programs, const init_data& data) {
  // The binary form where it has room for all, as checkpoints of older versions have it.
  std::string text;
  try {
    text = to_binary(data);
  } catch (const error&) {  // ints of 64 bits
    text = to_toml(data);
  }
  return {programs, hash_of(text)};
}

void save_checkpoint(const fs::path& folder, const job_identity& of, std::size_t completed, const kept_items& items) {
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  if (wrong) fail(folder, "cannot be made: " + wrong.message());
  const fs::path whole = folder / fmt::format("{}{}", prefix, completed), fresh = whole.string() + ".new";
  fs::remove_all(fresh, wrong);
  fs::create_directory(fresh, wrong);
  if (wrong) fail(fresh, "cannot be made: " + wrong.message());
  writer elements(fresh / "elements");
  ordered_json manifest{{"format", format_version},
                        {"programs", of.programs},
                        {"data", hex(of.data)},
                        {"completed", completed},
                        {"items", ordered_json::object()}};
  for (const auto& [label, item] : items) manifest["items"][label] = to_json(item, elements);
  elements.finish();
  if (const std::error_code reason = write_whole_file(fresh / "manifest.json", {manifest.dump(1), "\n"}))
    fail(fresh / "manifest.json", "cannot be written: " + reason.message(), std::string(hint_for_writing(reason)));
  sync(fresh / "manifest.json");
  fs::remove_all(whole, wrong);
  fs::rename(fresh, whole, wrong);
  if (wrong) fail(whole, "cannot take its name: " + wrong.message());
  sync(folder);
  for (const fs::directory_entry& other : fs::directory_iterator(folder))
    if (const auto number = number_of(other.path()); number && *number != completed)
      fs::remove_all(other.path(), wrong);
}

std::optional<checkpoint> load_checkpoint(const fs::path& folder, const job_identity& of, runtime& rt) {
  const std::optional<fs::path> newest = newest_in(folder);
  if (!newest) return std::nullopt;
  const fs::path &whole = *newest, file = whole / "manifest.json";
  try {
    const ordered_json manifest = read_manifest(file);
    if (manifest.at("programs").get<std::vector<std::string>>() != of.programs ||
        from_hex(manifest.at("data").get<std::string>()) != of.data)
      fail(file, "is of another job: its programs or its initialization data are others",
           "name another folder, or remove this one");
    checkpoint read;
    read.completed = manifest.at("completed").get<std::size_t>();
    if (read.completed > of.programs.size())
      fail(file, fmt::format("{} programs are completed of {}", read.completed, of.programs.size()));
    reader_of_elements elements(whole / "elements");
    for (const auto& [label, item] : manifest.at("items").items())
      read.items.emplace(label, item_from(item, elements, rt));
    return read;
  } catch (const nlohmann::json::exception& e) {
    fail(file, fmt::format("is no manifest of a checkpoint: {}", e.what()));
  } catch (const std::invalid_argument& e) {
    fail(file, e.what());
  }
}

std::optional<checkpoint_summary> summary_of_checkpoint(const fs::path& folder) {
  const std::optional<fs::path> newest = newest_in(folder);
  if (!newest) return std::nullopt;
  checkpoint_summary out;
  out.file = *newest / "manifest.json";
  try {
    const ordered_json manifest = read_manifest(out.file);
    out.programs = manifest.at("programs").get<std::vector<std::string>>();
    out.completed = manifest.at("completed").get<std::size_t>();
    for (const auto& [label, item] : manifest.at("items").items())
      out.items.push_back({label, item.at("kind").get<std::string>(), bytes_of_item(item)});
    return out;
  } catch (const nlohmann::json::exception& e) {
    fail(out.file, fmt::format("is no manifest of a checkpoint: {}", e.what()));
  }
}

}  // namespace tessera::sial
