// The files for editors highlight the words that the language reserves, each once.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "languages/sial/language/token.hpp"

namespace tessera::sial {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/languages/sial/editors/" + path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> sorted(std::vector<std::string> words) {
  std::ranges::sort(words);
  return words;
}

/// The words of all lists that `list` matches, whose first group is the list.
std::vector<std::string> words_of(const std::string& text, const std::regex& list, const std::regex& separator) {
  std::vector<std::string> words;
  for (std::sregex_iterator one(text.begin(), text.end(), list), end; one != end; ++one) {
    const std::string all = (*one)[1];
    words.insert(words.end(), std::sregex_token_iterator(all.begin(), all.end(), separator, -1), {});
  }
  return sorted(std::move(words));
}

TEST(sial_editors, vim_highlights_every_reserved_word) {
  EXPECT_EQ(words_of(contents("vim/syntax/sial.vim"), std::regex("syntax keyword \\w+ ([^\n]*)"), std::regex(" ")),
            sorted(reserved_words()));
}

TEST(sial_editors, vs_code_highlights_every_reserved_word) {
  EXPECT_EQ(words_of(contents("vscode/syntaxes/sial.tmLanguage.json"), std::regex("\\(\\?i\\)\\\\\\\\b\\(([^)]*)\\)"),
                     std::regex("\\|")),
            sorted(reserved_words()));
}

}  // namespace
}  // namespace tessera::sial
