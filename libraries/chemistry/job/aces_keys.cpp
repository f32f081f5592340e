#include "libraries/chemistry/job/aces_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "core/base/error.hpp"
#include "libraries/chemistry/job/job_item.hpp"
#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {
namespace {

[[noreturn]] void fail(const aces_entry& e, std::string message, std::string hint = {}) {
  throw error(error_kind::input, std::move(message), e.where, std::move(hint));
}

std::string upper(std::string_view text) {
  std::string large(text);
  for (char& c : large)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return large;
}

[[noreturn]] void fail_value(const aces_entry& e, const std::string& hint) {
  fail(e, fmt::format("{}={} is not done here", upper(e.key), e.value), hint);
}

std::int64_t whole(std::string_view text, const aces_entry& e) {
  std::int64_t number = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (status != std::errc{} || end != digits.data() + digits.size())
    fail(e, fmt::format("{} is {}, which is not a whole number", upper(e.key), in_quotes(text)));
  return number;
}

/// Of the same meaning.
const std::map<std::string, std::string> other_names{
    {"calc_level", "calc"}, {"calclevel", "calc"},         {"reference", "ref"},           {"multiplicity", "mult"},
    {"drop_mo", "dropmo"},  {"cc_maxcycle", "cc_maxcyc"},  {"scf_maxcycle", "scf_maxcyc"}, {"coordinates", "coord"},
    {"symmetry", "sym"},    {"damp_type", "damping_type"}, {"mem", "memory_size"},         {"memory", "memory_size"}};

/// Keys that steer the way to an energy, not the energy.
constexpr std::array<std::string_view, 14> steering{
    "damping_type", "damp_tol",    "dampscf", "scf_conv",   "scf_extrap",  "scf_exporder", "cc_extrap",
    "cc_exporder",  "memory_size", "print",   "lineq_conv", "estate_conv", "abcdtype",     "subgroup"};
const std::vector<std::string> sip_names{"maxmem", "sial_program"};
constexpr std::array<std::string_view, 9> sip_steering{
    "sip_mx_segsize", "sip_mx_occ_segsize", "sip_mx_virt_segsize", "company", "iocompany", "sial_path", "timers",
    "trace",          "sip_trace"};

template <std::size_t count>
bool is_one_of(std::string_view name, const std::array<std::string_view, count>& names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_on(const aces_entry& e) {
  const std::string value = in_small_letters(e.value);
  if (value == "on" || value == "1" || value == "true") return true;
  if (value == "off" || value == "0" || value == "false") return false;
  fail(e, fmt::format("{} is {}", upper(e.key), in_quotes(e.value)), "ON or OFF");
}

std::string method_of(const aces_entry& e) {
  static const std::map<std::string, std::string> known{{"scf", "scf"},  {"hf", "scf"},    {"mbpt(2)", "mp2"},
                                                        {"mp2", "mp2"},  {"ccsd", "ccsd"}, {"ccsd(t)", "ccsd(t)"},
                                                        {"mbpt2", "mp2"}};
  const auto found = known.find(in_small_letters(e.value));
  if (found == known.end()) fail_value(e, "SCF, MBPT(2), CCSD or CCSD(T)");
  return found->second;
}

/// "1-5", "1>5", "1/2/3": so many of the lowest orbitals. Others cannot be left out by their ordinals.
int frozen_of(const aces_entry& e) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::string_view rest = e.value; !rest.empty();) {
    const auto end = std::min(rest.find('/'), rest.size());
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto mark = one.find_first_of(">-");
    const std::int64_t first = whole(one.substr(0, mark), e);
    ranges.emplace_back(first, mark == one.npos ? first : whole(one.substr(mark + 1), e));
  }
  std::ranges::sort(ranges);
  std::int64_t last = 0;
  for (const auto& [first, behind] : ranges) {
    if (first != last + 1 || behind < first || behind > 100000)
      fail(e, fmt::format("DROPMO={} is not the lowest orbitals alone, each once", e.value),
           "such as 1-5; --frozen-virtual N leaves out the highest ones");
    last = behind;
  }
  return static_cast<int>(last);
}

