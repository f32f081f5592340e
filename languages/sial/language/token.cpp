#include "languages/sial/language/token.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace tessera::sial {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

}  // namespace

const std::vector<std::string>& reserved_words() {
  static const std::vector<std::string> words = split(
      "sial endsial import proc endproc call return stop exit cycle if "
      "else endif do enddo in pardo endpardo where section endsection index "
      "aoindex moindex moaindex mobindex laindex subindex of int scalar static temp "
      "local distributed served predefined contiguous sparse special execute get put prepare "
      "request prequest create delete destroy allocate deallocate collective broadcast_from assert_same server_barrier "
      "sip_barrier set_persistent restore_persistent print println print_index print_scalar print_int sqrt gpu_on "
      "gpu_off "
      "gpu_allocate gpu_free gpu_put gpu_get");
  return words;
}

bool is_reserved(std::string_view word) {
  static const std::unordered_set<std::string_view> words(reserved_words().begin(), reserved_words().end());
  return words.contains(word);
}

std::string shown(const token& t) {
  switch (t.kind) {
    case token_kind::int_literal:
      return fmt::format("'{}'", t.i);
    case token_kind::scalar_literal:
      return "a number";
    case token_kind::text:
      return "a text";
    case token_kind::line_end:
      return "the end of the line";
    case token_kind::end:
      return "the end of the file";
    default:
      return "'" + t.text + "'";
  }
}

std::string to_text(const std::vector<token>& tokens) {
  std::string all;
  bool first = true;
  for (const token& t : tokens) {
    if (!first && t.kind != token_kind::line_end && t.kind != token_kind::end) all += ", ";
    first = false;
    switch (t.kind) {
      case token_kind::identifier:
        all += "identifier " + t.text;
        break;
      case token_kind::keyword:
        all += "keyword " + t.text;
        break;
      case token_kind::int_literal:
        all += fmt::format("int {}", t.i);
        break;
      case token_kind::scalar_literal:
        all += fmt::format("scalar {}", t.d);
        break;
      case token_kind::text:
        all += "text \"" + t.text + "\"";
        break;
      case token_kind::mark:
        all += "mark " + t.text;
        break;
      case token_kind::line_end:
        all += "\n", first = true;
        break;
      case token_kind::end:
        break;
    }
  }
  return all;
}

}  // namespace tessera::sial
