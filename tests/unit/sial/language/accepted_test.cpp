// What every accepted form becomes.
#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

struct accepted {
  const char *statements, *dump;
};
void PrintTo(const accepted& a, std::ostream* out) { *out << a.statements; }

class sial_accepts_in_loops : public testing::TestWithParam<accepted> {};
TEST_P(sial_accepts_in_loops, form) {
  EXPECT_EQ(dump_in_loops(GetParam().statements), GetParam().dump + std::string("\n"));
}

INSTANTIATE_TEST_SUITE_P(
    expressions, sial_accepts_in_loops,
    testing::Values(accepted{"n = 2 + m*3 - i/2", "int n = ((2 + (m * 3)) - (i / 2))"},
                    accepted{"n -= -(m)", "int n -= (-m)"}, accepted{"x = -y**2.0", "scalar x = ((-y) ** 2.0)"},
                    accepted{"x = 2.0**3.0**y", "scalar x = ((2.0 ** 3.0) ** y)"},
                    accepted{"x = sqrt 2.0*8.0", "scalar x = ((sqrt 2.0) * 8.0)"},
                    accepted{"x *= (y + ps) * 3.0", "scalar x *= ((y + ps) * 3.0)"},
                    accepted{"x = (scalar)(i + 2*j)", "scalar x = (scalar)(i + (2 * j))"},
                    accepted{"n = (int)x * m", "int n = ((int)x * m)"}, accepted{"n = (int)i", "int n = i"},
                    accepted{"n = (int)-28.444", "int n = (int)(-28.444)"},
                    accepted{"n = (int)-x * m", "int n = ((int)(-x) * m)"},
                    accepted{"x = x - y - ps / 2.0", "scalar x = ((x - y) - (ps / 2.0))"},
                    accepted{"x = z[s,r] + 1.0", "scalar x = (z[s,r] + 1.0)"},
                    accepted{"x = q[(index)(n+1)]", "scalar x = q[(index)(n + 1)]"},
                    accepted{"x += dq[s]", "scalar x += dq[s]"}, accepted{"n = (index) n", "int n = n"}));

INSTANTIATE_TEST_SUITE_P(contractions_to_scalars, sial_accepts_in_loops,
                         testing::Values(accepted{"x = t1[i,j]*t2[i,j]", "scalar x = <t1[i,j] * t2[i,j]>"},
                                         accepted{"x += t1[i,j]*tr[j,i]", "scalar x += <t1[i,j] * tr[j,i]>"},
                                         accepted{"x -= d[i,j] * sv[i,j]", "scalar x -= <d[i,j] * sv[i,j]>"},
                                         accepted{"x = y + t1[i,j]*t2[i,j]", "scalar x = (y + <t1[i,j] * t2[i,j]>)"},
                                         accepted{"x = t1[i,j]*t2[i,j] - 2.0*y",
                                                  "scalar x = (<t1[i,j] * t2[i,j]> - (2.0 * y))"},
                                         accepted{"x = q[s]*q2[s]", "scalar x = (q[s] * q2[s])"},
                                         accepted{"q[s] = t1[i,j]*t2[i,j]", "fill q[s] = <t1[i,j] * t2[i,j]>"}));

INSTANTIATE_TEST_SUITE_P(
    fills_and_copies, sial_accepts_in_loops,
    testing::Values(accepted{"t1[i,j] = 0.0", "fill t1[i,j] = 0.0"}, accepted{"t1[i,j] += x", "fill t1[i,j] += x"},
                    accepted{"t1[i,j] -= x+y", "fill t1[i,j] -= (x + y)"},
                    accepted{"t1[i,j] *= 2.0", "fill t1[i,j] *= 2.0"},
                    accepted{"t1[i,j] = q[s]", "fill t1[i,j] = q[s]"}, accepted{"t1[i,i] = 1.0", "fill t1[i,i] = 1.0"},
                    accepted{"q[s] = q2[s]", "fill q[s] = q2[s]"}, accepted{"q[s] = x", "fill q[s] = x"},
                    accepted{"q[s] *= q2[s]", "fill q[s] *= q2[s]"},
                    accepted{"q[(index)3] = q2[s] + q[s]", "fill q[(index)3] = (q2[s] + q[s])"},
                    accepted{"t1[i,j] = t2[i,j]", "copy t1[i,j] = t2[i,j]"},
                    accepted{"t1[i,j] = (t2[i,j])", "copy t1[i,j] = t2[i,j]"},
                    accepted{"t1[i,j] += tr[j,i]", "copy t1[i,j] += tr[j,i]"},
                    accepted{"st[i,j] -= tr[j,i]", "copy st[i,j] -= tr[j,i]"},
                    accepted{"t1[i,i] = t2[i,i]", "copy t1[i,i] = t2[i,i]"},
                    accepted{"lo[i,j] = d[j,i]", "copy lo[i,j] = d[j,i]"},
                    accepted{"ijs[i,j,s] = t1[i,j]", "copy ijs[i,j,s] = t1[i,j]"},
                    accepted{"t1[i,j] = ijs[i,j,(index)2]", "copy t1[i,j] = ijs[i,j,(index)2]"},
                    accepted{"ijs[i,j,s] = ijs[i,j,(index)n]", "copy ijs[i,j,s] = ijs[i,j,(index)n]"}));

