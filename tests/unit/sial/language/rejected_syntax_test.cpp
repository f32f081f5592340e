// Forms that are no program: what is said, and where ('@').
#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

class sial_rejects_declaration : public testing::TestWithParam<rejected> {};
TEST_P(sial_rejects_declaration, line) {
  EXPECT_EQ(error_at_mark(declarations + GetParam().text + "\nendsial t\n"), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    syntax, sial_rejects_declaration,
    testing::Values(
        rejected{"scalar @if", "expected a name for the scalar, not the reserved word 'if'"},
        rejected{"scalar @1", "expected a name for the scalar, not '1'"},
        rejected{"scalar @a.b", "'a.b' cannot be declared: a declared name has no dot"},
        rejected{"int aa@, bb", "one name is declared a line"},
        rejected{"int aa = @1.0", "expected an integer, not a number (an initial value is a literal)"},
        rejected{"int aa = @-1", "an initial value has no sign (assign the value in the first statement)"},
        rejected{"scalar aa = @1", "expected a number with a decimal point, not '1' (write 1.0)"},
        rejected{"scalar aa = @x", "expected a number with a decimal point, not 'x' (an initial value is a literal)"},
        rejected{"temp aa@", "expected '[' after the name of the array, not the end of the line"},
        rejected{"temp aa[@]", "expected an index, not ']'"},
        rejected{"temp aa[i@;j]", "';' is not a character of the language (a statement ends with its line)"},
        rejected{"temp aa[i,@1]", "expected an index, not '1'"},
        rejected{"temp aa[i @j]", "expected ']' or ',' after an index, not 'j'"},
        rejected{"temp aa[i,j,k,l,i,j,@k]", "'aa' has 7 dimensions; 6 is the most"},
        rejected{"aoindex ii2 @1:2", "expected '=' and a range after the name of the index, not '1'"},
        rejected{"aoindex ii2 = 1@",
                 "expected ':' between the bounds, not the end of the line (a bound is an integer or a predefined int, "
                 "no expression)"},
        rejected{"aoindex ii2 = 1:norb@+1", "expected the end of the line after this declaration, not '+'"},
        rejected{"aoindex ii2 = @-1:2", "segment numbers begin at 1"},
        rejected{"index s2 = @-norb:2", "a sign stands before an integer only"},
        rejected{"aoindex ii2 = @2.0:3", "expected an integer or a predefined int, not a number"},
        rejected{"subindex jj @i", "expected 'of' and an index after the name of the subindex, not 'i'"},
        rejected{"predefined @aoindex i2 = 1:2",
                 "expected scalar, int, static, temp, local, distributed or served, not 'aoindex' ('predefined', "
                 "'contiguous' and 'sparse' "
                 "stand before these)"},
        rejected{"special f4 r @w", "expected the end of the line after this declaration, not 'w'"},
        rejected{"@persistent distributed dd[i]", "'persistent' is no statement (did you mean 'set_persistent'?)"}));

class sial_rejects_statement : public testing::TestWithParam<rejected> {};
TEST_P(sial_rejects_statement, line) { EXPECT_EQ(error_at_mark(in_loops(GetParam().text)), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    expressions, sial_rejects_statement,
    testing::Values(rejected{"x = 1.0 +@", "expected a number, a name or '(', not the end of the line"},
                    rejected{"x = -@-y", "'-' cannot follow '-' (put what follows into parentheses)"},
                    rejected{"x = @+y", "there is no sign '+'"}, rejected{"x = y*@+y", "there is no sign '+'"},
                    rejected{"x = sqrt @-y", "'-' cannot follow 'sqrt' (put what follows into parentheses)"},
                    rejected{"x = (y@", "expected ')' to match '(', not the end of the line"},
                    rejected{"x = @\"a\"", "a text is only printed"},
                    rejected{"x = y @y", "expected the end of the line after this assignment, not 'y'"},
                    rejected{"x = (int @y)", "expected ')' after '(int', not 'y'"},
                    rejected{"x = t1[@]",
                             "'t1' has no subscripts here (leave the brackets out to name the whole array)"},
                    rejected{"x = q[@1]", "a subscript is an index, or (index) before an int (write (index)1)"},
                    rejected{"x = q[s@+1]", "a subscript is an index, or (index) before an int (write (index)( ... ))"},
                    rejected{"x = q[(@s)]", "a subscript is an index, or (index) before an int (write (index)( ... ))"},
                    rejected{"x = q[s@", "expected ']' or ',' between subscripts, not the end of the line"},
                    rejected{"cl[1:2,i@] = 0.0",
                             "all subscripts are ranges 'low:high', or none is (a range of one segment is 'i:i')"},
                    rejected{"cl[i,1@:2] = 0.0",
                             "all subscripts are ranges 'low:high', or none is (a range of one segment is 'i:i')"},
                    rejected{"x = y @= 2.0", "expected the end of the line after this assignment, not '='"}));

INSTANTIATE_TEST_SUITE_P(
    statements, sial_rejects_statement,
    testing::Values(
        rejected{"x @== y", "expected an assignment: = += -= *=, not '==' ('=' assigns)"},
        rejected{"x@", "expected an assignment: = += -= *=, not the end of the line"},
        rejected{"@sip_barier", "'sip_barier' is no statement (did you mean 'sip_barrier'?)"},
        rejected{"@prnt \"text\"", "'prnt' is no statement (did you mean 'print'?)"},
        rejected{"@prin x", "'prin' is no statement (did you mean 'print'?)"},
        rejected{"@5", "expected a statement, not '5'"},
        rejected{"@cycle", "'cycle' is reserved, but no statement of this version"},
        rejected{"@prequest sv[i,j]", "'prequest' is reserved, but no statement of this version"},
        rejected{"@print_int n", "'print_int' is reserved, but no statement of this version (use 'print')"},
        rejected{"@print_scalar x", "'print_scalar' is reserved, but no statement of this version (use 'print')"},
        rejected{"@print_index i", "'print_index' is reserved, but no statement of this version (use 'print')"},
        rejected{"x = 1.0\n@where i < j", "'where' stands directly behind the line of a 'do' or 'pardo'"},
        rejected{"@import \"a\"", "'import' stands before 'sial'"},
        rejected{"@sial q", "'sial' stands once, before the declarations"},
        rejected{"call @1", "expected a procedure, not '1'"},
        rejected{"return @x", "expected the end of the line after 'return', not 'x'"},
        rejected{"get @d", "expected a block like a[i,j] after 'get'"},
        rejected{"get @cl[1:2,1:2]", "expected a block like a[i,j] after 'get'"},
        rejected{"put d[i,j] @-= x", "expected = += or *=, not '-=' (negate the block, then put with +=)"},
        rejected{"put d[i,j]@", "expected = += or *=, not the end of the line"},
        rejected{"create d@[i,j]", "'create' takes a whole array, no block"},
        rejected{"allocate contiguous @cl",
                 "expected a region like a[1:n,i:i] after 'contiguous' (every dimension needs low:high)"},
        rejected{"allocate @cl[1:2,1:2]", "a region stands after 'allocate contiguous'"},
        rejected{"allocate contiguous cl[@*:2,1:2]", "'*' is no bound of a range"},
        rejected{"collective x @= y", "expected '+=', not '='"},
        rejected{"broadcast_from 0@", "expected a static array, not the end of the line"},
        rejected{"execute f3 x@, y", "blanks stand between arguments, no commas"},
        rejected{"execute f3 @-1.0 x y", "an argument has no sign (assign the value to a scalar, and pass that)"},
        rejected{"execute f3 @\"a\" x y", "a text is no argument"},
        rejected{"execute f3 @(x) y",
                 "an argument is a name, a number, a block or a region (assign the value to a scalar, and pass that)"},
        rejected{"set_persistent d @label", "expected a label, not 'label' (texts stand in double quotes)"},
        rejected{"gpu_put @cl[1:2,1:2]", "'gpu_put' takes a block or an array"},
        rejected{"print x@, y", "'print' prints one thing (write one a line)"},
        rejected{"print@", "expected a number, a name or '(', not the end of the line"},
        rejected{"print x @< y", "expected the end of the line after 'print', not '<'"},
        rejected{"@scalar late", "declarations stand before the first statement"}));

INSTANTIATE_TEST_SUITE_P(
    constructs, sial_rejects_statement,
    testing::Values(
        rejected{"if x@\nendif", "expected a relation: < <= > >= == !=, not the end of the line"},
        rejected{"if x @= y\nendif", "expected a relation: < <= > >= == !=, not '=' ('==' compares)"},
        rejected{"if x < y @< x\nendif", "relations do not chain (write one relation a line)"},
        rejected{"if (x @< y)\nendif",
                 "a relation stands in no parentheses (relations are those of 'if' and 'where'; nest 'if' statements "
                 "for 'and')"},
        rejected{"if x < y @then\nendif", "expected the end of the line after 'if', not 'then'"},
        rejected{"@else", "'else' without an 'if'"}, rejected{"if x < y\nelse\n@else\nendif", "'else' without an 'if'"},
        rejected{"@endif", "'endif' ends nothing (every end repeats the word and the names of its beginning)"},
        rejected{"@endpardo i", "'endpardo' ends nothing (every end repeats the word and the names of its beginning)"},
        rejected{"@endsection",
                 "'endsection' ends nothing (every end repeats the word and the names of its beginning)"},
        rejected{"@gpu_off", "'gpu_off' ends nothing (every end repeats the word and the names of its beginning)"},
        rejected{"section\nendsection @x", "'endsection x' ends 'section' of line 52 (write 'endsection')"},
        rejected{"@proc pp\nendproc pp", "procedures stand before the first statement"}));

class sial_rejects_file : public testing::TestWithParam<rejected> {};
TEST_P(sial_rejects_file, text) { EXPECT_EQ(error_at_mark(GetParam().text), GetParam().expected); }

INSTANTIATE_TEST_SUITE_P(
    forms, sial_rejects_file,
    testing::Values(
        rejected{"@endsial q", "expected 'sial' and the name of the program, not 'endsial'"},
        rejected{"sial q\nproc a\n@endsial q\n", "'endproc a' is missing before 'endsial' ('proc a' begins in line 2)"},
        rejected{"sial @if\nendsial if", "expected the name of the program, not the reserved word 'if'"},
        rejected{"sial q\n@", "'endsial q' is missing before the end of the file ('sial q' begins in line 1)"},
        rejected{"sial q\nendsial @other\n", "'endsial other' ends 'sial q' of line 1 (write 'endsial q')"},
        rejected{"sial q\nendsial q\n@scalar x\n", "nothing stands behind 'endsial'"},
        rejected{"import @x\nsial q\nendsial q", "expected the name of a file, not 'x' (texts stand in double quotes)"},
        rejected{"sial q\nindex s = 1:2\ndo s\n@endsial q\n",
                 "'enddo s' is missing before 'endsial' ('do s' begins in line 3)"},
        rejected{"sial q\nindex s = 1:2\nindex r = 1:2\ndo s\nenddo @r\nendsial q\n",
                 "'enddo r' ends 'do s' of line 4 (write 'enddo s')"},
        rejected{"sial q\nindex s = 1:2\nindex r = 1:2\ndo r\ndo s\n@enddo r\nendsial q\n",
                 "'enddo s' is missing before 'enddo' ('do s' begins in line 5)"},
        rejected{"sial q\nindex s = 1:2\nindex r = 1:2\npardo r,s\nendpardo @s,r\nendsial q\n",
                 "'endpardo s, r' ends 'pardo r, s' of line 4 (write 'endpardo r, s')"},
        rejected{"sial q\nindex s = 1:2\ndo s@, s\nenddo s\nendsial q\n",
                 "'do' loops over one index ('pardo' takes several; nest 'do' loops)"},
        rejected{"sial q\nproc a\n@scalar x\nendproc a\nendsial q\n", "a procedure has no declarations of its own"},
        rejected{"sial q\nproc a\n@proc b\nendproc b\nendsial q\n",
                 "'endproc a' is missing before 'proc' ('proc a' begins in line 2)"},
        rejected{"sial q\nscalar x\nx = 1.0\n@proc b\nendproc b\nendsial q\n",
                 "procedures stand before the first statement"},
        rejected{"sial q\nproc a\nendproc @b\nendsial q\n",
                 "'endproc b' ends 'proc a' of line 2 (write 'endproc a')"}));

}  // namespace
}  // namespace tessera::sial::test
