#include "libraries/chemistry/checkpoint/record.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <string_view>

#include "core/base/cache_folder.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::chemistry {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "the numbers of checkpoints are little-endian");

constexpr std::string_view magic = "tessera-chemistry";
constexpr int format_version = 1;
constexpr std::size_t longest_first_line = 200;

std::string_view bytes_of(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

[[noreturn]] void fail_to_write(const fs::path& file, const std::error_code& why) {
  throw error(error_kind::output, "the checkpoint cannot be written: " + why.message(), file.string(),
              std::string(hint_for_writing(why)));
}

/// A file beside the one that is meant, which goes away unless it takes the name.
class file_beside {
 public:
  explicit file_beside(fs::path of) : m_of(std::move(of)), m_beside(m_of.string() + ".new") {
    m_descriptor = ::open(m_beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (m_descriptor < 0) fail();
  }
  file_beside(const file_beside&) = delete;
  file_beside& operator=(const file_beside&) = delete;
  ~file_beside() {
    if (m_descriptor >= 0) ::close(m_descriptor);
    if (!m_is_done) ::unlink(m_beside.c_str());
  }
  void write(std::string_view text) {
    if (const std::error_code why = write_all(m_descriptor, text)) fail_to_write(m_of, why);
  }
  /// Brings it to the disk, then gives it the name.
  void finish() {
    if (::fsync(m_descriptor) != 0 || ::close(std::exchange(m_descriptor, -1)) != 0) fail();
    if (::rename(m_beside.c_str(), m_of.c_str()) != 0) fail();
    m_is_done = true;
    const fs::path folder = m_of.has_parent_path() ? m_of.parent_path() : fs::path(".");
    const int place = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return;  // the name may be lost with the machine's power, and the file is whole
    ::fsync(place);
    ::close(place);
  }

 private:
  [[noreturn]] void fail() const { fail_to_write(m_of, {errno, std::generic_category()}); }
  const fs::path m_of, m_beside;
  int m_descriptor = -1;
  bool m_is_done = false;
};

/// A file that is read from its beginning, into where the bytes are wanted: checkpoints may be larger than half of the
/// memory.
class file_to_read {
 public:
  explicit file_to_read(const fs::path& file) : m_file(file), m_descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (m_descriptor < 0 && errno == ENOENT) return;
    if (m_descriptor < 0) fail({errno, std::generic_category()});
    struct stat found {};
    if (::fstat(m_descriptor, &found) == 0 && S_ISREG(found.st_mode)) {
      m_size = static_cast<std::uint64_t>(found.st_size);
      return;
    }
    ::close(m_descriptor);
    fail(std::make_error_code(S_ISDIR(found.st_mode) ? std::errc::is_a_directory : std::errc::invalid_argument));
  }
  file_to_read(const file_to_read&) = delete;
  file_to_read& operator=(const file_to_read&) = delete;
  ~file_to_read() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }
  bool is_there() const noexcept { return m_descriptor >= 0; }
  std::uint64_t size() const noexcept { return m_size; }
  std::uint64_t left() const noexcept { return m_size - m_at; }
  void go_to(std::uint64_t at) noexcept { m_at = at; }
  /// As many bytes as are left, at most.
  void read(void* to, std::uint64_t bytes) {
    auto* next = static_cast<char*>(to);
    while (bytes != 0) {
      const ssize_t got = ::pread(m_descriptor, next, bytes, static_cast<off_t>(m_at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail({errno, std::generic_category()});
      if (got == 0) refuse_file(m_file, "the checkpoint has become shorter while it was read");
      next += got;
      m_at += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  [[noreturn]] void fail(const std::error_code& why) const {
    throw error(error_kind::input, "the checkpoint cannot be read: " + why.message(), m_file.string());
  }
  const fs::path m_file;
  const int m_descriptor;
  std::uint64_t m_size = 0, m_at = 0;
};

struct first_line {
  int format = 0;
  std::string kind;
  std::uint64_t header_bytes = 0, header_hash = 0;
};

template <class Number>
bool read_number(std::string_view text, Number& to, int base = 10) {
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), to, base);
  return wrong == std::errc() && end == text.data() + text.size();
}

first_line read_first_line(const fs::path& file, std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string name, format, kind, length, hash, more;
  words >> name >> format >> kind >> length >> hash;
  if (name != magic) refuse_file(file, "this is no checkpoint of chemistry, or its beginning is damaged");
  first_line out;
  if (!read_number(format, out.format)) refuse_file(file, "the beginning of the checkpoint is damaged");
  if (out.format > format_version)
    refuse_file(file, fmt::format("the checkpoint has format {}, and this program knows {}", format, format_version),
                "it was written by a later version of Tessera, which can read it");
  out.kind = kind;
  if (out.format < 1 || !read_number(length, out.header_bytes) || hash.size() != 16 ||
      !read_number(hash, out.header_hash, 16) || words >> more)
    refuse_file(file, "the beginning of the checkpoint is damaged");
  return out;
}

std::string now_as_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

void refuse_file(const fs::path& where, const std::string& what, const std::string& hint) {
  throw error(error_kind::input, what, where.string(), hint.empty() ? "remove the file to begin without it" : hint);
}

void save_record(const fs::path& file, const std::string& kind, nlohmann::ordered_json header,
                 const named_arrays& arrays) {
  header["written_by"] = TESSERA_WRITTEN_BY;
  header["written_at"] = now_as_text();
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, values] : arrays)
    list.push_back({{"name", name}, {"elements", values.size()}, {"hash", hex(hash_of(bytes_of(values)))}});
  header["arrays"] = std::move(list);
  const std::string text = header.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  file_beside out(file);
  out.write(fmt::format("{} {} {} {} {}\n", magic, format_version, kind, text.size(), hex(hash_of(text))));
  out.write(text);
  for (const auto& [name, values] : arrays) out.write(bytes_of(values));
  out.finish();
}

