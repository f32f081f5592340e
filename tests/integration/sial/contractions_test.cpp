// Random contractions and all permutations of blocks against loops over elements. All values are small integers: sums
// are exact.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "jobs.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using testing::run_text;
using list = std::vector<int>;  // of indices, by number

/// An index of a random program.
struct random_index {
  sial::index_kind kind;
  std::int64_t low, high, elements;
};

struct random_contraction {
  sial::init_data data;
  std::vector<random_index> indices;
  list left, right, result, inner;  ///< inner: those that are summed over
  std::mt19937_64 random;

  explicit random_contraction(std::uint64_t seed) : random(seed) { make(); }

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }

  void make() {
    const std::vector<sial::index_kind> kinds{sial::index_kind::ao, sial::index_kind::mo, sial::index_kind::moa,
                                              sial::index_kind::la, sial::index_kind::simple};
    for (const sial::index_kind kind : kinds)
      if (kind != sial::index_kind::simple)
        for (int s = 0; s < 4; ++s) data.segments[kind].push_back(pick(0, 2) == 0 ? 1 : pick(1, 4));
    // Ranks 1 to 6 on either side and 0 to 6 of the result, a few more of small ones.
    const auto left_rank = static_cast<std::size_t>(pick(1, 6)), right_rank = static_cast<std::size_t>(pick(1, 6));
    const std::size_t most = std::min(left_rank, right_rank),
                      least = left_rank + right_rank > 6 ? (left_rank + right_rank - 6 + 1) / 2 : 0;
    std::size_t shared = static_cast<std::size_t>(
        pick(static_cast<std::int64_t>(std::min(least, most)), static_cast<std::int64_t>(most)));
    const std::size_t total = left_rank + right_rank - shared;
    for (std::size_t k = 0; k < total; ++k) {
      random_index i{kinds[static_cast<std::size_t>(pick(0, 4))], 0, 0, 0};
      i.low = i.kind == sial::index_kind::simple ? pick(-2, 3) : pick(1, 4);
      i.high = i.kind == sial::index_kind::simple ? i.low + pick(0, 2)
                                                  : pick(i.low, std::min<std::int64_t>(4, i.low + (total > 6 ? 0 : 1)));
      for (std::int64_t s = i.low; s <= i.high; ++s)
        i.elements += i.kind == sial::index_kind::simple ? 1 : data.segments[i.kind][static_cast<std::size_t>(s - 1)];
      indices.push_back(i);
      const int number = static_cast<int>(k);
      if (k < shared) inner.push_back(number);
      if (k < left_rank) left.push_back(number);
      if (k < shared || k >= left_rank) right.push_back(number);
      if (k >= shared) result.push_back(number);
    }
    for (list* l : {&left, &right, &result}) std::shuffle(l->begin(), l->end(), random);
    for (const char* name : {"a", "b"}) {
      sial::init_array<double>& array = data.float_arrays[name];
      array.dims = {1};
      for (const int i : *name == 'a' ? left : right) array.dims[0] *= indices[static_cast<std::size_t>(i)].elements;
      for (std::int64_t e = 0; e < array.dims[0]; ++e) array.values.push_back(static_cast<double>(pick(-3, 3)));
    }
  }

  static std::string names(const list& l) {
    std::vector<std::string> all;
    for (const int i : l) all.push_back(fmt::format("i{}", i));
    return fmt::format("{}", fmt::join(all, ", "));
  }
  std::string block(const char* array, const list& l) const { return fmt::format("{}[{}]", array, names(l)); }

  void loops(std::string& text, list over, const std::string& inside) {
    std::shuffle(over.begin(), over.end(), random);
    for (const int i : over) text += fmt::format("do i{}\n", i);
    text += inside;
    std::ranges::reverse(over);
    for (const int i : over) text += fmt::format("enddo i{}\n", i);
  }

  std::string declarations() const {
    std::string text = "sial random\n";
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const random_index& i = indices[k];
      const char* const words[] = {"aoindex", "moindex", "moaindex", "mobindex", "index", "laindex"};
      text += fmt::format("{} i{} = {}:{}\n", words[static_cast<std::size_t>(i.kind)], k, i.low, i.high);
    }
    text += "predefined static " + block("a", left) + "\npredefined static " + block("b", right) + "\n";
    text += "temp " + block("ta", left) + "\ntemp " + block("tb", right) + "\nscalar x\nscalar sum\n";
    if (!result.empty())
      text += "static " + block("c", result) + "\ntemp " + block("t", result) + "\ndistributed " + block("d", result) +
              "\n";
    return text;
  }

  /// The program: c = a b in one of several ways; the result is kept as "c".
  std::string program() {
    std::string text = declarations();
    const std::string a = block("a", left), b = block("b", right), ta = block("ta", left), tb = block("tb", right);
    const std::string sign = inner.empty() && pick(0, 1) == 0 ? "^" : "*";
    if (result.empty()) {
      const char* const ways[] = {"x += {0} * {1}\n", "{2} = {0}\n{3} = {1}\nx += {3} * {2}\n",
                                  "{2} = {0}\nsum = x + {2} * {1}\nx = sum\n",
                                  "x = 0.0 - x\nx -= {1} * {0}\nx = 0.0 - x\n"};
      loops(text, inner, fmt::format(fmt::runtime(ways[pick(0, 3)]), a, b, ta, tb));
      return text + "set_persistent x \"c\"\nendsial random\n";
    }
    const std::string c = block("c", result), t = block("t", result), d = block("d", result);
    const auto with = [&](const char* pattern) {
      return fmt::format(fmt::runtime(pattern), fmt::arg("a", a), fmt::arg("b", b), fmt::arg("ta", ta),
                         fmt::arg("tb", tb), fmt::arg("c", c), fmt::arg("t", t), fmt::arg("d", d), fmt::arg("s", sign));
    };
    std::string sum;
    const auto way = pick(0, 5);
    if (way == 0) {
      loops(sum, inner, with("{c} += {a} {s} {b}\n"));
      loops(text, result, sum);
    } else if (way == 1) {
      loops(sum, inner, with("{ta} = {a}\n{tb} = {b}\n{t} = {tb} {s} {ta}\n{c} += {t}\n"));
      loops(text, result, sum);
    } else if (way == 2) {
      loops(sum, inner, with("{ta} = {a}\n{c} -= {ta} {s} {b}\n"));
      loops(text, result, sum + with("{c} *= -1.0\n"));
      text.replace(text.find("*= -1.0"), 7, "*= (0.0 - 1.0)");
    } else if (way == 3) {
      loops(sum, inner, with("{tb} = {b}\n{t} -= {a} {s} {tb}\n{t} += {a} {s} {b}\n{t} += {a} {s} {tb}\n"));
      loops(text, result, with("{t} = 0.0\n") + sum + with("{c} = {t}\n"));
    } else {
      list over = result;
      std::shuffle(over.begin(), over.end(), random);
      if (way == 4)
        loops(sum, inner, with("{t} = {a} {s} {b}\nput {d} += {t}\n"));
      else
        loops(sum, inner, with("{ta} = {a}\n{t} += {ta} {s} {b}\n"));
      text += "pardo " + names(over) + "\n" + (way == 5 ? with("{t} = 0.0\n") : "") + sum +
              (way == 5 ? with("put {d} = {t}\n") : "") + "endpardo " + names(over) + "\nsip_barrier\n";
      loops(text, result, with("get {d}\n{c} = {d}\n"));
    }
    return text + "set_persistent c \"c\"\nendsial random\n";
  }

  std::int64_t position(const list& l, const std::vector<std::int64_t>& at) const {
    std::int64_t position = 0, stride = 1;
    for (const int i : l) {
      position += at[static_cast<std::size_t>(i)] * stride;
      stride *= indices[static_cast<std::size_t>(i)].elements;
    }
    return position;
  }

  /// Element by element.
  std::vector<double> expected() const {
    std::vector<std::int64_t> at(indices.size(), 0);
    std::int64_t count = 1;
    for (const int i : result) count *= indices[static_cast<std::size_t>(i)].elements;
    std::vector<double> c(static_cast<std::size_t>(count));
    const auto &a = data.float_arrays.at("a").values, &b = data.float_arrays.at("b").values;
    for (;;) {
      c[static_cast<std::size_t>(position(result, at))] +=
          a[static_cast<std::size_t>(position(left, at))] * b[static_cast<std::size_t>(position(right, at))];
      std::size_t d = 0;
      while (d < at.size() && ++at[d] == indices[d].elements) at[d++] = 0;
      if (d == at.size()) return c;
    }
  }
};

