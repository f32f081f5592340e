// The IPC table: memory that one process exports and another one uses.
#include "core/plugin/tables.hpp"
#include "tests/conformance/suite/rig.hpp"
#include "tests/conformance/suite/second_process.hpp"

namespace tessera::conformance {
namespace {

/// The table of a device; nothing where it has none.
std::unique_ptr<tsr_ipc_table> table_of(const opened& all, const device& device) {
  const void* raw = all.session.extension(device.handle(), TSR_EXTENSION_IPC);
  if (raw == nullptr) return nullptr;
  auto table = std::make_unique<tsr_ipc_table>(plugin::completed(static_cast<const tsr_ipc_table*>(raw)));
  need(table->version >= 1, "the IPC table has version 0");
  need(table->export_memory != nullptr && table->import_memory != nullptr, "the IPC table lacks an entry");
  return table;
}

/// Runs `use(number, device, table)` on every device that has the table; skips when none has it.
template <class Use>
void each_offered(const opened& all, Use&& use) {
  bool tried = false;
  std::size_t number = 0;
  for_each_device(all, [&](const device& device) {
    const std::size_t this_one = number++;
    const auto table = table_of(all, device);
    if (table == nullptr) return;
    tried = true;
    use(this_one, device, *table);
  });
  if (!tried) skip("no device offers the table IPC");
}

void refused_keys(const device& device, const tsr_ipc_table& table, const std::uint8_t (&key)[TSR_IPC_KEY_BYTES]) {
  tsr_memory* none = nullptr;
  for (std::size_t byte = 0; byte < sizeof key; byte += 7) {
    std::uint8_t damaged[TSR_IPC_KEY_BYTES];
    std::memcpy(damaged, key, sizeof key);
    damaged[byte] ^= 0x10;
    expect_status(table.import_memory(device.handle(), damaged, &none), TSR_INVALID_ARGUMENT,
                  fmt::format("import_memory of a key whose byte {} is damaged", byte));
  }
  const std::uint8_t zero[TSR_IPC_KEY_BYTES] = {};
  expect_status(table.import_memory(device.handle(), zero, &none), TSR_INVALID_ARGUMENT,
                "import_memory of a key of zeros");
  expect_status(table.import_memory(device.handle(), nullptr, &none), TSR_INVALID_ARGUMENT, "import_memory of NULL");
  expect_status(table.import_memory(device.handle(), key, nullptr), TSR_INVALID_ARGUMENT,
                "import_memory with out_memory NULL");
  expect(none == nullptr, "a failed import_memory wrote its out_ argument");
}

/// What a process refuses alone.
void arguments(const subject& what) {
  const opened all(what);
  each_offered(all, [&](std::size_t, const device& device, const tsr_ipc_table& table) {
    std::uint8_t key[TSR_IPC_KEY_BYTES];
    tsr_memory* none = nullptr;
    expect_status(table.export_memory(device.handle(), nullptr, key), TSR_INVALID_ARGUMENT, "export_memory of NULL");
    const buffer memory(device, compute_space(device), 1000);
    expect_status(table.export_memory(device.handle(), memory.memory(), nullptr), TSR_INVALID_ARGUMENT,
                  "export_memory to NULL");
    expect_ok(table.export_memory(device.handle(), memory.memory(), key), "export_memory");
    refused_keys(device, table, key);
    expect_status(table.import_memory(device.handle(), key, &none), TSR_FAILED_PRECONDITION,
                  "import_memory of this process's own key");
    expect(none == nullptr, "a failed import_memory wrote its out_ argument");
  });
}

/// Bytes go there and back through memory of each space that can be shared, of odd sizes.
void second_process(const subject& what) {
  const opened all(what);
  each_offered(all, [&](std::size_t number, const device& device, const tsr_ipc_table& table) {
    auto random = what.generator();
    bool shared = false;
    for (std::uint32_t space = 0; space < device.spaces().size(); ++space) {
      const std::uint64_t bytes = space == 0 ? 100'003 + random() % 5'000 : 1 + random() % 300;
      memory_order order;
      order.device = number;
      order.bytes = bytes;
      order.seed = random() >> 1;
      {
        const buffer memory(device, space, bytes);
        const tsr_status status = table.export_memory(device.handle(), memory.memory(), order.key);
        if (status == TSR_UNIMPLEMENTED) continue;
        expect_ok(status, "export_memory");
        shared = true;
        const queue stream(device);
        const auto before = contents(order.seed, bytes), after = contents(order.seed + 1, bytes);
        upload(stream, memory, before.data(), bytes);
        in_second_process(what, order);
        expect(downloaded<unsigned char>(stream, memory, bytes) == after,
               "what another process wrote is not there ({} bytes)", bytes);
        upload(stream, memory, before.data(), bytes);  // its use has ended, ours has not
        expect(downloaded<unsigned char>(stream, memory, bytes) == before,
               "memory that another process had is not what it was");
      }
      order.gone = true;
      in_second_process(what, order);
    }
    expect(shared, "the IPC table is offered, and no space can be shared");
  });
}

}  // namespace

void use_imported(const subject& what, const memory_order& order) {
  const opened all(what);
  expect(order.device < all.devices.size(), "the device is not there");
  const device& device = *all.devices[order.device];
  const auto table = table_of(all, device);
  expect(table != nullptr, "the extension is not offered");
  tsr_memory* memory = nullptr;
  if (order.gone) {
    // Not every driver can tell: then it is some memory, and nobody's.
    const tsr_status status = table->import_memory(device.handle(), order.key, &memory);
    expect(status == TSR_OK || status == TSR_NOT_FOUND, "import_memory of what was freed answers {}",
           plugin::name_of(status));
    if (status == TSR_OK) expect_ok(device.table().mem_free(device.handle(), memory), "mem_free");
    return;
  }
  refused_keys(device, *table, order.key);
  for (std::size_t other = 0; other < all.devices.size(); ++other)
    if (const auto theirs = other == order.device ? nullptr : table_of(all, *all.devices[other]))
      expect_status(theirs->import_memory(all.devices[other]->handle(), order.key, &memory), TSR_INVALID_ARGUMENT,
                    "import_memory of another device's key");
  const queue stream(device);
  for (const std::uint64_t seed : {order.seed, order.seed + 1}) {  // once more, after its use has ended
    expect_ok(table->import_memory(device.handle(), order.key, &memory), "import_memory");
    std::vector<unsigned char> got(order.bytes);
    const auto wanted = contents(seed, order.bytes), next = contents(order.seed + 1, order.bytes);
    std::uint32_t space = 0;
    const auto move = [&](bool there, std::uint64_t offset) {
      const tsr_space_ref where{device.handle(), space};
      const tsr_copy copy =
          there ? plain_copy(where, {memory, offset}, host_space, host_address(next.data()), order.bytes)
                : plain_copy(host_space, host_address(got.data()), where, {memory, offset}, order.bytes);
      return device.table().copy(device.handle(), stream.handle(), &copy);
    };
    while (move(false, 0) == TSR_INVALID_ARGUMENT && space + 1 < device.spaces().size())
      ++space;  // the space that it has there
    expect_ok(move(false, 0), "copy from imported memory");
    stream.finish();
    expect(got == wanted, "imported memory does not hold what the exporter wrote");
    expect_status(move(false, 1), TSR_OUT_OF_RANGE, "a copy beyond imported memory");
    expect_ok(move(true, 0), "copy to imported memory");
    stream.finish();
    std::uint8_t key[TSR_IPC_KEY_BYTES];
    expect_status(table->export_memory(device.handle(), memory, key), TSR_INVALID_ARGUMENT,
                  "export_memory of imported memory");
    expect_ok(device.table().mem_free(device.handle(), memory), "mem_free of imported memory");
  }
}

std::vector<check> ipc_checks() { return {{"ipc.arguments", arguments}, {"ipc.second_process", second_process}}; }

}  // namespace tessera::conformance
