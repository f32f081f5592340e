// "t = A * B" and "X += t" become one statement where nobody looks at t afterwards, and only there.
#include <gtest/gtest.h>

#include <algorithm>

#include "languages/sial/code/code.hpp"
#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

code code_of(const std::string& statements, const std::string& procedures = "") {
  const compiled c = compile_text(declarations + procedures + statements + "endsial t\n");
  if (!c.result) throw std::runtime_error(to_text(c.messages, c.sources));
  return lower(*c.result);
}

/// Statements of block arithmetic: "t1+=product t2=copy".
std::string blocks_of(const code& c) {
  std::string text;
  for (const step& s : c.steps) {
    const char* const name = s.operation == opcode::block_product ? "product"
                             : s.operation == opcode::block_copy  ? "copy"
                             : s.operation == opcode::block_scale ? "scale"
                                                                  : nullptr;
    if (name == nullptr) continue;
    const block_operation& o = c.block_operations[s.b];
    text += (text.empty() ? "" : " ") + c.arrays[c.references[o.to].array].name;
    text += o.assignment == assign::set ? "=" : o.assignment == assign::add ? "+=" : "-=";
    text += name;
  }
  return text;
}

TEST(sial_accumulations, of_products_scalings_and_copies_are_one_statement) {
  const auto in_loops = [](const std::string& inside) {
    return blocks_of(code_of("pardo i, j, k\n" + inside + "endpardo i, j, k\n"));
  };
  const std::string begin = "ik[i,k] = 1.0\nkj[k,j] = 1.0\nt2[i,j] = 0.0\n";
  EXPECT_EQ(in_loops(begin + "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\n"), "t2+=product");
  EXPECT_EQ(in_loops(begin + "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] -= t1[i,j]\n"), "t2-=product");
  EXPECT_EQ(in_loops("tr[j,i] = 0.0\n" + begin + "t1[i,j] = ik[i,k] * kj[k,j]\ntr[j,i] += t1[i,j]\n"), "tr+=product");
  EXPECT_EQ(in_loops(begin + "t1[i,j] = 2.0 * t2[i,j]\nt2[i,j] += t1[i,j]\n"), "t2+=scale");
  EXPECT_EQ(in_loops("tr[j,i] = 1.0\n" + begin + "t1[i,j] = tr[j,i]\nt2[i,j] -= t1[i,j]\n"), "t2-=copy");
  EXPECT_EQ(in_loops(begin + "t1[i,j] = ik[i,k] * kj[k,j]\nst[i,j] += t1[i,j]\n"), "st+=product");
  EXPECT_EQ(in_loops(begin +
                     "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\nt1[i,j] = 2.0 * t2[i,j]\nt2[i,j] += t1[i,j]\n"),
            "t2+=product t2+=scale");
}

TEST(sial_accumulations, of_blocks_that_are_read_again_stay_two) {
  const auto in_loops = [](const std::string& inside) {
    return blocks_of(
        code_of("pardo i, j, k\nik[i,k] = 1.0\nkj[k,j] = 1.0\nt2[i,j] = 0.0\n" + inside + "endpardo i, j, k\n"));
  };
  const std::string pair = "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\n", two = "t1=product t2+=copy";
  EXPECT_EQ(in_loops(pair + "x = t1[i,j] * t2[i,j]\n"), two);
  EXPECT_EQ(in_loops(pair + "t1[i,j] *= 2.0\n"), two);
  EXPECT_EQ(in_loops(pair + "if i < j\nt1[i,j] = 0.0\nendif\nx = t1[i,j] * t1[i,j]\n"), two);
  EXPECT_EQ(in_loops(pair + "do l\nx = t1[i,j] * t1[i,j]\nenddo l\n"), two);
  EXPECT_EQ(in_loops(pair + "t2[i,j] += t1[i,j]\n"), two + " t2+=copy");
  EXPECT_EQ(in_loops("t1[i,j] = ik[i,k] * kj[k,j]\nx = 1.0\nt2[i,j] += t1[i,j]\n"), two) << "not one behind the other";
  EXPECT_EQ(in_loops("t1[i,j] = 0.0\n"
                     "t1[i,j] += ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\n"),
            "t1+=product t2+=copy")
      << "no assignment";
}

TEST(sial_accumulations, of_blocks_that_may_live_outside_of_the_loop_stay_two) {
  const std::string two = "t1=product t2+=copy";
  const std::string pair = "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\n", begin = "pardo i, j\nt2[i,j] = 0.0\n";
  const std::string fill = "ik[i,k] = 1.0\nkj[k,j] = 1.0\n";
  EXPECT_EQ(blocks_of(code_of(begin + "do k\n" + fill + pair + "enddo k\nendpardo i, j\n")), "t2+=product");
  EXPECT_EQ(blocks_of(code_of(begin + "t1[i,j] = 0.0\ndo k\n" + fill + pair +
                              "enddo k\nx = t1[i,j] * t2[i,j]\nendpardo i, j\n")),
            two);
  EXPECT_EQ(blocks_of(code_of(begin + "do k\n" + fill + pair +
                              "enddo k\ndo k\nt1[i,j] = 1.0\nx = t1[i,j] * t2[i,j]\nenddo k\nendpardo i, j\n")),
            "t2+=product")
      << "another loop has its own";
}

TEST(sial_accumulations, of_arrays_that_procedures_name_stay_two) {
  const std::string fill = "pardo i, j, k\nik[i,k] = 1.0\nkj[k,j] = 1.0\nt2[i,j] = 0.0\n";
  const std::string pair = "t1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += t1[i,j]\n";
  EXPECT_EQ(blocks_of(code_of(fill + pair + "call look\nendpardo i, j, k\n",
                              "proc look\nx = t1[i,j] * t2[i,j]\nendproc look\n")),
            "t1=product t2+=copy");
  EXPECT_EQ(blocks_of(code_of(fill + pair + "call look\nendpardo i, j, k\n",
                              "proc look\nx = t2[i,j] * t2[i,j]\nendproc look\n")),
            "t2+=product");
}

TEST(sial_accumulations, name_both_statements) {
  const code c = code_of(
      "pardo i, j, k\nik[i,k] = 1.0\nkj[k,j] = 1.0\nt2[i,j] = 0.0\nt1[i,j] = ik[i,k] * kj[k,j]\nt2[i,j] += "
      "t1[i,j]\nendpardo i, j, k\n");
  const auto found = std::ranges::find(c.steps, opcode::block_product, &step::operation);
  ASSERT_NE(found, c.steps.end());
  const block_operation& o = c.block_operations[found->b];
  ASSERT_NE(o.sum_site, nothing);
  EXPECT_EQ(c.sites[o.sum_site].where.line, c.sites[found->site].where.line + 1);
}

}  // namespace
}  // namespace tessera::sial::test
