#pragma once
// Integer polynomials over names: what subscripts are made of. Pure.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::directive {

/// A sum of products of names, with integer coefficients: 3*i*m + j - 1.
class polynomial {
 public:
  /// The names of a product, sorted; none: a constant.
  using product = std::vector<std::string>;

  /// A number.
  static polynomial constant(std::int64_t value);
  /// A name, or any text that stands for a number.
  static polynomial name(const std::string& text);

  friend polynomial operator+(const polynomial& a, const polynomial& b);
  friend polynomial operator-(const polynomial& a, const polynomial& b);
  friend polynomial operator*(const polynomial& a, const polynomial& b);
  friend bool operator==(const polynomial&, const polynomial&) = default;

  const std::map<product, std::int64_t>& terms() const noexcept { return m_terms; }
  std::int64_t coefficient(const product& of) const;  ///< 0: it is not there
  bool is_constant() const;                           ///< zero is one, too
  std::int64_t constant_part() const { return coefficient({}); }
  bool has(const std::string& name) const;
  /// As C; names that are not plain stand in parentheses.
  std::string text() const;

 private:
  void add(const product& of, std::int64_t coefficient);
  std::map<product, std::int64_t> m_terms;  // none of them zero
};

}  // namespace tessera::directive
