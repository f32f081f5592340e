// Both sides may be older or newer than the other.
#include <algorithm>
#include <array>

#include "core/plugin/library.hpp"
#include "core/plugin/tables.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

tsr_plugin_query_function query_of(const subject& what) {
  return reinterpret_cast<tsr_plugin_query_function>(plugin::load_symbol(what.plugin.path, "tsr_plugin_query"));
}

/// Opens with the given host and options, calls `use`, shuts down.
void with_plugin(const subject& what, const tsr_host* host, const tsr_option_value* options, std::uint32_t count,
                 const std::function<void(tsr_plugin*, const tsr_plugin_table&)>& use) {
  tsr_plugin* handle = nullptr;
  const void* raw = nullptr;
  expect_ok(what.plugin.header.open(host, options, count, &handle, &raw), "open");
  const tsr_plugin_table table = plugin::checked_table(static_cast<const tsr_plugin_table*>(raw), what.plugin.path);
  try {
    use(handle, table);
  } catch (...) {
    table.shutdown(handle);
    throw;
  }
  expect_ok(table.shutdown(handle), "shutdown");
}

std::vector<tsr_option_value> values_of(const subject& what) {
  std::vector<tsr_option_value> values;
  for (const auto& o : what.options)
    values.push_back({sizeof(tsr_option_value), o.type, o.name.c_str(), o.integer, o.number, o.text.c_str()});
  return values;
}

void header_is_complete(const subject& what) {
  const tsr_plugin_header& header = what.plugin.header;
  expect(header.vendor != nullptr && *header.vendor != '\0', "the header names no vendor");
  expect(header.version != nullptr && *header.version != '\0', "the header names no version");
  expect(header.features == 0, "features is {}, but no bit has a meaning yet", header.features);
  for (const void* reserved : header.reserved) expect(reserved == nullptr, "a reserved field of the header is set");
  expect(query_of(what)(TSR_ABI_MAJOR, TSR_ABI_MINOR) == query_of(what)(TSR_ABI_MAJOR, TSR_ABI_MINOR),
         "tsr_plugin_query gives another header at each call");
}

void options_are_documented(const subject& what) {
  for (const plugin::option_schema& option : what.plugin.options) {
    expect(!option.doc.empty(), "option \"{}\" has no sentence that explains it", option.name);
    expect(option.min_value <= option.max_value, "option \"{}\" has its range the wrong way round", option.name);
    expect(option.type == TSR_OPTION_STRING || option.choices.empty(), "option \"{}\" is no string but has choices",
           option.name);
  }
  plugin::check_options(what.plugin.name, what.plugin.options, {});  // the defaults are right by their own rules
}

void other_hosts_are_answered(const subject& what) {
  const auto query = query_of(what);
  for (std::uint32_t minor = 0; minor <= TSR_ABI_MINOR + 3; ++minor) {
    const tsr_plugin_header* header = query(TSR_ABI_MAJOR, minor);
    expect(header == nullptr || header->abi_major == TSR_ABI_MAJOR, "for host {}.{} the header says major {}",
           TSR_ABI_MAJOR, minor, header == nullptr ? 0 : header->abi_major);
    expect(header != nullptr || minor < what.plugin.header.abi_minor,
           "the plugin refuses host {}.{} though it is not older", TSR_ABI_MAJOR, minor);
  }
  const tsr_plugin_header* foreign = query(TSR_ABI_MAJOR + 1, 0);
  expect(foreign == nullptr || foreign->abi_major != TSR_ABI_MAJOR + 1 || foreign->struct_size > 0,
         "for another major version the header is empty");
}

void older_host_is_served(const subject& what) {
  tsr_host older = *what.host.table();
  older.abi_minor = 0;
  older.log = nullptr;  // optional
  const auto values = values_of(what);
  const auto length = static_cast<std::uint32_t>(values.size());
  std::uint32_t of_this_host = 0;
  with_plugin(what, what.host.table(), values.data(), length, [&](tsr_plugin* handle, const tsr_plugin_table& table) {
    expect_ok(table.enumerate(handle, 0, nullptr, &of_this_host), "enumerate");
  });
  with_plugin(what, &older, values.data(), length, [&](tsr_plugin* handle, const tsr_plugin_table& table) {
    std::uint32_t count = 0;
    expect_ok(table.enumerate(handle, 0, nullptr, &count), "enumerate");
    expect(count > 0 || of_this_host == 0, "an older host sees no device");
    for (std::uint32_t i = 0; i < count; ++i) {
      tsr_device* device = nullptr;
      const tsr_device_table* raw = nullptr;
      expect_ok(table.device_open(handle, i, &device, &raw), "device_open");
      expect_ok(table.device_close(handle, device), "device_close");
    }
  });
}

