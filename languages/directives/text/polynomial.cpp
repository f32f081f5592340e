#include "languages/directives/text/polynomial.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace tessera::directive {

polynomial polynomial::constant(std::int64_t value) {
  polynomial made;
  made.add({}, value);
  return made;
}

polynomial polynomial::name(const std::string& text) {
  polynomial made;
  made.add({text}, 1);
  return made;
}

void polynomial::add(const product& of, std::int64_t coefficient) {
  const auto at = m_terms.try_emplace(of, 0).first;
  at->second += coefficient;
  if (at->second == 0) m_terms.erase(at);
}

polynomial operator+(const polynomial& a, const polynomial& b) {
  polynomial sum = a;
  for (const auto& [of, coefficient] : b.m_terms) sum.add(of, coefficient);
  return sum;
}

polynomial operator-(const polynomial& a, const polynomial& b) { return a + polynomial::constant(-1) * b; }

polynomial operator*(const polynomial& a, const polynomial& b) {
  polynomial made;
  for (const auto& [left, x] : a.m_terms)
    for (const auto& [right, y] : b.m_terms) {
      polynomial::product of;
      std::ranges::merge(left, right, std::back_inserter(of));
      made.add(of, x * y);
    }
  return made;
}

std::int64_t polynomial::coefficient(const product& of) const {
  const auto found = m_terms.find(of);
  return found == m_terms.end() ? 0 : found->second;
}

bool polynomial::is_constant() const {
  return std::ranges::all_of(m_terms, [](const auto& term) { return term.first.empty(); });
}

bool polynomial::has(const std::string& name) const {
  return std::ranges::any_of(m_terms, [&](const auto& term) { return std::ranges::count(term.first, name) != 0; });
}

std::string polynomial::text() const {
  const auto plain = [](const std::string& name) {
    return std::ranges::all_of(name,
                               [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  };
  std::string made;
  for (const auto& [of, coefficient] : m_terms) {
    const std::int64_t size = coefficient < 0 ? -coefficient : coefficient;
    made += made.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + ");
    if (size != 1 || of.empty()) made += std::to_string(size) + (of.empty() ? "" : " * ");
    for (std::size_t k = 0; k < of.size(); ++k)
      made += (k == 0 ? "" : " * ") + (plain(of[k]) ? of[k] : "(" + of[k] + ")");
  }
  return made.empty() ? "0" : made;
}

}  // namespace tessera::directive
