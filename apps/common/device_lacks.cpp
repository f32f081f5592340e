#include "apps/common/device_lacks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "apps/common/session.hpp"

namespace tessera::apps {

std::vector<std::string> what_devices_lack(const runtime& rt) {
  std::vector<std::string> notes;
  for (const auto& d : rt.plugins().devices()) {
    if (d->description().device_class == TSR_DEVICE_CPU || d->description().device_class == TSR_DEVICE_STORAGE)
      continue;
    const tsr_tensor_table* const tensor = d->tensor();
    const tsr_blas_table* const blas = d->blas();
    std::vector<std::string_view> lacking, extensions;
    if (tensor == nullptr || tensor->contract == nullptr) lacking.emplace_back("contractions");
    if (tensor == nullptr || tensor->permute == nullptr) lacking.emplace_back("copies of blocks");
    if (tensor == nullptr || tensor->fill == nullptr) lacking.emplace_back("fills");
    if (blas == nullptr || blas->axpy == nullptr) lacking.emplace_back("sums");
    if (blas == nullptr || blas->scal == nullptr) lacking.emplace_back("scalings");
    if (lacking.empty()) continue;
    if (tensor == nullptr) extensions.emplace_back("TENSOR");
    if (blas == nullptr) extensions.emplace_back("BLAS");
    notes.push_back(fmt::format("--devices always: {} cannot run {}, which stay on the workers: its plugin {}",
                                d->name(), fmt::join(lacking, ", "),
                                extensions.empty()
                                    ? "lacks their entries"
                                    : fmt::format("does not offer the extension {}", fmt::join(extensions, " nor "))));
  }
  return notes;
}

}  // namespace tessera::apps
