// Types, blocks and data statements that do not fit: what is said, and where ('@').
#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

class sial_refuses : public testing::TestWithParam<rejected> {};
TEST_P(sial_refuses, statement) { EXPECT_EQ(error_at_mark(in_loops(GetParam().text)), GetParam().expected); }

constexpr const char* no_conversion = "types are not converted: write (scalar)n or (int)x, and literals as 1 or 1.0";
std::string mixed(const std::string& what) { return what + " (" + no_conversion + ")"; }
const std::string y_times_2 = mixed("'*' between a scalar and an int"),
                  n_plus_x = mixed("'+' between an int and a scalar");

INSTANTIATE_TEST_SUITE_P(
    types, sial_refuses,
    testing::Values(
        rejected{"x = @1", "what is assigned to scalar 'x' is a scalar, not an int (write 1.0)"},
        rejected{"x = @i", "what is assigned to scalar 'x' is a scalar, not an int (write (scalar)( ... ))"},
        rejected{"n = @1.0", "what is assigned to int 'n' is an int, not a scalar (write (int)( ... ))"},
        rejected{"x = y@*2", y_times_2.c_str()}, rejected{"n = n@+x", n_plus_x.c_str()},
        rejected{"n = m@**2", "'**' takes scalars, not ints (write (scalar)n)"},
        rejected{"n = @(int)m", "this is an int already (leave '(int)' out)"},
        rejected{"x = @(scalar)y", "this is a scalar already (leave '(scalar)' out)"},
        rejected{"x = @sqrt n", "'sqrt' takes a scalar, not an int (write sqrt (scalar)n)"},
        rejected{
            "x = y@^ps",
            "'^' stands between two blocks, alone on the right side of an assignment ('**' is the power of scalars)"},
        rejected{"x = q[(index)@y]", "the value of a subscript is an int, not a scalar (write (int)( ... ))"},
        rejected{"n = @(index)y", "(index) stands before an int, not a scalar (write (index)(int)x)"},
        rejected{"x = @cl[1:2,1:2]", "a region is not a number"},
        rejected{"cl[@x:2,1:2] = 0.0", "a bound of a region is an int, not a scalar (write (int)( ... ))"}));

INSTANTIATE_TEST_SUITE_P(
    references, sial_refuses,
    testing::Values(
        rejected{"@t1[i] = 0.0", "'t1' has 2 dimensions, not 1"},
        rejected{"@e[i,j] = 0.0", "'e' has 1 dimension, not 2"},
        rejected{"t1[i,@a] = 0.0", "'a' is moindex, but dimension 2 of 't1' is aoindex"},
        rejected{"t1[i,@s] = 0.0", "'s' is index, but dimension 2 of 't1' is aoindex"},
        rejected{"t1[i,@(index)2] = 0.0", "(index) is a simple index, but dimension 2 of 't1' is aoindex"},
        rejected{"t1[i,@n] = 0.0", "'n' is an int, not an index (write (index)n)"},
        rejected{"t1[i,@x] = 0.0", "'x' is a scalar, not an index"},
        rejected{"@x[i] = 0.0", "'x' is a scalar, not an array"},
        rejected{"@cl[i,j] = 0.0",
                 "'cl' is a contiguous local array: it has regions, no blocks (every dimension needs low:high)"},
        rejected{"@t1[1:2,1:2] = 0.0",
                 "'t1' has no regions; contiguous local arrays have (a block has one index per dimension)"},
        rejected{"@cl[1:2] = 0.0", "'cl' has 2 dimensions, not 1"},
        rejected{
            "x = @t1[i,j]",
            "the block t1[i,j] is not a number (a block is one when all its subscripts are simple indices ('index'))"},
        rejected{"sl[@i,j] = 0.0", "'i' is aoindex, but dimension 1 of 'sl' is subindex"},
        rejected{"do ii in i\nget d[@ii,j]\nenddo ii in i",
                 "'ii' is subindex, but dimension 1 of 'd' is aoindex (a piece of a block is only copied: b[ii,j] = "
                 "a[ii,j] and back)"}));

