// Runs the loops of two sources, as they are written and translated, and compares the indices that they write down.
#include "tests/directives/heads/heads.hpp"

#include <cstdio>
#include <limits>
#include <string>

#include "core/base/error.hpp"

namespace as_written {
extern const std::vector<heads::head> all;
}
namespace translated {
extern const std::vector<heads::head> all;
}

namespace {

constexpr std::size_t many = 300;  // more than numbers of 8 bits have values
std::vector<long double> noted;
std::size_t begun = 0;

struct outcome {
  std::vector<long double> indices;
  std::string refused;
  bool enough = false;
};

outcome run(const heads::head& loop, long double first, long double bound) {
  outcome made;
  noted.clear();
  begun = 0;
  try {
    loop.run({first}, {bound});
  } catch (const heads::enough&) {
    made.enough = true;
  } catch (const tessera::error& e) {
    made.refused = e.message();
  }
  made.indices = noted;
  return made;
}

/// Whether the indices go on in equal steps, as a region's do.
bool is_progression(const std::vector<long double>& indices) {
  for (std::size_t k = 2; k < indices.size(); ++k)
    if (indices[k] - indices[k - 1] != indices[1] - indices[0]) return false;
  return true;
}

}  // namespace

void heads::note(long double index) {
  if (noted.size() == many) throw enough();
  noted.push_back(index);
}

void heads::begin_loop() {
  if (++begun > many) throw enough();
}

int main() {
  constexpr long double firsts[] =
      {-130, -5, -1, 0, 3, 126, 254, 32766, 65530, 2147483640.0L, 4294967290.0L, 9223372036854775800.0L},
                        bounds[] = {-5.5L,
                                    -1,
                                    0,
                                    0.25L,
                                    1,
                                    2.5L,
                                    7,
                                    100,
                                    130,
                                    255,
                                    256,
                                    40000,
                                    65535,
                                    16777217,
                                    2147483647.0L,
                                    4294967295.0L,
                                    9223372036854775807.0L,
                                    std::numeric_limits<long double>::quiet_NaN()};
  std::size_t compared = 0, endless = 0, overflows = 0, around = 0, beyond = 0, wrong = 0;
  for (std::size_t k = 0; k < as_written::all.size(); ++k)
    for (const long double first : firsts)
      for (const long double bound : bounds) {
        const std::string text = as_written::all[k].text;
        const outcome wanted = run(as_written::all[k], first, bound), made = run(translated::all[k], first, bound);
        ++compared;
        if (made.refused.empty() && made.indices == wanted.indices) continue;
        const bool told = !made.refused.empty();
        if (told && wanted.enough && ++endless) continue;
        const bool several = text.find("for (", 1) != std::string::npos;
        const bool jumps =
            several ? made.refused.find("wraps around") != std::string::npos : !is_progression(wanted.indices);
        if (told && jumps && ++around) continue;
        if (told && made.refused.find("leaves the range") != std::string::npos && ++overflows) continue;
        if (told && made.refused.find("64 bits") != std::string::npos && ++beyond) continue;
        if (++wrong <= 20)
          std::printf("wrong: %s with %Lg and %Lg: %zu indices from %Lg, and not %zu from %Lg; %s\n", text.c_str(),
                      first, bound, made.indices.size(), made.indices.empty() ? 0 : made.indices.front(),
                      wanted.indices.size(), wanted.indices.empty() ? 0 : wanted.indices.front(), made.refused.c_str());
      }
  std::printf(
      "%zu heads, %zu runs. Refused: %zu endless, %zu that wrap around and go on, %zu that leave their range, %zu that "
      "leave "
      "the numbers of a region. Wrong: %zu\n",
      as_written::all.size(), compared, endless, around, overflows, beyond, wrong);
  return wrong == 0 ? 0 : 1;
}
