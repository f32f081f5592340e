// Names, declarations and control flow that mean nothing: what is said, and where ('@').
#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

class sial_refuses_declaration : public testing::TestWithParam<rejected> {};
TEST_P(sial_refuses_declaration, line) {
  EXPECT_EQ(error_at_mark(declarations + GetParam().text + "\nendsial t\n"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    meaning, sial_refuses_declaration,
    testing::Values(
        rejected{"scalar @X", "'x' is declared already, in line 14"},
        rejected{"int @t", "'t' is the name of this program"},
        rejected{"temp @p[i]", "'p' is declared already, in line 42"},
        rejected{"proc @x\nendproc x", "'x' is declared already, in line 14"},
        rejected{"temp aa[i,@jj]", "'jj' is not declared (did you mean 'j'?)"},
        rejected{"temp aa[@n]", "'n' is an int, not an index"},
        rejected{"temp aa[@later]\nindex later = 1:2", "'later' is used before its declaration in line 46"},
        rejected{"aoindex bb = @0:2", "segment numbers begin at 1, not 0"},
        rejected{"aoindex bb = 1:@0", "segment numbers begin at 1, not 0"},
        rejected{"aoindex bb = @3:2", "the range 3:2 is empty (the lower bound stands first)"},
        rejected{"index bb = @0:-1", "the range 0:-1 is empty (the lower bound stands first)"},
        rejected{"index bb = 1:@m",
                 "'m' is not predefined: a bound is an integer or a predefined int (declare it 'predefined int m')"},
        rejected{"index bb = 1:@x", "'x' is a scalar, not an int"},
        rejected{"subindex bb of @s", "'s' is a simple index: it has no segments to divide"},
        rejected{"subindex bb of @ii", "'ii' is a subindex: it has no segments to divide"},
        rejected{"subindex bb of @n", "'n' is an int, not an index"},
        rejected{"special g @rx",
                 "'x' is no letter of a signature (r: read, w: written, u: updated; one letter an argument)"},
        rejected{"@predefined temp aa[i]", "'predefined' stands before int, scalar and static, not temp"}));

class sial_refuses_statement : public testing::TestWithParam<rejected> {};
TEST_P(sial_refuses_statement, line) {
  EXPECT_EQ(error_at_mark(declarations + GetParam().text + "\nendsial t\n"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    loops, sial_refuses_statement,
    testing::Values(
        rejected{"do @n\nenddo n", "'n' is an int, not an index"},
        rejected{"do @q9\nenddo q9", "'q9' is not declared (did you mean 'q'?)"},
        rejected{"do @ii\nenddo ii", "'ii' is a subindex: it runs within its parent (write 'do ii in i')"},
        rejected{"do ii in @i\nenddo ii in i",
                 "index 'i' has no value here (a loop 'do i' or 'pardo i' around it gives it one)"},
        rejected{"do j\ndo @ii in j\nenddo ii in j\nenddo j", "'ii' is no subindex of 'j'"},
        rejected{"do i\ndo @j in i\nenddo j in i\nenddo i", "'j' is no subindex of 'i'"},
        rejected{"do i\ndo @i\nenddo i\nenddo i",
                 "a loop over 'i' is around this one already (nested loops have different indices)"},
        rejected{"pardo i\ndo @i\nenddo i\nendpardo i",
                 "a loop over 'i' is around this one already (nested loops have different indices)"},
        rejected{"pardo i, @i\nendpardo i, i", "'i' is twice an index of this pardo"},
        rejected{"pardo @ii\nendpardo ii", "'ii' is a subindex: it runs within its parent (write 'do ii in i')"},
        rejected{"pardo i,j,k,l,a,s,@r\nendpardo i,j,k,l,a,s,r", "a pardo has 6 indices at most"},
        rejected{"pardo i\n@pardo j\nendpardo j\nendpardo i", "a pardo stands in no other pardo"},
        rejected{"pardo i\n@sip_barrier\nendpardo i", "'sip_barrier' stands in no pardo"},
        rejected{"pardo i\nif n == 1\n@server_barrier\nendif\nendpardo i", "'server_barrier' stands in no pardo"},
        rejected{"pardo i\ndo j\n@create d\nenddo j\nendpardo i", "'create' stands in no pardo"},
        rejected{"section\n@x = 1.0\nendsection", "a section holds pardos only"},
        rejected{"section\n@do i\nenddo i\nendsection", "a section holds pardos only"},
        rejected{"@exit", "'exit' stands in a loop only"},
        rejected{"if n == 1\n@exit\nendif", "'exit' stands in a loop only"},
        rejected{"@return",
                 "'return' stands in a procedure only ('exit' leaves a loop, 'stop' ends the job with an error)"},
        rejected{"do i\n@return\nenddo i",
                 "'return' stands in a procedure only ('exit' leaves a loop, 'stop' ends the job with an error)"},
        rejected{"do i\nwhere x @< 2.0\nenddo i", "'where' compares ints, not scalars"},
        rejected{"do i\nwhere n @< 2\nenddo i", "no index in this 'where' (it chooses among the values of indices)"},
        rejected{"do i\nwhere @j < i\nenddo i",
                 "index 'j' has no value here (a loop 'do j' or 'pardo j' around it gives it one)"},
        rejected{"do i\nwhere i @< 2.0\nenddo i", "'<' compares an int with a scalar (write (scalar)n or (int)x)"},
        rejected{"if x @== n\nendif", "'==' compares a scalar with an int (write (scalar)n or (int)x)"}));

INSTANTIATE_TEST_SUITE_P(
    names, sial_refuses_statement,
    testing::Values(
        rejected{"@xx = 1.0", "'xx' is not declared (did you mean 'x'?)"},
        rejected{"x = @i", "index 'i' has no value here (a loop 'do i' or 'pardo i' around it gives it one)"},
        rejected{"print @i", "index 'i' has no value here (a loop 'do i' or 'pardo i' around it gives it one)"},
        rejected{"t1[@i,j] = 0.0", "index 'i' has no value here (a loop 'do i' or 'pardo i' around it gives it one)"},
        rejected{"get d[@i,j]", "index 'i' has no value here (a loop 'do i' or 'pardo i' around it gives it one)"},
        rejected{"call @x", "'x' is a scalar, not a procedure"}, rejected{"call @nothing", "'nothing' is not declared"},
        rejected{"execute @p", "'p' is a procedure, not a super instruction"},
        rejected{"x = @t", "'t' is the name of a program, not a number"},
        rejected{"@p = 1.0", "'p' is a procedure: nothing can be assigned to it"},
        rejected{"do i\n@i = 2\nenddo i",
                 "'i' is an index: nothing can be assigned to it (loops give indices their values)"},
        rejected{"@st = 0.0",
                 "the whole array 'st' cannot be assigned to (assign its blocks, in loops over its indices)"},
        rejected{"x = @st", "'st' is an array, not a number (a block of it is written with subscripts: a[i,j])"},
        rejected{"@other.x = 1.0", "no program 'other' is imported here"},
        rejected{"@t.xx = 1.0", "program 't' declares no 'xx' (did you mean 't.x'?)"}));

class sial_refuses_program : public testing::TestWithParam<rejected> {};
TEST_P(sial_refuses_program, text) { EXPECT_EQ(error_at_mark(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    procedures, sial_refuses_program,
    testing::Values(
        rejected{
            "sial q\nindex s = 1:2\nproc a\npardo s\nendpardo s\nendproc a\nproc b\ncall a\nendproc b\nindex r = "
            "1:2\npardo r\ncall @b\nendpardo r\nendsial q",
            "'pardo' in procedure 'b' stands in no pardo, and this call is in one (it is in line 4 of main.sialx)"},
        rejected{"sial q\nindex s = 1:2\nproc a\nsip_barrier\nendproc a\npardo s\ncall @a\nendpardo s\nendsial q",
                 "'sip_barrier' in procedure 'a' stands in no pardo, and this call is in one (it is in line 4 of "
                 "main.sialx)"},
        rejected{
            "sial q\nindex s = 1:2\nproc a\npardo s\ncall @a\nendpardo s\nendproc a\nendsial q",
            "'pardo' in procedure 'a' stands in no pardo, and this call is in one (it is in line 4 of main.sialx)"},
        rejected{"sial q\nproc a\ncall @b\nendproc a\nproc b\nendproc b\nendsial q",
                 "'b' is used before its declaration in line 5"},
        rejected{"sial q\nindex s = 1:2\nproc a\n@exit\nendproc a\ndo s\ncall a\nenddo s\nendsial q",
                 "'exit' stands in a loop only (the loop is in the same procedure; 'return' leaves the procedure)"},
        rejected{"sial q\nproc a\nendproc a\nproc @a\nendproc a\nendsial q", "'a' is declared already, in line 2"}));

}  // namespace
}  // namespace tessera::sial::test