INSTANTIATE_TEST_SUITE_P(
    contractions_to_scalars, sial_refuses,
    testing::Values(
        rejected{
            "x = t1[i,j]@*ik[i,k]",
            "t1[i,j] * ik[i,k] is no number: subscripts [j,k] are left (assign it to a block of these subscripts)"},
        rejected{"x = @t1[i,i]*t2[i,i]", "a subscript stands twice in t1[i,i], which is contracted"},
        rejected{"x @*= t1[i,j]*t2[i,j]", "a contraction is assigned with = += or -="},
        rejected{"x = 2.0@*(t1[i,j]*t2[i,j])", "a contraction is multiplied no further (assign it to a scalar first)"},
        rejected{"x = (t1[i,j]@*t2[i,j])",
                 "a contraction stands alone or in a sum: not in parentheses, products, relations or prints (assign it "
                 "to a scalar first)"},
        rejected{"x = t1[i,j]*t2[i,j]@*y", "a contraction is multiplied no further (assign it to a scalar first)"},
        rejected{"if t1[i,j]@*t2[i,j] > 0.0\nendif",
                 "a contraction stands alone or in a sum: not in parentheses, products, relations or prints (assign it "
                 "to a scalar first)"},
        rejected{"print t1[i,j]@*t2[i,j]",
                 "a contraction stands alone or in a sum: not in parentheses, products, relations or prints (assign it "
                 "to a scalar first)"},
        rejected{
            "x = t1[i,j]@^t2[i,j]",
            "'^' stands between two blocks, alone on the right side of an assignment ('**' is the power of scalars)"},
        rejected{"x = -t1[i,j]@*t2[i,j]", "a contraction is multiplied no further (assign it to a scalar first)"},
        rejected{"n = t1[i,j]@*t2[i,j]",
                 "a contraction stands alone or in a sum: not in parentheses, products, relations or prints (assign it "
                 "to a scalar first)"}));

INSTANTIATE_TEST_SUITE_P(
    block_forms, sial_refuses,
    testing::Values(
        rejected{"t1[i,j] = @n", "what is assigned to t1[i,j] is a scalar, not an int (write (scalar)( ... ))"},
        rejected{"t1[i,j] += @2", "what is assigned to t1[i,j] is a scalar, not an int (write 2.0)"},
        rejected{"@d[i,j] = 0.0",
                 "'d' is distributed: its blocks are not assigned to (write 'put' before the assignment)"},
        rejected{"@sv[i,j] += t1[i,j]",
                 "'sv' is served: its blocks are not assigned to (write 'prepare' before the assignment)"},
        rejected{"t1[i,j] = @ik[i,k]",
                 "ik[i,k] does not fit t1[i,j] (a copy has the same subscripts in any order, or more simple ones at "
                 "the end of one side)"},
        rejected{"t1[i,j] = @t2[i,i]",
                 "t2[i,i] does not fit t1[i,j] (a copy has the same subscripts in any order, or more simple ones at "
                 "the end of one side)"},
        rejected{"t4[i,j,k,l] = @t1[i,j]",
                 "t1[i,j] does not fit t4[i,j,k,l] (a copy has the same subscripts in any order, or more simple ones "
                 "at the end of one side)"},
        rejected{"ijs[i,j,s] = @tr[j,i]",
                 "tr[j,i] does not fit ijs[i,j,s] (a copy has the same subscripts in any order, or more simple ones at "
                 "the end of one side)"},
        rejected{"t1[i,j] @*= t2[i,j]", "'*=' takes a number, not a block (there is no elementwise product)"},
        rejected{"t1[i,j] = @-t2[i,j]", "a block has no sign (write -1.0 * and the block)"},
        rejected{"t1[i,j] = t2[i,j]@/x", "'/' is no operation of blocks (multiply by (1.0/x))"},
        rejected{"t1[i,j] = t2[i,j]@**x", "'**' is no operation of blocks"},
        rejected{"t1[i,j] = t1[i,j] + @tr[j,i]",
                 "tr[j,i] does not fit t1[i,j]: a sum has the same subscripts in the same order (copy it into a block "
                 "of that order first)"},
        rejected{"t1[i,j] = t1[i,j] + t2[i,j] @+ lo[i,j]",
                 "a sum of blocks has two blocks and nothing more (write two assignments, the second with += or -=)"},
        rejected{"t1[i,j] = t2[i,j] @+ ik[i,k]*kj[k,j]",
                 "a sum of blocks has two blocks and nothing more (write two assignments, the second with += or -=)"},
        rejected{"t1[i,j] = t2[i,j] @- x",
                 "a block and a number do not add (write two assignments: a = b, then a += x)"},
        rejected{"t1[i,j] @*= t1[i,j] + t2[i,j]",
                 "'*=' takes a number, not a sum of blocks (there is no elementwise product)"},
        rejected{"t1[i,j] @*= x*t2[i,j]", "'*=' takes a number, not a product (there is no elementwise product)"},
        rejected{"t1[i,j] = (t1[i,j] @+ t2[i,j])", "arithmetic of blocks stands in no parentheses"},
        rejected{"t1[i,j] = 2.0@*(ik[i,k]*kj[k,j])",
                 "a product of blocks has two factors and no parentheses (write two assignments, with a block between "
                 "them)"},
        rejected{"t1[i,j] = ik[i,k]*kj[k,j]@*x",
                 "a product of blocks has two factors and no parentheses (write two assignments, with a block between "
                 "them)"},
        rejected{"t1[i,j] = 2.0*@tr[j,i]",
                 "tr[j,i] does not fit t1[i,j]: a scaled block has the same subscripts in the same order (copy it into "
                 "a block of that "
                 "order first)"},
        rejected{"t1[i,j] = @n*t2[i,j]", "a factor of a block is a scalar, not an int (write (scalar)( ... ))"},
        rejected{"t1[i,j] = @cl[1:2,1:2,1:2]", "'cl' has 2 dimensions, not 3"},
        rejected{"t1[i,j] @+= cl[i:i,j:j]", "a region is copied with '=', not '+=' (copy it to a temp first)"},
        rejected{"t4[i,j,k,l] = @cl[i:i,j:j]", "the region has 2 dimensions, t4[i,j,k,l] has 4"},
        rejected{"cl[1:2,1:2] @+= t1[i,j]", "a region is assigned with '=', not '+=' (copy it into a block, and back)"},
        rejected{"cl[1:2,1:2] = @cl[1:2,1:2]", "a region is not copied to a region (copy it to a block first)"},
        rejected{"cl[1:2,1:2] = @ijs[i,j,s]", "ijs[i,j,s] has 3 dimensions, the region 2"},
        rejected{"cl[1:2,1:2] = @n", "what fills a region is a scalar, not an int (write (scalar)( ... ))"}));