/// Amplitudes to 10^-N are energies to a hundredth of that, as --convergence has it.
double convergence_of(const aces_entry& e) {
  const std::int64_t digits = whole(e.value, e);
  if (digits < 1 || digits > 10) fail(e, fmt::format("CC_CONV={} is not between 1 and 10", e.value));
  return std::pow(10.0, -static_cast<double>(digits + 2));
}

void note(const aces_entry& e, job& to, const char* why) {
  to.notes.push_back(fmt::format("{}={} is not used: {}", upper(e.key), e.value, why));
}

void take_basis(const aces_entry& e, job& to) {
  if (in_small_letters(e.value) == "special") fail_value(e, "the name of a set that comes with the program");
  set_item(to, "basis", e.value, e.where);
}

void take_reference(const aces_entry& e, job& to) {
  if (in_small_letters(e.value) == "auto") fail_value(e, "RHF, UHF or ROHF");
  set_item(to, "reference", e.value, e.where);
}

/// The way to the field is not its energy: other guesses are noted.
void take_guess(const aces_entry& e, job& to) {
  const std::string value = in_small_letters(e.value);
  if (value == "core")
    to.guess = "core";
  else if (value == "atomic" || value == "sad")
    to.guess = "sad";
  else
    note(e, to, "the guess is of atoms' densities");
}

void take_symmetry(const aces_entry& e, job& to) {
  const std::string value = in_small_letters(e.value);
  if (value != "none" && value != "off") note(e, to, "there is no symmetry");
}

void take_coordinates(const aces_entry& e, job&) {
  const std::string value = in_small_letters(e.value);
  if (value != "cartesian" && value != "internal") fail_value(e, "CARTESIAN or INTERNAL");
}

template <const char* item>
void take_whole(const aces_entry& e, job& to) {
  set_item(to, item, whole(e.value, e), e.where);
}
constexpr char multiplicity_item[] = "multiplicity", charge_item[] = "charge", cc_item[] = "cc_iterations",
               scf_item[] = "scf_iterations";

/// Keys that have a meaning here.
const std::map<std::string, void (*)(const aces_entry&, job&)> aces_takers{
    {"calc", [](const aces_entry& e, job& to) { to.method = method_of(e); }},
    {"basis", take_basis},
    {"ref", take_reference},
    {"mult", take_whole<multiplicity_item>},
    {"charge", take_whole<charge_item>},
    {"spherical", [](const aces_entry& e, job& to) { to.spherical = is_on(e); }},
    {"dropmo", [](const aces_entry& e, job& to) { to.frozen_orbitals = frozen_of(e); }},
    {"cc_maxcyc", take_whole<cc_item>},
    {"scf_maxcyc", take_whole<scf_item>},
    {"cc_conv", [](const aces_entry& e, job& to) { to.convergence = convergence_of(e); }},
    {"guess", take_guess},
    {"coord", take_coordinates},
    {"sym", take_symmetry}};

}  // namespace

void aces_keys::require_first(const std::string& name, const aces_entry& e) {
  if (std::ranges::find(m_seen, name) != m_seen.end()) fail(e, fmt::format("{} is there twice", upper(name)));
  m_seen.push_back(name);
}

void aces_keys::take_aces(const aces_entry& e, job& to) {
  const auto other = other_names.find(e.key);
  const std::string name = other == other_names.end() ? e.key : other->second;
  require_first(name, e);
  if (name == "units") return take_unit(e);
  if (const auto taker = aces_takers.find(name); taker != aces_takers.end()) return taker->second(e, to);
  if (is_one_of(name, steering)) return note(e, to, "it has no counterpart");
  std::vector<std::string> known{"units"};
  for (const auto& [key, taker] : aces_takers) known.push_back(key);
  fail(e, fmt::format("there is no key {} of *ACES2", in_quotes(upper(e.key))), hint_for_name(name, known));
}