std::optional<record> load_record(const fs::path& file, const std::string& kind) {
  file_to_read from(file);
  if (!from.is_there()) return std::nullopt;
  std::string line(std::min<std::uint64_t>(longest_first_line, from.left()), '\0');
  from.read(line.data(), line.size());
  const std::size_t line_end = line.find('\n');
  if (line_end == std::string::npos)
    refuse_file(file,
                line.empty() ? "the checkpoint is empty" : "this is no checkpoint of chemistry, or it is damaged");
  line.resize(line_end);
  const first_line first = read_first_line(file, line);
  if (first.kind != kind)
    refuse_file(file, fmt::format("the checkpoint is of the kind '{}', and '{}' belongs here", first.kind, kind));
  from.go_to(line_end + 1);
  if (first.header_bytes > from.left()) refuse_file(file, "the checkpoint is cut off in its header");
  std::string header(first.header_bytes, '\0');
  from.read(header.data(), header.size());
  if (hash_of(header) != first.header_hash) refuse_file(file, "the header of the checkpoint is damaged");
  return reading_header(file, [&] {
    record out;
    out.bytes = from.size();
    out.header = nlohmann::ordered_json::parse(header);
    for (const auto& one : out.header.at("arrays")) {
      const auto name = one.at("name").get<std::string>();
      const auto elements = one.at("elements").get<std::uint64_t>();
      if (elements > from.left() / sizeof(double)) refuse_file(file, "the checkpoint is cut off in " + name);
      std::vector<double>& values = out.arrays[name];
      values.resize(elements);
      from.read(values.data(), elements * sizeof(double));
      if (hex(hash_of(bytes_of(values))) != one.at("hash").get<std::string>())
        refuse_file(file, fmt::format("the numbers of {} in the checkpoint are damaged", name));
    }
    if (from.left() != 0) refuse_file(file, "something follows behind the end of the checkpoint");
    return std::optional<record>(std::move(out));
  });
}

std::vector<double> take_array(record& from, const std::string& name, std::size_t elements, const fs::path& where) {
  const auto found = from.arrays.find(name);
  if (found == from.arrays.end()) refuse_file(where, fmt::format("the checkpoint lacks {}", name));
  if (found->second.size() != elements)
    refuse_file(where, fmt::format("the checkpoint has {} numbers of {}, and {} belong there", found->second.size(),
                                   name, elements));
  return std::move(found->second);
}

}  // namespace tessera::chemistry