INSTANTIATE_TEST_SUITE_P(
    products, sial_refuses,
    testing::Values(
        rejected{"@t1[i,l] = ik[i,k]*kj[k,j]",
                 "ik[i,k] * kj[k,j] has the subscripts [i,j], not [i,l] (the result has those subscripts that exactly "
                 "one factor has, in "
                 "any order)"},
        rejected{"@ijs[i,j,s] = t4[i,j,k,l]*tr[k,l]",
                 "t4[i,j,k,l] * tr[k,l] has the subscripts [i,j], not [i,j,s] (the result has those subscripts that "
                 "exactly one factor "
                 "has, in any order)"},
        rejected{"@t1[i,j] = t1[i,j]*t2[i,j]",
                 "t1[i,j] * t2[i,j] has the subscripts [], not [i,j] (the result has those subscripts that exactly one "
                 "factor has, in any "
                 "order)"},
        rejected{"e[i] = @t1[j,j]*e[i]",
                 "a subscript stands twice in t1[j,j] (blocks of a contraction have every subscript once)"},
        rejected{"@t1[i,i] = ik[i,k]*tr[k,i]",
                 "a subscript stands twice in t1[i,i] (blocks of a contraction have every subscript once)"},
        rejected{"t4[i,j,k,l] = ik[i,k]@^tr[k,l]",
                 "ik[i,k] ^ tr[k,l]: the factors of an outer product have no subscript in common ('*' contracts)"},
        rejected{"t1[i,j] = t2[i,j]@^x", "'^' stands between two blocks ('**' is the power of scalars)"},
        rejected{"t1[i,j] @*= ik[i,k]*kj[k,j]", "'*=' takes a number, not a product (there is no elementwise product)"},
        rejected{"do ii in i\n@t1[ii,j] = 0.0\nenddo ii in i",
                 "a piece of a block is only copied (b[ii,j] = a[ii,j] and back)"},
        rejected{"do ii in i\nt1[ii,j] = @t2[ii,j]\nenddo ii in i",
                 "one side of a copy of a piece is declared with the subindex, the other without"},
        rejected{"do ii in i\nsl[ii,j] @+= t1[ii,j]\nenddo ii in i", "a piece is copied with '=', not '+='"},
        rejected{"do ii in i\nsl[ii,j] = @tr[j,ii]\nenddo ii in i",
                 "a piece is copied with the same subscripts in the same order"}));