void aces_keys::take_unit(const aces_entry& e) {
  const std::string value = in_small_letters(e.value);
  if (value != "bohr" && value != "angstrom") fail_value(e, "ANGSTROM or BOHR");
  m_bohr = value == "bohr";
}

void aces_keys::take_sip(const aces_entry& e, job& to) {
  if (e.key == "sial_program") return take_program(e, to);
  require_first(e.key, e);
  if (e.key == "maxmem") {
    const std::int64_t megabytes = whole(e.value, e);
    if (megabytes < 1 || megabytes > 1'000'000'000) fail(e, fmt::format("MAXMEM={} is no size", e.value), "megabytes");
    to.memory = fmt::format("{}MiB", megabytes);
  } else if (is_one_of(e.key, sip_steering)) {
    note(e, to, "it has no counterpart");
  } else {
    fail(e, fmt::format("there is no key {} of *SIP", in_quotes(upper(e.key))), hint_for_name(e.key, sip_names));
  }
}

void aces_keys::take_program(const aces_entry& e, job& to) {
  static const std::vector<std::string> methods{"scf", "mp2", "ccsd", "ccsd(t)"};
  const std::string name = in_small_letters(e.value.substr(0, e.value.find('.')));
  const std::string stem = name.substr(0, name.find('_'));
  static const std::map<std::string, std::string> known{
      {"scf", "scf"},      {"mp2", "mp2"},         {"ump2", "mp2"},       {"rmp2", "mp2"},        {"rccsd", "ccsd"},
      {"uccsd", "ccsd"},   {"ccsd", "ccsd"},       {"ccsdpt", "ccsd(t)"}, {"rccsdpt", "ccsd(t)"}, {"tran", "scf"},
      {"rlambda", "ccsd"}, {"uccsdpt", "ccsd(t)"}, {"lambda", "ccsd"}};
  const auto found = known.find(stem);
  if (found == known.end())
    fail(e, fmt::format("the program {} does what is not done here", in_quotes(e.value)),
         "scf_*, tran_*, mp2_*, rccsd_*, rccsdpt_* and rlambda_* are known");
  if (stem.ends_with("lambda")) to.notes.push_back(fmt::format("{} is not run: its equations give no energy", e.value));
  const auto rank = [&](const std::string& one) { return std::ranges::find(methods, one) - methods.begin(); };
  if (m_program_method.empty() || rank(found->second) > rank(m_program_method)) m_program_method = found->second;
  m_programs_at = e.where;
  if (stem != "scf") return;
  for (const char* const kind : {"rohf", "uhf", "rhf"})
    if (name.find(fmt::format("_{}", kind)) != name.npos && m_program_reference.empty()) m_program_reference = kind;
  if (name.ends_with("_coreh") && !to.guess) to.guess = "core";
}

void aces_keys::finish(job& to) {
  if (!m_program_reference.empty() && to.reference && *to.reference != m_program_reference)
    throw error(error_kind::input,
                fmt::format("REF={} and the program of the field, for {}, say different things", upper(*to.reference),
                            upper(m_program_reference)),
                m_programs_at, "leave out one of them");
  if (!m_program_reference.empty()) to.reference = m_program_reference;
  if (!to.basis) throw error(error_kind::input, "the section *ACES2 has no BASIS", to.name, "such as BASIS=CC-PVDZ");
  if (m_program_method.empty() && !to.method) to.method = "scf";  // as there
  if (m_program_method.empty()) return;
  if (to.method && *to.method != m_program_method)
    to.notes.push_back(
        fmt::format("CALC={} is not used: the programs are those of {}", upper(*to.method), upper(m_program_method)));
  to.method = m_program_method;
}

}  // namespace tessera::chemistry
