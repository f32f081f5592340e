// Writes a source with loops in regions: "generate table" every pair of types, relation and kind of step, "generate
// random SEED COUNT" any of them, in all ways to write them. The numbers come when they run.
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using texts = std::vector<std::string>;

const texts integers = {"signed char", "unsigned char", "short", "unsigned short",
                        "int",         "unsigned",      "long",  "unsigned long"};
const texts relations = {"<", "<=", ">", ">=", "!="};

/// What must not leave its range, so that a step away from the bound is a mistake.
bool may_overflow(const std::string& type) {
  static const std::set<std::string> all = {"int",      "long",         "long long",     "wchar_t",
                                            "distance", "std::int64_t", "std::ptrdiff_t"};
  return all.contains(type);
}
bool leads_away(const std::string& relation, bool down) { return relation != "!=" && (relation[0] == '>') != down; }

class writer {
 public:
  writer() {
    std::cout << "#include <cstddef>\n#include <cstdint>\n#include \"tests/directives/heads/heads.hpp\"\n"
                 "namespace HEADS {\nusing namespace heads;\n";
  }
  void add(const std::string& before, const std::string& loop, const std::string& body = "note(i);",
           const std::string& clauses = "") {
    std::cout << "static void h" << m_texts.size()
              << "([[maybe_unused]] const value& a, [[maybe_unused]] const value& b) {\n"
              << before << "#pragma gecko region" << clauses << "\n"
              << loop << " " << body << "\n#pragma gecko region end\n}\n";
    m_texts.push_back(loop);
  }
  void end() {
    std::cout << "extern const std::vector<head> all;\nconst std::vector<head> all = {\n";
    for (std::size_t k = 0; k < m_texts.size(); ++k) std::cout << "  {\"" << m_texts[k] << "\", h" << k << "},\n";
    std::cout << "};\n}\n";
  }
  std::size_t count() const { return m_texts.size(); }

 private:
  texts m_texts;
};

void table(writer& to) {
  texts bounds = integers;
  bounds.insert(bounds.end(), {"bool", "float", "double", "long double"});
  for (const std::string& index : integers)
    for (const std::string& bound : bounds)
      for (const std::string& relation : relations)
        for (const std::string step : {"++i", "--i", "i += 3", "i -= 3"}) {
          if (may_overflow(index) && leads_away(relation, step.find('-') != step.npos)) continue;
          to.add("", "for (" + index + " i = a.as<" + index + ">(); i " + relation + " b.as<" + bound + ">(); " + step +
                         ")");
        }
}

class chooser {
 public:
  explicit chooser(unsigned seed) : m_random(seed) {}
  const std::string& of(const texts& all) { return all[m_random() % all.size()]; }
  bool once_in(unsigned n) { return m_random() % n == 0; }

 private:
  std::mt19937 m_random;
};