INSTANTIATE_TEST_SUITE_P(
    data, sial_refuses,
    testing::Values(
        rejected{"get @sv[i,j]", "'get' takes a block of a distributed array; 'sv' is served (write 'request')"},
        rejected{"request @d[i,j]", "'request' takes a block of a served array; 'd' is distributed (write 'get')"},
        rejected{"get @t1[i,j]", "'get' takes a block of a distributed array; 't1' is temp"},
        rejected{"put @sv[i,j] = x", "'put' takes a block of a distributed array; 'sv' is served (write 'prepare')"},
        rejected{"prepare @d[i,j] = x", "'prepare' takes a block of a served array; 'd' is distributed (write 'put')"},
        rejected{"put d[i,j] = @tr[j,i]",
                 "tr[j,i] does not fit d[i,j] ('put' takes a block of the same subscripts in the same order)"},
        rejected{"put d[i,j] @*= t1[i,j]", "'*=' takes a number, not a block"},
        rejected{"put d[i,j] = ik[i,k]@*kj[k,j]",
                 "'put' takes a block or a number, no arithmetic of blocks (assign it to a temp first)"},
        rejected{"put d[i,j] = @n", "what 'put' stores is a scalar, not an int (write (scalar)( ... ))"},
        rejected{"create @t1", "'create' takes a distributed or served array; 't1' is temp"},
        rejected{"delete @x", "'x' is a scalar, not an array"},
        rejected{"allocate @t1[i,j]", "'allocate' takes a local array; 't1' is temp"},
        rejected{"allocate @cl[i,*]",
                 "'allocate' takes a local array; 'cl' is contiguous local (write 'allocate contiguous' and a region)"},
        rejected{"allocate @lo[i]", "'lo' has 2 dimensions, not 1"},
        rejected{"allocate lo[@s,*]", "'s' is no index of the kind of dimension 1 of 'lo'"},
        rejected{"allocate contiguous @t1[1:2,1:2]",
                 "'t1' has no regions; contiguous local arrays have (a block has one index per dimension)"},
        rejected{"collective @n += x", "'n' is an int, not a scalar"},
        rejected{"collective x += @n", "what 'collective' sums is a scalar, not an int (write (scalar)( ... ))"},
        rejected{"broadcast_from @x st", "the number of a worker is an int, not a scalar (write (int)( ... ))"},
        rejected{"broadcast_from 0 @t1", "'broadcast_from' takes a static array; 't1' is temp"},
        rejected{"assert_same @n", "'n' is an int, not a scalar"}));

const char* kept = "'set_persistent' takes a scalar or a static, distributed or served array; ";
std::string not_kept(const char* rest) { return std::string(kept) + rest; }
const std::string keeps_int = not_kept("'n' is an int"), keeps_temp = not_kept("'t1' is temp"),
                  keeps_local = not_kept("'lo' is local"), keeps_ps = not_kept("'ps' is predefined"),
                  keeps_ps2 = not_kept("'ps2' is predefined");

INSTANTIATE_TEST_SUITE_P(
    calls, sial_refuses,
    testing::Values(
        rejected{"set_persistent @n \"a\"", keeps_int.c_str()},
        rejected{"set_persistent @t1 \"a\"", keeps_temp.c_str()},
        rejected{"set_persistent @lo \"a\"", keeps_local.c_str()},
        rejected{"set_persistent @ps \"a\"", keeps_ps.c_str()},
        rejected{"set_persistent @ps2 \"a\"", keeps_ps2.c_str()},
        rejected{"execute @f3 x y", "'f3' takes 3 arguments, not 2 (its signature is 'rwu')"},
        rejected{"execute @f0 x", "'f0' takes 0 arguments, not 1"},
        rejected{"execute f3 @n x y", "'n' is an int, no argument (assign it to a scalar, and pass that)"},
        rejected{"execute f3 @i x y", "'i' is an index, no argument (assign it to a scalar, and pass that)"},
        rejected{"execute f3 @t1 x y",
                 "the whole array 't1' is no argument: it is temp (pass a block of it; whole arrays are static)"},
        rejected{"execute f3 @d x y",
                 "the whole array 'd' is no argument: it is distributed (pass a block of it; whole arrays are static)"},
        rejected{"execute f3 x @2.0 y",
                 "argument 2 is written by the super instruction; a literal cannot be (pass a scalar)"},
        rejected{"execute f3 x y @1",
                 "argument 3 is written by the super instruction; a literal cannot be (pass a scalar)"},
        rejected{"print @t1", "the whole array 't1' is not printed: it is temp (print a block of it)"},
        rejected{"print @cl",
                 "the whole array 'cl' is not printed: it is contiguous local (print a region: a[low:high])"},
        rejected{"print @p", "'p' is a procedure, not a number"},
        rejected{"gpu_put @x", "'x' is a scalar, not an array"}));

}  // namespace
}  // namespace tessera::sial::test
