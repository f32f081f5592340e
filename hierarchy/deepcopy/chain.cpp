// What tessera/detail/chain.hpp says when a chain is wrong.
#include "tessera/detail/chain.hpp"

#include <fmt/format.h>

#include "hierarchy/deepcopy/type_name.hpp"

namespace tessera::detail {

void refuse_null_link(std::size_t link, const std::type_info* owner, const std::type_info& target) {
  const std::string to = hierarchy::type_name(target);
  throw error(error_kind::usage,
              owner == nullptr ? fmt::format("the root of a chain, a pointer to {}, is null", to)
                               : fmt::format("link {} of a chain, the pointer to {} in {}, is null", link, to,
                                             hierarchy::type_name(*owner)),
              {}, "a chain is followed when it is made: allocate what it leads to first");
}

void refuse_elements(const char* what, std::int64_t asked, std::int64_t there, std::size_t link,
                     const std::type_info& element) {
  throw error(
      error_kind::usage,
      fmt::format("{} of a chain is {}, but {}", what, asked,
                  asked < 0 ? std::string("begins at 0")
                            : fmt::format("link {} holds {} of {}", link, there, hierarchy::type_name(element))),
      {}, "elements are counted from 0, as in an array");
}

std::string chain_name(std::size_t links, const std::type_info& element) {
  return fmt::format("{} behind {} link{}", hierarchy::type_name(element), links, links == 1 ? "" : "s");
}

}  // namespace tessera::detail
