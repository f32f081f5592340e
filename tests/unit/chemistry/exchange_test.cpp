// What other programs expect: orders of functions, norms, keys of results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libraries/chemistry/exchange/function_order.hpp"
#include "libraries/chemistry/exchange/normalised_basis.hpp"
#include "libraries/chemistry/job/write_qcschema.hpp"
#include "tests/unit/chemistry/sample_molecules.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;

shell shell_of(int momentum, bool spherical, std::vector<double> exponents, std::vector<double> coefficients) {
  shell made;
  made.momentum = momentum;
  made.spherical = spherical;
  made.exponents = std::move(exponents);
  made.coefficients = std::move(coefficients);
  return made;
}

TEST(function_order, is_that_of_molden) {
  EXPECT_THAT(molden_order(0, true), ElementsAre(0));
  EXPECT_THAT(molden_order(1, true), ElementsAre(2, 0, 1)) << "x, y, z of y, z, x";
  EXPECT_THAT(molden_order(1, false), ElementsAre(0, 1, 2));
  EXPECT_THAT(molden_order(2, true), ElementsAre(2, 3, 1, 4, 0));
  EXPECT_THAT(molden_order(2, false), ElementsAre(0, 3, 5, 1, 2, 4)) << "xx yy zz xy xz yz of xx xy xz yy yz zz";
  EXPECT_THAT(molden_order(3, false), ElementsAre(0, 6, 9, 3, 1, 2, 5, 8, 7, 4));
  for (const bool spherical : {true, false})
    for (int l = 0; l <= 4; ++l)
      for (std::vector<std::size_t> order : {molden_order(l, spherical), trexio_order(l, spherical)}) {
        EXPECT_EQ(order.size(), functions(shell_of(l, spherical, {}, {})));
        std::ranges::sort(order);
        for (std::size_t k = 0; k < order.size(); ++k) EXPECT_EQ(order[k], k) << "each once";
      }
}

TEST(normalised_coefficients, make_a_norm_of_one) {
  EXPECT_THAT(normalised_coefficients(shell_of(2, true, {0.7}, {3})), ElementsAre(testing::DoubleEq(1)));
  // Two s primitives of equal exponents add up.
  EXPECT_THAT(normalised_coefficients(shell_of(0, true, {0.7, 0.7}, {1, 3})),
              ElementsAre(testing::DoubleEq(0.25), testing::DoubleEq(0.75)));
  // Overlap of p primitives: (2 sqrt(ab) / (a + b))^(5/2), (4/5)^(5/2) here.
  const std::vector<double> c = normalised_coefficients(shell_of(1, true, {1, 4}, {1, 1}));
  EXPECT_DOUBLE_EQ(c[0] * c[0] * 2 * (1 + std::pow(0.8, 2.5)), 1);
}

TEST(write_qcschema, has_the_required_keys) {
  job_result r;
  r.geometry = water();
  r.method = "ccsd";
  r.basis = "sto-3g";
  r.creator = "1.2";
  r.energy = -76.5;
  r.scf_energy = -76;
  r.ccsd = -0.5;
  const auto out = nlohmann::json::parse(qcschema_result(r));
  for (const char* key : {"schema_name", "schema_version", "molecule", "driver", "model", "keywords", "properties",
                          "return_result", "success", "provenance"})
    EXPECT_TRUE(out.contains(key)) << key;
  EXPECT_EQ(out.at("return_result"), -76.5);
  EXPECT_EQ(out.at("properties").at("ccsd_total_energy"), -76.5);
  EXPECT_FALSE(out.at("properties").contains("mp2_total_energy")) << "it was not computed";
  EXPECT_FALSE(out.at("properties").contains("ccsd_prt_pr_total_energy"));
  EXPECT_FALSE(out.contains("id"));
  EXPECT_EQ(out.at("molecule").at("geometry").size(), 9u);
  EXPECT_EQ(out.at("provenance").at("version"), "1.2");
}

TEST(write_qcschema, keeps_what_belongs_to_the_asker) {
  const std::string asked = R"({"id": "a", "extras": {"b": 1}, "keywords": {"frozen_core": true}})";
  const auto out = nlohmann::json::parse(qcschema_result({}, asked));
  EXPECT_EQ(out.at("id"), "a");
  EXPECT_EQ(out.at("extras").at("b"), 1);
  EXPECT_EQ(out.at("keywords").at("frozen_core"), true);
  const auto failed = nlohmann::json::parse(qcschema_failure("memory", "too \xff much", asked));
  EXPECT_EQ(failed.at("success"), false);
  EXPECT_EQ(failed.at("error").at("error_type"), "memory");
  EXPECT_EQ(failed.at("id"), "a");
  EXPECT_EQ(failed.at("input_data").at("extras").at("b"), 1);
  EXPECT_TRUE(nlohmann::json::parse(qcschema_failure("input", "x", "{")).at("input_data").is_null());
}

}  // namespace
}  // namespace tessera::chemistry