struct share {
  const char* machine;
  int number;
  sial::device_use devices = sial::device_use::always;
};

void PrintTo(const share& s, std::ostream* out) { *out << "part " << s.number << " on " << s.machine; }

class sial_contractions : public ::testing::TestWithParam<share> {};

TEST_P(sial_contractions, agree_with_loops_over_elements) {
  constexpr int programs = 25;
  const bool fewer =
      testing::slow_down > 1 && std::string_view(GetParam().machine) != "host";  // a machine is made for each
  for (int k = 0; k < (fewer ? 6 : programs); ++k) {
    random_contraction c(static_cast<std::uint64_t>(GetParam().number * programs + k));
    const std::string text = c.program();
    const auto workers = static_cast<unsigned>(c.pick(1, 4));
    const testing::sial_outcome outcome =
        run_text(text, c.data, {.workers = workers, .machine = GetParam().machine, .devices = GetParam().devices});
    const auto& kept = outcome.items.at("c");
    const std::vector<double> found =
        c.result.empty() ? std::vector<double>{std::get<double>(kept)} : std::get<sial::kept_values>(kept).values;
    ASSERT_EQ(found, c.expected()) << workers << " workers\n" << text;
    sial::kept_estimates kept_before;
    const sial::program_estimate told =
        sial::estimate_program(testing::program_from_text(text).all[0], c.data, {workers}, kept_before);
    ASSERT_FALSE(told.flops_are_most()) << text;
    ASSERT_EQ(told.flops(), outcome.counters.flops) << text;
  }
}