INSTANTIATE_TEST_SUITE_P(
    block_arithmetic, sial_accepts_in_loops,
    testing::Values(accepted{"t1[i,j] = t1[i,j] + t2[i,j]", "sum t1[i,j] = t1[i,j] + t2[i,j]"},
                    accepted{"t1[i,j] -= lo[i,j] - t2[i,j]", "sum t1[i,j] -= lo[i,j] - t2[i,j]"},
                    accepted{"t1[i,j] = 2.0*t2[i,j]", "scaled t1[i,j] = 2.0 * t2[i,j]"},
                    accepted{"t1[i,j] += t2[i,j]*x", "scaled t1[i,j] += x * t2[i,j]"},
                    accepted{"t1[i,j] = 2.0*x*t2[i,j]", "scaled t1[i,j] = (2.0 * x) * t2[i,j]"},
                    accepted{"t1[i,j] = (x+y)*t1[i,j]", "scaled t1[i,j] = (x + y) * t1[i,j]"},
                    accepted{"t1[i,j] = -1.0*t2[i,j]", "scaled t1[i,j] = (-1.0) * t2[i,j]"},
                    accepted{"t1[i,j] = q[s]*t2[i,j]", "scaled t1[i,j] = q[s] * t2[i,j]"},
                    accepted{"t1[i,j] = t2[i,j]*q[s]", "scaled t1[i,j] = q[s] * t2[i,j]"},
                    accepted{"t1[i,j] = ik[i,k]*kj[k,j]", "product t1[i,j] = ik[i,k] * kj[k,j]"},
                    accepted{"tr[j,i] += ik[i,k]*kj[k,j]", "product tr[j,i] += ik[i,k] * kj[k,j]"},
                    accepted{"t4[i,j,k,l] = tr[l,j]^tr[i,k]", "product t4[i,j,k,l] = tr[l,j] * tr[i,k]"},
                    accepted{"t4[i,j,k,l] -= tr[l,j]*tr[i,k]", "product t4[i,j,k,l] -= tr[l,j] * tr[i,k]"},
                    accepted{"ijs[i,j,s] = t1[i,j]*q[s]", "product ijs[i,j,s] = t1[i,j] * q[s]"},
                    accepted{"ijs[i,j,s] = t1[i,j]^q[s]", "product ijs[i,j,s] = t1[i,j] * q[s]"},
                    accepted{"t1[i,j] = ijs[i,j,s]*q[s]", "product t1[i,j] = ijs[i,j,s] * q[s]"},
                    accepted{"q[s] = is[i,s]*e[i]", "product q[s] = is[i,s] * e[i]"},
                    accepted{"t1[i,j] = ijs[i,j,(index)n]*q[(index)n]",
                             "product t1[i,j] = ijs[i,j,(index)n] * q[(index)n]"},
                    accepted{"z[s,r] = q[s]^q2[r]", "product z[s,r] = q[s] * q2[r]"}));