void probe_without_reason(const subject& what) {
  if (what.plugin.header.probe == nullptr) skip("the plugin has no probe");
  const std::uint32_t score = what.plugin.header.probe(what.host.table(), nullptr, 0);
  std::array<char, 4> small{'x', 'x', 'x', 'x'};
  const std::uint32_t again = what.plugin.header.probe(what.host.table(), small.data(), 3);
  expect(small[3] == 'x', "probe writes beyond reason_bytes");
  expect((score == 0) == (again == 0), "probe changes its mind");
}

/// What a configuration made: the devices and the sizes of their spaces.
std::vector<std::uint64_t> fingerprint(const subject& what, tsr_plugin* handle, const tsr_plugin_table& table) {
  std::uint32_t count = 0;
  expect_ok(table.enumerate(handle, 0, nullptr, &count), "enumerate");
  std::vector<std::uint64_t> print{count};
  for (std::uint32_t i = 0; i < count; ++i) {
    tsr_device* device = nullptr;
    const tsr_device_table* raw = nullptr;
    expect_ok(table.device_open(handle, i, &device, &raw), "device_open");
    const tsr_device_table calls = plugin::checked_table(raw, what.plugin.path);
    tsr_space_desc space{};
    space.struct_size = sizeof space;
    expect_ok(calls.spaces(device, 0, &space), "spaces");
    print.push_back(space.bytes);
  }
  return print;
}

/// A later host's option values are longer than this plugin knows.
void longer_option_values(const subject& what) {
  struct longer {
    tsr_option_value value;
    tsr_option_value later;  // what a plugin finds that steps by its own sizeof
  };
  auto values = values_of(what);
  if (values.size() < 2) skip("the plugin is opened with fewer than two option values");
  std::reverse(values.begin(), values.end());
  std::vector<longer> wide;
  for (tsr_option_value value : values) {
    value.struct_size = sizeof(longer);
    wide.push_back({value, {sizeof(tsr_option_value), TSR_OPTION_BOOL, "", 0, 0, ""}});
  }
  const auto count = static_cast<std::uint32_t>(values.size());
  const auto print = [&](const tsr_option_value* given) {
    std::vector<std::uint64_t> made;
    with_plugin(what, what.host.table(), given, count,
                [&](tsr_plugin* handle, const tsr_plugin_table& table) { made = fingerprint(what, handle, table); });
    return made;
  };
  // Sizes may follow what is free at the time, as on a disk: what differs between two equal openings proves nothing. So
  // one with longer values stands between two usual ones, and must differ from both again and again while those agree.
  constexpr int rounds = 4;
  int proofs = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto before = print(values.data()), with_longer = print(&wide.front().value), after = print(values.data());
    if (with_longer == before || with_longer == after) return;
    proofs += before == after ? 1 : 0;
    expect(before.size() == with_longer.size(),
           "with longer option values the plugin makes another number of devices: the elements of an array lie "
           "struct_size apart (rule R1)");
  }
  expect(proofs < rounds - 1,
         "with longer option values the plugin makes other devices: the elements of an array lie struct_size apart "
         "(rule R1)");
}

/// Structs that the plugin fills are written no further than the room that the host gave.
void descriptions_stay_inside(const subject& what) {
  const opened all(what);
  for (std::uint32_t i = 0; i < all.devices.size(); ++i) {
    struct guarded_device {
      tsr_device_desc description;
      std::array<unsigned char, 128> guard;
    } device{};
    device.guard.fill(0xa5);
    device.description.struct_size = sizeof(tsr_device_desc);
    std::uint32_t count = 0;
    expect_ok(all.session.table().enumerate(all.session.handle(), i, &device.description, &count), "enumerate");
    expect(device.description.struct_size > 0 && device.description.struct_size <= sizeof(tsr_device_desc),
           "enumerate sets struct_size to {}", device.description.struct_size);
    for (const unsigned char byte : device.guard) expect(byte == 0xa5, "enumerate writes beyond the host's struct");
    const plugin::device& open = *all.devices[i];
    for (std::uint32_t s = 0; s < open.spaces().size(); ++s) {
      struct guarded_space {
        tsr_space_desc description;
        std::array<unsigned char, 128> guard;
      } space{};
      space.guard.fill(0xa5);
      space.description.struct_size = sizeof(tsr_space_desc);
      expect_ok(open.table().spaces(open.handle(), s, &space.description), "spaces");
      expect(space.description.struct_size > 0 && space.description.struct_size <= sizeof(tsr_space_desc),
             "spaces sets struct_size to {}", space.description.struct_size);
      for (const unsigned char byte : space.guard) expect(byte == 0xa5, "spaces writes beyond the host's struct");
    }
  }
}

