#include "libraries/chemistry/job/job_item.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

using member = std::variant<std::optional<bool> job::*, std::optional<int> job::*, std::optional<double> job::*,
                            std::optional<std::string> job::*, std::optional<std::vector<int>> job::*>;

/// An item, and what it may be. Limits are of numbers, words of texts; no words: any text.
struct item {
  std::string name;
  member where;
  double least = 0, most = 0;
  std::vector<std::string> words = {};
};

/// The limits are those of the options of the same names.
const std::vector<item>& items() {
  static const std::vector<item> all{
      {"basis", &job::basis},
      {"method", &job::method},
      {"reference", &job::reference, 0, 0, {"auto", "rhf", "uhf", "rohf"}},
      {"guess", &job::guess, 0, 0, {"auto", "sad", "core", "read", "projected"}},
      {"stability", &job::stability, 0, 0, {"auto", "check", "follow", "off"}},
      {"charge", &job::charge, -1e6, 1e6},
      {"multiplicity", &job::multiplicity, 1, 1000},
      {"spherical", &job::spherical},
      {"frozen_core", &job::frozen_core},
      {"frozen_orbitals", &job::frozen_orbitals, 0, 100000},
      {"frozen_virtual", &job::frozen_virtual, 0, 1000000},
      {"memory", &job::memory},
      {"ladder", &job::ladder, 0, 0, {"auto", "stored", "direct"}},
      {"devices", &job::devices, 0, 0, {"best", "never", "always"}},
      {"segments", &job::segments, 1, 100000},
      {"workers", &job::workers, 1, 100000},
      {"deterministic", &job::deterministic},
      {"profile", &job::profile},
      {"convergence", &job::convergence, 1e-12, 1e-3},
      {"scf_iterations", &job::scf_iterations, 1, 100000},
      {"cc_iterations", &job::cc_iterations, 1, 1000},
      {"level_shift", &job::level_shift, 0, 100},
      {"damping", &job::damping, 0, 0.99},
      {"restart", &job::restart},
      {"start_from", &job::start_from},
      {"checkpoint_interval", &job::checkpoint_interval, 0, 1e9},
      {"molden", &job::molden},
      {"fcidump", &job::fcidump},
      {"trexio", &job::trexio},
      {"qcschema", &job::qcschema},
  };
  return all;
}

/// One item that is being set.
class item_setter {
 public:
  item_setter(job& of, const item& what, const item_value& to, const std::string& where)
      : m_of(of), m_what(what), m_to(to), m_where(where) {}

  void operator()(std::optional<bool> job::*at) const { m_of.*at = expected<bool>("true or false"); }
  void operator()(std::optional<int> job::*at) const { m_of.*at = whole(expected<std::int64_t>("a whole number")); }
  void operator()(std::optional<double> job::*at) const {
    const auto* const integer = std::get_if<std::int64_t>(&m_to);
    const double number = integer != nullptr ? static_cast<double>(*integer) : expected<double>("a number");
    require_between(number);
    m_of.*at = number;
  }
  void operator()(std::optional<std::string> job::*at) const { m_of.*at = text(expected<std::string>("text")); }
  void operator()(std::optional<std::vector<int>> job::*at) const {
    const auto& list = expected<std::vector<std::int64_t>>("a list of whole numbers");
    if (list.size() != 3)
      fail(fmt::format("{} has {} numbers, and three are expected", m_what.name, list.size()),
           "the most functions, occupied and virtual orbitals in a segment");
    std::vector<int> lengths;
    for (const std::int64_t one : list) lengths.push_back(whole(one));
    m_of.*at = lengths;
  }

 private:
  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw error(error_kind::input, std::move(message), m_where, std::move(hint));
  }
  template <typename type>
  const type& expected(const char* what) const {
    const type* const found = std::get_if<type>(&m_to);
    if (found == nullptr) fail(fmt::format("{} is not {}", m_what.name, what));
    return *found;
  }
  void require_between(double number) const {
    if (!(number >= m_what.least && number <= m_what.most))
      fail(fmt::format("{} is {}, and not between {} and {}", m_what.name, number, m_what.least, m_what.most));
  }
  int whole(std::int64_t number) const {
    require_between(static_cast<double>(number));
    return static_cast<int>(number);
  }
  std::string text(const std::string& written) const {
    if (m_what.name == "method") return method(written);
    if (m_what.name == "memory" && !parse_bytes(written))
      fail(fmt::format("{} is no size", in_quotes(written)), "such as 2GiB, 500MB");
    if (m_what.words.empty()) {
      if (written.empty()) fail(m_what.name + " is empty");
      return written;
    }
    std::string word = in_small_letters(written);
    if (std::ranges::find(m_what.words, word) == m_what.words.end())
      fail(fmt::format("{} is {}", m_what.name, in_quotes(written)), hint_for_name(word, m_what.words));
    return word;
  }
  std::string method(const std::string& written) const {
    try {
      return usual_method(written);
    } catch (const error& e) {
      fail(e.message(), e.hint());
    }
  }

  job& m_of;
  const item& m_what;
  const item_value& m_to;
  const std::string& m_where;
};

}  // namespace

void set_item(job& of, std::string_view name, const item_value& to, const std::string& where) {
  const auto found = std::ranges::find(items(), name, &item::name);
  if (found == items().end())
    throw error(error_kind::input, fmt::format("there is no key {}", in_quotes(name)), where,
                hint_for_name(name, item_names()));
  std::visit(item_setter(of, *found, to, where), found->where);
}

void place_files(job& of, const std::filesystem::path& folder) {
  for (std::optional<std::string>* const one :
       {&of.restart, &of.start_from, &of.molden, &of.fcidump, &of.trexio, &of.qcschema})
    if (*one && **one != "-") *one = (folder / **one).string();
}

const std::vector<std::string>& item_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const item& one : items()) all.push_back(one.name);
    return all;
  }();
  return names;
}

std::string hint_for_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = suggest(name, known);
  return nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                         : fmt::format("did you mean '{}'?", nearest);
}

}  // namespace tessera::chemistry