INSTANTIATE_TEST_SUITE_P(regions_and_pieces, sial_accepts_in_loops,
                         testing::Values(accepted{"cl[1:norb,j:j] = 0.0", "region cl[1:norb,j:j] = 0.0"},
                                         accepted{"cl[i:i,j:j] = t1[i,j]", "region from block cl[i:i,j:j] = t1[i,j]"},
                                         accepted{"t1[i,j] = cl[i:i,j:j+1-1]",
                                                  "block from region t1[i,j] = cl[i:i,j:((j + 1) - 1)]"},
                                         accepted{"cs[s:s,1:1] = z[s,r]", "region from block cs[s:s,1:1] = z[s,r]"},
                                         accepted{"cs[s:s,1:2] = q[s]", "region cs[s:s,1:2] = q[s]"},
                                         accepted{"do ii in i\nsl[ii,j] = t1[ii,j]\nenddo ii in i",
                                                  "do ii in i\n  slice sl[ii,j] = t1[ii,j]"},
                                         accepted{"do ii in i\nt1[ii,j] = sl[ii,j]\nenddo ii in i",
                                                  "do ii in i\n  insert t1[ii,j] = sl[ii,j]"},
                                         accepted{"do ii in i\nwhere ii < 3\nsl[ii,j] = 1.0\nenddo ii in i",
                                                  "do ii in i\n  where ii < 3\n  fill sl[ii,j] = 1.0"}));

INSTANTIATE_TEST_SUITE_P(
    data, sial_accepts_in_loops,
    testing::Values(
        accepted{"get d[i,j]\nrequest sv[i,i]", "fetch d[i,j]\nfetch sv[i,i]"},
        accepted{"put d[i,j] = t1[i,j]", "store block d[i,j] = t1[i,j]"},
        accepted{"prepare sv[i,j] += d[i,j]", "store block sv[i,j] += d[i,j]"},
        accepted{"put d[i,j] += 2.0*x", "store number d[i,j] += (2.0 * x)"},
        accepted{"put d[i,j] *= q[s]", "store number d[i,j] *= q[s]"},
        accepted{"put d[i,j] = q[s]", "store number d[i,j] = q[s]"},
        accepted{"put dq[s] = q[s]", "store block dq[s] = q[s]"},
        accepted{"put dq[(index)2] = q[s]", "store block dq[(index)2] = q[s]"},
        accepted{"allocate lo[i,*]\ndeallocate lo[*,j]", "allocate lo[i,*]\ndeallocate lo[*,j]"},
        accepted{"allocate lo\ndeallocate lo", "allocate lo[everything]\ndeallocate lo[everything]"},
        accepted{"allocate contiguous cl[1:n,j:j]", "allocate region cl[1:n,j:j]"},
        accepted{"deallocate contiguous cl[1:n,j:j]", "deallocate region cl[1:n,j:j]"},
        accepted{"execute f3 x t1[i,j] cl[1:2,1:n]", "execute f3(x, t1[i,j], cl[1:2,1:n])"},
        accepted{"execute f3 2 y st", "execute f3(2, y, whole st)"},
        accepted{"execute f3 .5 q[s] cl\nexecute f0", "execute f3(0.5, q[s], whole cl)\nexecute f0()"},
        accepted{
            "gpu_on\ngpu_put t1[i,j]\ngpu_on\ngpu_get st\ngpu_off\ngpu_off\ngpu_allocate t1[i,j]\ngpu_free t1[i,j]",
            "gpu_on\n  gpu_put t1[i,j]\n  gpu_on\n    gpu_get st\ngpu_allocate t1[i,j]\ngpu_free t1[i,j]"}));

INSTANTIATE_TEST_SUITE_P(
    prints, sial_accepts_in_loops,
    testing::Values(accepted{"print \"A  text\"\nprintln \"\"", "print text \"A  text\"\nprintln text \"\""},
                    accepted{"print x\nprintln n", "print scalar x\nprintln int n"},
                    accepted{"println i\nprint s", "println index i\nprint index s"},
                    accepted{"print (x)\nprint x+1.0", "print scalar value x\nprint scalar value (x + 1.0)"},
                    accepted{"print n+1", "print int value (n + 1)"},
                    accepted{"print t1[i,j]\nprint z[s,r]", "print block t1[i,j]\nprint scalar value z[s,r]"},
                    accepted{"print st\nprint cl[1:n,2:2]", "print whole st\nprint region cl[1:n,2:2]"}));

class sial_accepts : public testing::TestWithParam<accepted> {};
TEST_P(sial_accepts, program) { EXPECT_EQ(dump_of(GetParam().statements), GetParam().dump + std::string("\n")); }