void random(writer& to, unsigned seed, std::size_t count) {
  chooser choose(seed);
  const texts indices = {
      "signed char",  "unsigned char", "char",          "short",     "unsigned short",     "int",
      "unsigned",     "long",          "unsigned long", "long long", "unsigned long long", "char16_t",
      "char32_t",     "char8_t",       "wchar_t",       "counter",   "distance",           "std::size_t",
      "std::int64_t", "std::uint8_t",  "std::ptrdiff_t"};
  const std::string before =
      "  [[maybe_unused]] const auto n = b.as<int>();\n  [[maybe_unused]] const auto u = b.as<unsigned>();\n"
      "  [[maybe_unused]] const auto s = b.as<short>();\n  [[maybe_unused]] const auto l = b.as<long>();\n"
      "  [[maybe_unused]] const auto z = b.as<std::size_t>();\n  [[maybe_unused]] const auto f = b.as<float>();\n"
      "  [[maybe_unused]] const auto d = b.as<double>();\n  [[maybe_unused]] const double& r = d;\n"
      "  [[maybe_unused]] const colours e = b.number > 0 ? blue : red;\n"
      "  [[maybe_unused]] const bits few = {b.as<unsigned>() & 7, -3};\n  [[maybe_unused]] const volatile int v = n;\n"
      "  [[maybe_unused]] int k = 2;\n  [[maybe_unused]] unsigned ku = 3;\n  [[maybe_unused]] const long kl = 5;\n"
      "  [[maybe_unused]] const signed char kc = 1;\n";
  const texts bounds = {"n",
                        "u",
                        "s",
                        "l",
                        "z",
                        "f",
                        "d",
                        "r",
                        "e",
                        "v",
                        "n + 1",
                        "n - 1u",
                        "0.5 * n",
                        "n / 2.0f",
                        "-n",
                        "~n",
                        "+s",
                        "f * 2",
                        "(short)n",
                        "(unsigned char)u",
                        "u + 0.25",
                        "n - 3.5L",
                        "few.few",
                        "few.some",
                        "e + 1",
                        "'z' + few.few",
                        "(n ? n : u)",
                        "z - 1",
                        "sizeof(int) * s",
                        "true + n",
                        "(n, u)",
                        "char16_t(n)",
                        "0x1p3 * f",
                        "1'000 - n",
                        "static_cast<long>(d)",
                        "b.as<long double>()",
                        "n % 7",
                        "u >> 1",
                        "n << 2",
                        "(l & 0xff)",
                        "!n",
                        "5u - n"};
  const texts firsts = {
      "a.as<int>()", "a.as<unsigned>()", "a.as<double>()", "a.as<signed char>()", "n - 5", "u + 3", "0.5 * n", "green",
      "'a'",         "a.as<long>()"};
  while (to.count() < count) {
    const std::string index = choose.of(indices);
    const std::string relation = choose.of(relations);
    bool down = choose.once_in(2);
    if (leads_away(relation, down) && (may_overflow(index) || !choose.once_in(4))) down = !down;
    const std::string by =
        choose.of({"1", "2", "3u", "4l", "k", "ku", "kl", "kc", "7", "'\\2'", "sizeof(short)", "k + 1"});
    std::string step;
    switch (choose.once_in(2) ? 0 : choose.once_in(2) ? 1 : choose.once_in(2) ? 2 : 3) {
      case 0:
        step = choose.once_in(2) ? (down ? "--i" : "++i") : (down ? "i--" : "i++");
        break;
      case 1:
        step = std::string("i ") + (down ? "-=" : "+=") + " " + by;
        break;
      case 2:
        step = std::string("i = i ") + (down ? "- " : "+ ") + (by == "k + 1" ? "(k + 1)" : by);
        break;
      default:
        step = down ? "i -= " + by : "i = " + by + " + i";
        if (!down && by == "k + 1") step = "i = (k + 1) + i";
    }
    const std::string bound = choose.of(bounds);
    static const std::string turned[] = {">", ">=", "<", "<=", "!="};
    std::string condition = "i " + relation + " " + bound;
    if (choose.once_in(3))
      for (std::size_t r = 0; r < relations.size(); ++r)
        if (relations[r] == relation) condition = "(" + bound + ") " + turned[r] + " i";
    const std::string first = choose.of(firsts);
    std::string begin = index + " i = " + first;
    if (choose.once_in(5)) begin = index + " i(" + first + ")";
    if (choose.once_in(5)) begin = index + " i{static_cast<" + index + ">(" + first + ")}";
    const std::string loop = "for (" + begin + "; " + condition + "; " + step + ")";
    std::string shown = loop;
    if (loop.find('\\') != loop.npos) continue;  // no escapes in the list of texts
    if (choose.once_in(8)) {                     // two loops
      const std::string inner = choose.of(indices);
      const std::string upward = choose.once_in(2) ? "<" : "<=";
      to.add(before,
             "for (" + index + " i = " + first + "; i " + upward + " " + bound + "; ++i) for (" + inner + " j = from(" +
                 choose.of(firsts) + "); j " + upward + " " + choose.of(bounds) + "; j++)",
             "{ note(i); note(j); }", " collapse(2)");
      continue;
    }
    to.add(before, loop);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  writer to;
  if (what == "table")
    table(to);
  else if (what == "random" && count == 4)
    random(to, static_cast<unsigned>(std::atoi(words[2])), static_cast<std::size_t>(std::atoi(words[3])));
  else
    return 2;
  to.end();
}
