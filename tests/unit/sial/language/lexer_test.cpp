#include <gtest/gtest.h>

#include "languages/sial/language/token.hpp"

namespace tessera::sial {
namespace {

std::string tokens_of(const std::string& text) {
  message_list messages;
  std::string dump = to_text(lex(text, 0, messages));
  for (const message& m : messages.take())
    dump += std::to_string(m.where.line) + ":" + std::to_string(m.where.column) + " " + m.text + "\n";
  return dump;
}

TEST(sial_lexer, words_numbers_texts_and_marks) {
  EXPECT_EQ(tokens_of("X_1 = Defs.Norb"), "identifier x_1, mark =, identifier defs.norb\n");
  EXPECT_EQ(tokens_of("DO EndDo sip_BARRIER"), "keyword do, keyword enddo, keyword sip_barrier\n");
  EXPECT_EQ(tokens_of("12 1. 1.5 .5 0"), "int 12, scalar 1, scalar 1.5, scalar 0.5, int 0\n");
  EXPECT_EQ(tokens_of("\"Mixed Case # kept\" # gone"), "text \"Mixed Case # kept\"\n");
  EXPECT_EQ(tokens_of("a**b*c^d/e+f-g"),
            "identifier a, mark **, identifier b, mark *, identifier c, mark ^, identifier d, mark /, "
            "identifier e, mark +, identifier f, mark -, identifier g\n");
  EXPECT_EQ(tokens_of("+= -= *= == != <= >= < > = ( ) [ ] , :"),
            "mark +=, mark -=, mark *=, mark ==, mark !=, mark <=, mark >=, mark <, mark >, mark =, mark (, mark ), "
            "mark [, mark ], mark "
            ",, mark :\n");
}

TEST(sial_lexer, every_reserved_word_is_one) {
  for (const char* word : {"sial",
                           "endsial",
                           "import",
                           "proc",
                           "endproc",
                           "call",
                           "return",
                           "stop",
                           "exit",
                           "cycle",
                           "if",
                           "else",
                           "endif",
                           "do",
                           "enddo",
                           "in",
                           "pardo",
                           "endpardo",
                           "where",
                           "section",
                           "endsection",
                           "index",
                           "aoindex",
                           "moindex",
                           "moaindex",
                           "mobindex",
                           "laindex",
                           "subindex",
                           "of",
                           "int",
                           "scalar",
                           "static",
                           "temp",
                           "local",
                           "distributed",
                           "served",
                           "predefined",
                           "contiguous",
                           "sparse",
                           "special",
                           "execute",
                           "get",
                           "put",
                           "prepare",
                           "request",
                           "prequest",
                           "create",
                           "delete",
                           "destroy",
                           "allocate",
                           "deallocate",
                           "collective",
                           "broadcast_from",
                           "assert_same",
                           "server_barrier",
                           "sip_barrier",
                           "set_persistent",
                           "restore_persistent",
                           "print",
                           "println",
                           "print_index",
                           "print_scalar",
                           "print_int",
                           "sqrt",
                           "gpu_on",
                           "gpu_off",
                           "gpu_allocate",
                           "gpu_free",
                           "gpu_put",
                           "gpu_get"})
    EXPECT_EQ(tokens_of(word), std::string("keyword ") + word + "\n");
  EXPECT_EQ(tokens_of("persistent scoped"), "identifier persistent, identifier scoped\n");
}

TEST(sial_lexer, lines_end_with_LF_CR_or_CRLF_and_blank_ones_vanish) {
  EXPECT_EQ(tokens_of("\n\r\n  a\r\n\r\nb\rc\n\n\fd\t"), "identifier a\nidentifier b\nidentifier c\nidentifier d\n");
  EXPECT_EQ(tokens_of(""), "");
  EXPECT_EQ(tokens_of("# only\n \n"), "");
  message_list messages;
  const auto tokens = lex("a\r\n  b\rc", 7, messages);
  EXPECT_EQ(tokens[2].where, (place{7, 2, 3}));
  EXPECT_EQ(tokens[4].where, (place{7, 3, 1}));
}

struct refused {
  const char *text, *expected;
};
void PrintTo(const refused& r, std::ostream* out) { *out << r.text; }
class sial_lexer_refuses : public testing::TestWithParam<refused> {};

TEST_P(sial_lexer_refuses, text) {
  const std::string all = tokens_of(GetParam().text);
  EXPECT_EQ(all.substr(all.rfind('\n', all.size() - 2) + 1), GetParam().expected + std::string("\n"));
}

INSTANTIATE_TEST_SUITE_P(forms, sial_lexer_refuses,
                         testing::Values(refused{"a = \xC3\xA9", "1:5 byte 0xC3 is not 7-bit ASCII"},
                                         refused{"# \xE4", "1:3 byte 0xE4 is not 7-bit ASCII"},
                                         refused{"\"\xE4\"", "1:2 byte 0xE4 is not 7-bit ASCII"},
                                         refused{"x = 1.5e3", "1:5 '1.5e3' is not a number"},
                                         refused{"2x", "1:1 '2x' is not a number"},
                                         refused{"1.2.3", "1:1 '1.2.3' is not a number"},
                                         refused{"a\n \"open", "2:2 this text has no closing quote"},
                                         refused{"a ; b", "1:3 ';' is not a character of the language"},
                                         refused{"_a", "1:1 '_' is not a character of the language"},
                                         refused{"a . b", "1:3 a dot stands alone"},
                                         refused{"a.b.c", "1:1 a qualified name has two parts"},
                                         refused{"a.if", "1:1 'if' is a reserved word"},
                                         refused{"a \x01", "1:3 character 0x01 is not one of the language"},
                                         refused{"a\v", "1:2 character 0x0B is not one of the language"},
                                         refused{"9223372036854775808", "1:1 this integer does not fit into 64 bits"}));

TEST(sial_lexer, the_largest_numbers) {
  EXPECT_EQ(tokens_of("9223372036854775807"), "int 9223372036854775807\n");
  EXPECT_EQ(tokens_of(std::string(400, '9') + "."), "scalar 0\n1:1 this number is too large\n");
  EXPECT_EQ(tokens_of("." + std::string(400, '0') + "1"), "scalar 0\n");
}

}  // namespace
}  // namespace tessera::sial
