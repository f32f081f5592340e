// What users are told whose OpenBLAS does not know their processor.
#include <gmock/gmock.h>

#include "plugins/kit/kernels/blas_call.hpp"

namespace tessera::kit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(blas_advice, names_the_kernels_that_the_processor_has) {
  EXPECT_THAT(advice_on_kernels("Prescott", true, true, nullptr),
              AllOf(HasSubstr("'Prescott'"), HasSubstr("OPENBLAS_CORETYPE=SkylakeX")));
  EXPECT_THAT(advice_on_kernels("Prescott", true, false, ""), HasSubstr("OPENBLAS_CORETYPE=Haswell"));
}

TEST(blas_advice, is_silent_where_all_is_well) {
  EXPECT_EQ(advice_on_kernels("Haswell", true, false, nullptr), "");
  EXPECT_EQ(advice_on_kernels("SkylakeX", true, true, nullptr), "");
  EXPECT_EQ(advice_on_kernels("Prescott", false, false, nullptr), "") << "it is such a processor";
  EXPECT_EQ(advice_on_kernels("Prescott", true, true, "Prescott"), "") << "the user has chosen";
}

}  // namespace
}  // namespace tessera::kit