std::vector<share> shares(std::initializer_list<const char*> machines, int parts,
                          sial::device_use devices = sial::device_use::always) {
  std::vector<share> all;
  for (const char* machine : machines)
    for (int k = 0; k < parts; ++k) all.push_back({machine, k, devices});
  return all;
}

INSTANTIATE_TEST_SUITE_P(random, sial_contractions, ::testing::ValuesIn(shares({"host"}, 12)));
INSTANTIATE_TEST_SUITE_P(with_devices, sial_contractions,
                         ::testing::ValuesIn(shares({"sim", "two sims", "cuda_emulated"}, 4)));
INSTANTIATE_TEST_SUITE_P(placed, sial_contractions, ::testing::ValuesIn(shares({"sim"}, 2, sial::device_use::best)));
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(with_opencl, sial_contractions, ::testing::ValuesIn(shares({"opencl"}, 2)));
#endif

class sial_permutations : public ::testing::TestWithParam<int> {};

// Indices of one kind, each with a segment of its own: each order of them is another tile of one array.
TEST_P(sial_permutations, every_order_of_a_block) {
  const auto rank = static_cast<std::size_t>(GetParam());
  std::vector<std::int64_t> lengths{2, 3, 1, 2, 1, 3}, begins;
  lengths.resize(rank);
  std::int64_t all = 0, count = 1;
  for (const std::int64_t n : lengths) {
    begins.push_back(all);
    all += n;
    count *= n;
  }
  sial::init_data data;
  data.segments[sial::index_kind::mo] = lengths;
  sial::init_array<double>& source = data.float_arrays["s"];
  source.dims = {count};
  for (std::int64_t e = 0; e < count; ++e) source.values.push_back(static_cast<double>(e + 1));

  list order(rank);
  std::iota(order.begin(), order.end(), 0);
  const list identity = order;
  const std::string own = random_contraction::names(identity),
                    any = fmt::format("p{}", fmt::join(std::vector<std::string>(rank, ""), ", p"));
  std::string text = fmt::format("sial permutations\nmoindex p = 1:{}\n", rank);
  for (std::size_t k = 0; k < rank; ++k) text += fmt::format("moindex i{} = {}:{}\n", k, k + 1, k + 1);
  text += fmt::format("predefined static s[{0}]\nstatic d[{1}]\ntemp t[{1}]\n", own, any);
  for (std::size_t k = 0; k < rank; ++k) text += fmt::format("do i{}\n", k);
  std::string last = own;
  text += fmt::format("t[{0}] = s[{0}]\nt[{0}] += s[{0}]\n", own);
  do {  // s - 2 s + 2 s, the latter from a block in another order
    const std::string here = random_contraction::names(order);
    if (here != own) text += fmt::format("t[{0}] = s[{1}]\nt[{0}] += s[{1}]\n", here, own);
    text += fmt::format("d[{0}] = s[{1}]\nd[{0}] -= t[{0}]\nd[{0}] += t[{2}]\n", here, own, last);
    last = here;
  } while (std::ranges::next_permutation(order).found);
  for (std::size_t k = rank; k-- > 0;) text += fmt::format("enddo i{}\n", k);
  text += "set_persistent d \"d\"\nendsial permutations\n";

  const testing::sial_outcome outcome = run_text(text, data, 1);
  const std::vector<double>& d = std::get<sial::kept_values>(outcome.items.at("d")).values;
  std::int64_t looked_at = 0;
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<std::int64_t> at(rank, 0);  // by index
    for (std::int64_t e = 0; e < count; ++e) {
      std::int64_t position = 0, stride = 1;
      for (const int i : order) {
        position += (begins[static_cast<std::size_t>(i)] + at[static_cast<std::size_t>(i)]) * stride;
        stride *= all;
      }
      ASSERT_EQ(d[static_cast<std::size_t>(position)], static_cast<double>(e + 1))
          << fmt::format("order {}, element {}", fmt::join(order, " "), e);
      ++looked_at;
      for (std::size_t k = 0; k < rank && ++at[k] == lengths[k]; ++k) at[k] = 0;
    }
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(static_cast<std::size_t>(looked_at), d.size() - static_cast<std::size_t>(std::ranges::count(d, 0.0)))
      << "nothing else was written";
}

INSTANTIATE_TEST_SUITE_P(ranks, sial_permutations, ::testing::Range(1, 7));

}  // namespace
}  // namespace tessera
