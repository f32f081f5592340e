#include "languages/directives/text/catalog.hpp"

#include <array>

namespace tessera::directive {
namespace {

using enum clause_rule::form;

constexpr std::array config_clauses = {clause_rule{"file", argument, true}};
constexpr std::array loctype_clauses = {clause_rule{"name", argument, true},
                                        clause_rule{"kind", argument, true},
                                        clause_rule{"num_cores"},
                                        clause_rule{"mem"},
                                        clause_rule{"size"},
                                        clause_rule{"bandwidth"},
                                        clause_rule{"plugin"},
                                        clause_rule{"match"},
                                        clause_rule{"path"}};
constexpr std::array location_clauses = {clause_rule{"name", argument, true}, clause_rule{"type", argument, true},
                                         clause_rule{"all", flag}, clause_rule{"start"}, clause_rule{"total_count"}};
constexpr std::array hierarchy_clauses = {clause_rule{"children", argument, true},
                                          clause_rule{"parent", argument, true}, clause_rule{"all", flag},
                                          clause_rule{"start"}, clause_rule{"total_count"}};
constexpr std::array draw_clauses = {clause_rule{"filename", argument, true}, clause_rule{"root"}};
constexpr std::array allocate_clauses = {clause_rule{"allocate", argument, true},
                                         clause_rule{"type", argument, true},
                                         clause_rule{"location"},
                                         clause_rule{"distance"},
                                         clause_rule{"realloc", flag},
                                         clause_rule{"auto", flag},
                                         clause_rule{"file"}};
constexpr std::array free_clauses = {clause_rule{"free", argument, true}};
constexpr std::array copy_clauses = {clause_rule{"from", argument, true}, clause_rule{"to", argument, true}};
constexpr std::array move_clauses = {clause_rule{"move", argument, true}, clause_rule{"to", argument, true}};
constexpr std::array register_clauses = {clause_rule{"register", argument, true}, clause_rule{"type", argument, true},
                                         clause_rule{"location"}, clause_rule{"distance"}};
constexpr std::array unregister_clauses = {clause_rule{"unregister", argument, true}};
constexpr std::array region_clauses = {clause_rule{"at"}, clause_rule{"exec_pol"}, clause_rule{"collapse"},
                                       clause_rule{"variable_list"}, clause_rule{"reduction", argument, false, true}};
constexpr std::array pause_clauses = {clause_rule{"at"}};
constexpr std::array declare_clauses = {clause_rule{"declare", argument, true}};
constexpr std::array chain_begin_clauses = {clause_rule{"declare"}};

constexpr std::array rules = {
    directive_rule{action::config, "gecko", "config", config_clauses, R"(gecko config file("tree.csv"))",
                   "reads the machine from a TOML file, or declarations from a CSV file; later rearranges the tree"},
    directive_rule{action::loctype, "gecko", "loctype", loctype_clauses,
                   R"(gecko loctype name("group") kind("cpu") num_cores(2))", "declares a type of location"},
    directive_rule{action::location, "gecko", "location", location_clauses,
                   R"(gecko location name("LocB", "LocC") type("group"))", "declares locations of a type"},
    directive_rule{action::hierarchy, "gecko", "hierarchy", hierarchy_clauses,
                   R"(gecko hierarchy children("+", "LocB", "LocC") parent("LocA"))",
                   "attaches locations to a parent, or detaches them; also while regions run"},
    directive_rule{action::draw, "gecko", "draw", draw_clauses, R"(gecko draw root("LocA") filename("tree.svg"))",
                   "writes a picture of the tree, SVG or DOT"},
    directive_rule{action::allocate, "gecko", "memory allocate", allocate_clauses,
                   R"(gecko memory allocate(x[0:n]) type(double) location("LocA"))",
                   "makes an array, in memory or in a file"},
    directive_rule{action::release, "gecko", "memory free", free_clauses, "gecko memory free(x)",
                   "ends arrays that were allocated"},
    directive_rule{action::copy, "gecko", "memory copy", copy_clauses, "gecko memory copy from(x[0:n]) to(y[8:n])",
                   "copies elements between arrays"},
    directive_rule{action::move, "gecko", "memory move", move_clauses, R"(gecko memory move(x) to("LocB"))",
                   "places arrays at another location"},
    directive_rule{action::adopt, "gecko", "memory register", register_clauses,
                   R"(gecko memory register(x[0:n]) type(double) location("LocA"))",
                   "makes memory of the program an array, in place"},
    directive_rule{action::unadopt, "gecko", "memory unregister", unregister_clauses, "gecko memory unregister(x)",
                   "gives registered memory back to the program"},
    directive_rule{action::region_end, "gecko", "region end", {}, "gecko region end", "ends a region"},
    directive_rule{action::pause, "gecko", "region pause", pause_clauses, "gecko region pause", "the same as pause"},
    directive_rule{action::region_begin, "gecko", "region", region_clauses,
                   R"(gecko region at("LocA") exec_pol("static") collapse(2) variable_list(x, y) reduction(+:s))",
                   "runs the loops up to `region end` on what is at a location"},
    directive_rule{action::pause, "gecko", "pause", pause_clauses, R"(gecko pause at("LocA"))",
                   "waits for regions; the program may use its arrays then"},
    directive_rule{action::chain_declare, "pointerchain", "declare", declare_clauses,
                   "pointerchain declare(sim->atoms->x[0:n]{double*}, sim->scale{double})",
                   "names chains of pointers for the next pointerchain region"},
    directive_rule{action::chain_begin, "pointerchain", "region begin", chain_begin_clauses,
                   "pointerchain region begin declare(sim->atoms->x[0:n]{double*})",
                   "evaluates the chains once; with `declare` the condensed form"},
    directive_rule{action::chain_end,
                   "pointerchain",
                   "region end",
                   {},
                   "pointerchain region end",
                   "ends it, and writes changed scalars back"},
};

}  // namespace

std::span<const directive_rule> directive_rules() noexcept { return rules; }

}  // namespace tessera::directive
