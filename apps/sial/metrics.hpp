#pragma once
// What a program did, for people and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "languages/sial/job/job.hpp"

namespace tessera::apps {

/// One object of the list `programs` of a run's JSON; docs/commands/sial.md documents it.
nlohmann::ordered_json metrics_of(const sial::program_report& done);

/// For --stats: the hit ratio, what ran on devices, and a line for each kind of exchange.
std::string exchanges_text(const sial::program_report& done);

}  // namespace tessera::apps
