#include "plugins/transport/mpi/job.hpp"

#include <algorithm>

namespace tessera::mpi {
namespace {

const char* name_of_level(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

/// What the host program has initialised must allow this thread to make the calls.
tsr_status check_threads(const kit::reporter& report, bool serialized) {
  int level = MPI_THREAD_SINGLE, is_main = 0;
  must(MPI_Query_thread(&level), "MPI_Query_thread");
  must(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  const int needed = serialized || is_main == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
  if (level >= needed) return TSR_OK;
  return report.fail(TSR_FAILED_PRECONDITION,
                     "MPI was initialised with %s; %s needs at least %s: initialise it so, by MPI_Init_thread",
                     name_of_level(level), serialized ? "threads = serialized" : "this thread", name_of_level(needed));
}

tsr_status initialise(const kit::reporter& report, const settings& setting, job& out) {
  int is_on = 0, was_on = 0;
  must(MPI_Initialized(&is_on), "MPI_Initialized");
  must(MPI_Finalized(&was_on), "MPI_Finalized");
  if (was_on != 0)
    return report.fail(TSR_FAILED_PRECONDITION,
                       "MPI was finalised in this process, and can be initialised only once: keep the transport open");
  if (is_on != 0) return check_threads(report, setting.serialized);
  if (setting.communicator != -1)
    return report.fail(TSR_INVALID_ARGUMENT, "communicator is %lld, but MPI is not initialised: it cannot be one",
                       static_cast<long long>(setting.communicator));
  const int wanted = setting.serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
  int provided = MPI_THREAD_SINGLE;
  if (const int code = MPI_Init_thread(nullptr, nullptr, wanted, &provided))
    return report.fail(TSR_UNAVAILABLE, "MPI_Init_thread failed: %s", failed::words_for(code).c_str());
  out.initialised_here = true;
  if (provided < wanted)
    return report.fail(TSR_UNAVAILABLE, "this MPI offers %s; %s is needed", name_of_level(provided),
                       name_of_level(wanted));
  return TSR_OK;
}

void find_nodes(job& out) {
  if (out.setting.ranks_per_node > 0)
    must(MPI_Comm_split(out.messages, out.rank / out.setting.ranks_per_node, out.rank, &out.node), "MPI_Comm_split");
  else
    must(MPI_Comm_split_type(out.messages, MPI_COMM_TYPE_SHARED, out.rank, MPI_INFO_NULL, &out.node),
         "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(out.node, MPI_ERRORS_RETURN);
  int count = 0;
  must(MPI_Comm_size(out.node, &count), "MPI_Comm_size");
  out.node_ranks.resize(static_cast<std::size_t>(count));
  must(MPI_Allgather(&out.rank, 1, MPI_INT32_T, out.node_ranks.data(), 1, MPI_INT32_T, out.node), "MPI_Allgather");
  const std::int32_t first = *std::min_element(out.node_ranks.begin(), out.node_ranks.end());
  std::vector<std::int32_t> firsts(static_cast<std::size_t>(out.size));
  must(MPI_Allgather(&first, 1, MPI_INT32_T, firsts.data(), 1, MPI_INT32_T, out.messages), "MPI_Allgather");
  std::vector<std::int32_t> seen;
  for (const std::int32_t leader : firsts) {
    auto at = std::find(seen.begin(), seen.end(), leader);
    if (at == seen.end()) at = seen.insert(seen.end(), leader);
    out.node_of.push_back(static_cast<std::int32_t>(at - seen.begin()));
  }
  out.nodes = static_cast<std::int32_t>(seen.size());
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  must(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  out.node_name.assign(name, static_cast<std::size_t>(length));
}

}  // namespace

std::string failed::words_for(int code) {
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, words, &length);
  return words;
}

tsr_status open_job(const kit::reporter& report, const settings& setting, job& out) {
  out.setting = setting;
  try {
    if (const auto status = initialise(report, setting, out)) return status;
    const MPI_Comm given =
        setting.communicator == -1 ? MPI_COMM_WORLD : MPI_Comm_f2c(static_cast<MPI_Fint>(setting.communicator));
    if (given == MPI_COMM_NULL)
      return report.fail(TSR_INVALID_ARGUMENT, "communicator %lld is none of this process",
                         static_cast<long long>(setting.communicator));
    for (MPI_Comm* const own : {&out.messages, &out.collectives}) {
      must(MPI_Comm_dup(given, own), "MPI_Comm_dup");
      MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
    }
    must(MPI_Comm_rank(out.messages, &out.rank), "MPI_Comm_rank");
    must(MPI_Comm_size(out.messages, &out.size), "MPI_Comm_size");
    find_nodes(out);
    return TSR_OK;
  } catch (const failed& failure) {
    return report.fail(TSR_UNAVAILABLE, "%s", failure.what());
  }
}

tsr_status close_job(const kit::reporter& report, job& of) {
  try {
    for (MPI_Comm* const own : {&of.node, &of.collectives, &of.messages})
      if (*own != MPI_COMM_NULL) must(MPI_Comm_free(own), "MPI_Comm_free");
    if (of.initialised_here) must(MPI_Finalize(), "MPI_Finalize");
    return TSR_OK;
  } catch (const failed& failure) {
    return report.fail(TSR_UNKNOWN, "%s", failure.what());
  }
}

}  // namespace tessera::mpi
