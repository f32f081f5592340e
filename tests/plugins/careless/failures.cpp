// How stream_progress tells that work has failed:
//   merged         of several failures stream_progress tells the oldest, and no other
//   newest         stream_progress tells the newest failure first
//   ahead          with a failure stream_progress tells all that is reached, past failures that it has not told
//   untold         stream_progress never tells a failure
#include <map>
#include <mutex>
#include <vector>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

struct failure {
  tsr_status status;
  std::uint64_t value, failed;
};
std::map<tsr_stream*, std::vector<failure>> failures;  // under mutex: told by the inner plugin, in its order

tsr_status progress_of_failures(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                std::uint64_t* out_failed) {
  std::uint64_t value = 0, failed = 0;
  tsr_status status = inner_device.stream_progress(device, stream, &value, &failed);
  const std::lock_guard guard(mutex);
  auto& told = failures[stream];
  const bool any = status != TSR_OK && status != TSR_DEVICE_LOST && status != TSR_INVALID_ARGUMENT;
  for (tsr_status next = status; any && next != TSR_OK;
       next = inner_device.stream_progress(device, stream, &value, &failed))
    told.push_back({next, value, failed});
  if (told.empty()) {
    *out_value = value;
    if (out_failed != nullptr) *out_failed = failed;
    return status;
  }
  const failure chosen = about == "newest" ? told.back() : told.front();
  if (about == "newest")
    told.pop_back();
  else if (about == "ahead")
    told.erase(told.begin());
  else
    told.clear();
  *out_value = value;
  if (out_failed != nullptr) *out_failed = chosen.failed;
  the_host->error(the_host->context, chosen.status, "work has failed");
  return chosen.status;
}

tsr_status progress_without_failures(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                     std::uint64_t* out_failed) {
  tsr_status status = TSR_OK;
  do status = inner_device.stream_progress(device, stream, out_value, out_failed);
  while (status != TSR_OK && status != TSR_DEVICE_LOST && status != TSR_INVALID_ARGUMENT);
  if (status == TSR_OK && out_failed != nullptr) *out_failed = 0;
  return status;
}

}  // namespace

void plant_in_failures(tsr_device_table& table) {
  if (about == "merged" || about == "newest" || about == "ahead") table.stream_progress = progress_of_failures;
  if (about == "untold") table.stream_progress = progress_without_failures;
}

void forget_failures(tsr_stream* stream) { failures.erase(stream); }

}  // namespace careless
