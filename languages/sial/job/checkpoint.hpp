#pragma once
// What programs have kept, on disk: a job that ended, or was killed, goes on behind the last program that was
// completed.
#include <filesystem>
#include <optional>
#include <string>

#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// What a checkpoint is of: it is taken up only by the same job.
struct job_identity {
  std::vector<std::string> programs;  ///< names, in their order
  std::uint64_t data = 0;             ///< of the initialization data
};
job_identity identity_of(const std::vector<std::string>& programs, const init_data& data);

/// A checkpoint as it was read.
struct checkpoint {
  std::size_t completed = 0;  ///< programs
  kept_items items;
};

/// Writes DIR/after-N, N programs completed: manifest.json and the elements, with a hash of every piece. The folder
/// appears under its name when it is whole, then older ones go. Throws tessera::error (input) with the path when it
/// cannot be written.
void save_checkpoint(const std::filesystem::path& folder, const job_identity& of, std::size_t completed,
                     const kept_items& items);

/// The newest checkpoint in a folder; nothing when there is none. Throws tessera::error (input): it is of another job,
/// damaged, or cannot be read.
std::optional<checkpoint> load_checkpoint(const std::filesystem::path& folder, const job_identity& of, runtime& rt);

/// What a checkpoint says of itself.
struct checkpoint_summary {
  struct item {
    std::string label, kind;  ///< "scalar", "static" or "blocks"
    std::uint64_t bytes = 0;
  };
  std::filesystem::path file;
  std::vector<std::string> programs;  ///< of the job
  std::size_t completed = 0;          ///< of these
  std::vector<item> items;            ///< what they have kept
};

/// The newest checkpoint in a folder, without its elements; nothing when there is none. Throws tessera::error (input)
/// when its manifest is damaged.
std::optional<checkpoint_summary> summary_of_checkpoint(const std::filesystem::path& folder);

}  // namespace tessera::sial