/// `call` fills a struct of which the host's room ends at `room`: a later plugin, whose struct is longer, meets an
/// older host so.
template <class Struct, class Call>
void expect_short(std::size_t room, const char* entry, Call&& call) {
  alignas(Struct) std::array<unsigned char, sizeof(Struct)> bytes;
  bytes.fill(0xa5);
  const auto given = static_cast<std::uint32_t>(room);
  std::memcpy(bytes.data(), &given, sizeof given);
  expect_ok(call(reinterpret_cast<Struct*>(bytes.data())), entry);
  for (std::size_t i = room; i < bytes.size(); ++i)
    expect(bytes[i] == 0xa5,
           "{} is given room for {} bytes (struct_size) and writes byte {}: no more than the room is written (rule R1)",
           entry, room, i);
  std::uint32_t written = 0;
  std::memcpy(&written, bytes.data(), sizeof written);
  expect(written > 0 && written <= room, "{} is given room for {} bytes and sets struct_size to {}", entry, room,
         written);
}

void short_structs_are_respected(const subject& what) {
  const opened all(what);
  for (std::uint32_t i = 0; i < all.devices.size(); ++i) {
    const plugin::device& device = *all.devices[i];
    std::uint32_t count = 0;
    expect_short<tsr_device_desc>(offsetof(tsr_device_desc, pci_address), "enumerate", [&](tsr_device_desc* out) {
      return all.session.table().enumerate(all.session.handle(), i, out, &count);
    });
    expect_short<tsr_space_desc>(offsetof(tsr_space_desc, name), "spaces",
                                 [&](tsr_space_desc* out) { return device.table().spaces(device.handle(), 0, out); });
    expect_short<tsr_link_desc>(offsetof(tsr_link_desc, latency), "link", [&](tsr_link_desc* out) {
      return device.table().link(device.handle(), host_space, {device.handle(), 0}, out);
    });
  }
}

/// The texts inside a description end inside their fields.
void texts_end(const subject& what) {
  const opened all(what);
  for (std::uint32_t i = 0; i < all.devices.size(); ++i) {
    tsr_device_desc given;
    std::memset(static_cast<void*>(&given), 0xa5, sizeof given);
    given.struct_size = sizeof given;
    std::uint32_t count = 0;
    expect_ok(all.session.table().enumerate(all.session.handle(), i, &given, &count), "enumerate");
    expect(std::memchr(given.name, 0, sizeof given.name) != nullptr,
           "the name of device {} has no NUL among its {} bytes", i, sizeof given.name);
    expect(given.struct_size < sizeof given || std::memchr(given.pci_address, 0, sizeof given.pci_address) != nullptr,
           "the pci_address of device {} has no NUL among its {} bytes", i, sizeof given.pci_address);
  }
}

/// A later host's copy is longer than this plugin knows.
void longer_copy(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    struct longer {
      tsr_copy copy;
      std::uint64_t later[4];
    };
    const queue stream(device);
    const buffer memory(device, compute_space(device), 64);
    const std::array<char, 8> text{"longer!"};
    longer copy{plain_copy(memory.where(), memory.at(0), host_space, host_address(text.data()), text.size()),
                {~0ull, ~0ull, ~0ull, ~0ull}};
    copy.copy.struct_size = sizeof copy;
    expect_ok(device.table().copy(device.handle(), stream.handle(), &copy.copy), "copy with a longer struct");
    stream.finish();
    std::array<char, 8> back{};
    download(stream, back.data(), memory, back.size());
    expect(back == text, "a copy with a longer struct moves other bytes");
  });
}

}  // namespace

std::vector<check> abi_checks() {
  return {{"abi.header_is_complete", header_is_complete, every_kind},
          {"abi.options_are_documented", options_are_documented, every_kind},
          {"abi.other_hosts_are_answered", other_hosts_are_answered, every_kind},
          {"abi.older_host_is_served", older_host_is_served},
          {"abi.probe_without_reason", probe_without_reason, every_kind},
          {"abi.longer_option_values", longer_option_values},
          {"abi.descriptions_stay_inside", descriptions_stay_inside},
          {"abi.short_structs_are_respected", short_structs_are_respected},
          {"abi.texts_end", texts_end},
          {"abi.longer_copy", longer_copy}};
}

}  // namespace tessera::conformance
