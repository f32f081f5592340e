// The exact text of every form of print, and of odd source texts.
#include <gtest/gtest.h>

#include <algorithm>

#include "jobs.hpp"

namespace tessera {
namespace {

using testing::common_data;
using testing::run_text;

TEST(sial_printing, every_form) {
  const std::string text =
      "sial printing\n"                    // 1
      "int n = 5\n"                        // 2
      "scalar x = 2.5\n"                   // 3
      "index k = 2:2\n"                    // 4
      "moindex i = 2:3\n"                  // 5
      "moindex one = 1:1\n"                // 6
      "static s[i, k]\n"                   // 7
      "static v[k]\n"                      // 8
      "temp t[one, i]\n"                   // 9
      "temp u[one, k]\n"                   // 10
      "contiguous local c[i, k]\n"         // 11
      "print \"Text, with Capitals\"\n"    // 12
      "println \"text\"\n"                 // 13
      "PRINT X\n"                          // 14
      "println x\n"                        // 15
      "print n\n"                          // 16
      "println n\n"                        // 17
      "print x * 2.0\n"                    // 18
      "print n + 1\n"                      // 19
      "print \"\"\n"                       // 20
      "do k\n"                             // 21
      "print k\n"                          // 22
      "v[k] = 0.25\n"                      // 23
      "print v[k]\n"                       // 24
      "print v[k] + 1.0\n"                 // 25
      "do one\n"                           // 26
      "u[one,k] = 2.0\n"                   // 27
      "print u[one,k]\n"                   // 28
      "println u[one,k]\n"                 // 29
      "do i\n"                             // 30
      "where i == 2\n"                     // 31
      "t[one,i] = 1.5\n"                   // 32
      "print t[one,i]\n"                   // 33
      "s[i,k] = 1.5\n"                     // 34
      "println s[i,k]\n"                   // 35
      "enddo i\n"                          // 36
      "enddo one\n"                        // 37
      "enddo k\n"                          // 38
      "print s\n"                          // 39
      "println s\n"                        // 40
      "allocate contiguous c[2:3, 2:2]\n"  // 41
      "print c[3:3, 2:2]\n"                // 42
      "println c[2:3, 2:n - 3]\n"          // 43
      "endsial printing\n";
  const std::string expected =
      "Text, with Capitals\n"
      "text\n\n"
      "14:  x = 2.50000000000000\n"
      "15:  x = 2.50000000000000\n\n"
      "16:  n = 5\n"
      "17:  n = 5\n\n"
      "5.00000000000000\n"
      "6\n"
      "22:  k = 2\n"
      "0.25000000000000\n"
      "1.25000000000000\n"
      "28:  u[1,2] = 2.00000000000000\n"
      "29:  u[1,2] = 2.00000000000000\n\n"
      "33:  printing 2 of 2 elements of block t[1,2] in the order stored in memory \n1.5 \n1.5 \n"
      "35:  printing 2 of 2 elements of block s[2,2] in the order stored in memory \n1.5 1.5 \n\n"
      "39:  printing 5 of 5 elements of contiguous array s in the order stored in memory \n1.5 1.5 0 0 0 \n"
      "40:  printing 5 of 5 elements of contiguous array s in the order stored in memory \n1.5 1.5 0 0 0 \n\n"
      "42:  printing 3 of 3 elements of block c[3,2] in the order stored in memory \n0 0 0 \n"
      "43:  printing 5 of 5 elements of block c[2:3,2] in the order stored in memory \n0 0 0 0 0 \n\n";
  for (const unsigned workers : {1u, 2u, 4u})
    EXPECT_EQ(run_text(text, common_data(), workers).printed, expected) << workers;
}

TEST(sial_printing, all_workers_print_while_that_is_enabled) {
  const std::string text =
      "sial printing\nspecial enable_all_rank_print\nspecial disable_all_rank_print\n"
      "print \"one\"\nsip_barrier\nexecute enable_all_rank_print\nsip_barrier\nprint \"all\"\nsip_barrier\nexecute "
      "disable_all_rank_print\nsip_barrier\n"
      "print \"one again\"\nendsial printing\n";
  for (const unsigned workers : {1u, 2u, 4u}) {
    std::string expected = "one\n";
    for (unsigned w = 0; w < workers; ++w) expected += "all\n";
    EXPECT_EQ(run_text(text, common_data(), workers).printed, expected + "one again\n") << workers;
  }
}

TEST(sial_printing, odd_texts) {
  EXPECT_EQ(run_text("sial empty\nendsial empty", common_data(), 3).printed, "");
  EXPECT_EQ(run_text("\n\n# comment\n\tSIAL  Crlf\r\n\r\n INT\tn=3 # three\r\nprint\fn\r\n\n\nendsial crlf   # end",
                     common_data(), 2)
                .printed,
            "7:  n = 3\n");
  EXPECT_EQ(run_text("sial cr\rscalar x = 1.\rprint x\rendsial cr\r", common_data(), 2).printed,
            "3:  x = 1.00000000000000\n");
  EXPECT_EQ(run_text("sial s\nprint \"# no comment, 'quotes', Case\"\nendsial s\n", common_data(), 1).printed,
            "# no comment, 'quotes', Case\n");
}

TEST(sial_printing, a_block_ends_at_a_million_elements) {
  sial::init_data data;
  data.segments[sial::index_kind::mo] = {1001};
  const std::string printed = run_text(
                                  "sial big\nmoindex i = 1:1\nmoindex j = 1:1\ntemp t[i, j]\ndo i\ndo j\nt[i,j] = "
                                  "1.0\nprint t[i,j]\nenddo j\nenddo i\nendsial big\n",
                                  data, 1)
                                  .printed;
  EXPECT_EQ(printed.substr(0, printed.find('\n')),
            "8:  printing 1000000 of 1002001 elements of block t[1,1] in the order stored in memory ");
  EXPECT_TRUE(printed.ends_with("1 \n....\n")) << printed.substr(printed.size() - 20);
  EXPECT_EQ(std::ranges::count(printed.substr(printed.find('\n')), '1'), 1'000'000);
}

}  // namespace
}  // namespace tessera