INSTANTIATE_TEST_SUITE_P(
    control, sial_accepts,
    testing::Values(
        accepted{"do i\nwhere i < 3\nwhere 2*i != norb\nx += 1.0\nenddo i",
                 "  do i\n    where i < 3\n    where (2 * i) != norb\n    scalar x += 1.0"},
        accepted{"pardo i, j, s\nwhere i <= j\nexit\nendpardo i,j,s", "  pardo i,j,s\n    where i <= j\n    exit"},
        accepted{"if x >= 1.0\nn = 1\nelse\nn = 2\nendif", "  if x >= 1.0\n    int n = 1\n  else\n    int n = 2"},
        accepted{"if n == 1\nstop\nendif", "  if n == 1\n    stop"}, accepted{"if n > 1\nelse\nendif", "  if n > 1"},
        accepted{"section\npardo i\nendpardo i\npardo j\nendpardo j\nendsection",
                 "  section\n    pardo i\n    pardo j"},
        accepted{"do i\npardo j\ncall p\nendpardo j\nsip_barrier\nserver_barrier\nenddo i",
                 "  do i\n    pardo j\n      call p\n    sip_barrier\n    server_barrier"},
        accepted{"q[(index)1] = 2.0", "  fill q[(index)1] = 2.0"}, accepted{"nocc = 5", "  int nocc = 5"}));

INSTANTIATE_TEST_SUITE_P(
    whole_arrays, sial_accepts,
    testing::Values(
        accepted{"create d\ndelete d\ndestroy sv", "  create d\n  delete d\n  delete sv"},
        accepted{"collective x += 2.0*y", "  collective x += (2.0 * y)"},
        accepted{"broadcast_from 0 st", "  broadcast st from 0"},
        accepted{"broadcast_from n+1 st", "  broadcast st from (n + 1)"}, accepted{"assert_same x", "  assert_same x"},
        accepted{
            "set_persistent d \"D1\"\nrestore_persistent x \"X\"\nset_persistent st \"s\"\nrestore_persistent sv \"v\"",
            "  persist d \"D1\"\n  restore x \"X\"\n  persist st \"s\"\n  restore sv \"v\""}));

TEST(sial_checker, declarations) {
  EXPECT_EQ(
      outcome(compile_text("sial Prog\npredefined int Lo\npredefined int hi\nint n = 7\nscalar x = 1.5\nscalar y\n"
                           "aoindex i = lo:hi\nmoindex m = 1:3\nmoaindex ma = 2:2\nmobindex mb = 1:hi\nindex s = "
                           "-2:-1\nlaindex la = "
                           "1:2\nsubindex ii of i\n"
                           "predefined static c[i,m]\nsparse contiguous local big[i,m,ma,mb,s,la]\nsparse temp "
                           "t[ii]\ncontiguous served "
                           "v[i]\nspecial go RwU\nspecial stay\n"
                           "endsial PROG"))
          .substr(0, 330),
      "aoindex i = lo:hi\nmoindex m = 1:3\nmoaindex ma = 2:2\nmobindex mb = 1:hi\nindex s = -2:-1\nlaindex la = "
      "1:2\nsubindex ii of i\n"
      "predefined int lo = 0\npredefined int hi = 0\nint n = 7\nscalar x = 1.5\nscalar y = 0\n"
      "predefined static c[i,m]\ncontiguous local big[i,m,ma,mb,s,la]\ntemp t[ii]\nserved v[i]\nspecial go "
      "rwu\nspecial stay\nsial prog\n");
}

TEST(sial_checker, a_procedure_sees_the_indices_of_its_callers) {
  EXPECT_EQ(outcome(compile_text("sial q\nindex s = 1:2\ntemp t[s]\nproc one\nif s == 1\nreturn\nendif\nt[s] = "
                                 "1.0\nendproc one\nproc two\ncall one\n"
                                 "endproc two\ndo s\ncall two\nenddo s\nendsial q")),
            "index s = 1:2\ntemp t[s]\nproc one\n  if s == 1\n    return\n  fill t[s] = 1.0\nproc two\n  call "
            "one\nsial q\n  do s\n    "
            "call two\n");
}

TEST(sial_checker, lines_and_places_are_those_of_the_source) {
  const compiled c = compile_text("# first\nsial q\r\n\r\nscalar x\r\n   x = 1.0\r\nendsial q");
  ASSERT_TRUE(c.result) << outcome(c);
  EXPECT_EQ(c.result->units[0].inside[0].where, (place{0, 5, 4}));
  EXPECT_EQ(c.result->scalars[0].where, (place{0, 4, 8}));
  EXPECT_EQ(c.result->name(), "q");
}

}  // namespace
}  // namespace tessera::sial::test
