// The programs in docs/sial.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "languages/sial/language/token.hpp"
#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

std::string manual() {
  std::ifstream stream(TESSERA_SOURCE_DIR "/docs/sial.md");
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Its ```sial blocks; a name behind the word names the file. Others are called by their number.
files examples() {
  files all;
  std::string name, text;
  for (const std::string& line : split_lines(manual())) {
    if (name.empty() && line.starts_with("```sial")) {
      name = line.size() > 8 ? line.substr(8) : std::to_string(all.size());
      text.clear();
    } else if (line == "```" && !name.empty()) {
      all[name] = text, name.clear();
    } else if (!name.empty()) {
      text += line + "\n";
    }
  }
  return all;
}

TEST(sial_manual, every_example_is_a_program) {
  const files all = examples();
  EXPECT_GE(all.size(), 13u);
  for (const auto& [name, text] : all) {
    const compiled c = compile(name, in_memory(all));
    const bool imported = name.ends_with(".sialx");  // others use what it declares
    EXPECT_TRUE(c.result && (imported || c.messages.empty())) << text << to_text(c.messages, c.sources);
  }
}

TEST(sial_manual, names_every_reserved_word_and_no_other) {
  const std::string text = manual();
  const auto from = text.find('`', text.find("Reserved words cannot be names:")) + 1;
  std::string list = text.substr(from, text.find('`', from) - from), word;
  std::size_t count = 0;
  for (const char c : list + " ") {
    if (c != ' ' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      EXPECT_TRUE(is_reserved(word)) << word;
      ++count, word.clear();
    }
  }
  EXPECT_EQ(count, 70u);
}

}  // namespace
}  // namespace tessera::sial::test
