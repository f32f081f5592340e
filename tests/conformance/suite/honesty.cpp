// What is claimed works; what is not claimed answers UNIMPLEMENTED.
#include <algorithm>
#include <string>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

void devices_are_described(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    const tsr_device_desc& d = device.description();
    expect(d.device_class >= TSR_DEVICE_CPU && d.device_class <= TSR_DEVICE_STORAGE, "device_class is {}",
           d.device_class);
    expect(d.name[0] != '\0', "the device has no name");
    expect(d.peak_f32 >= 0 && d.peak_f64 >= 0, "a peak rate is negative");
    expect((d.capabilities & ~0x3fu) == 0, "a capability bit is set that has no meaning: {:#x}", d.capabilities);
    expect(d.space_count > 0, "the device has no memory space");
  });
}

void inline_streams(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    tsr_stream* stream = nullptr;
    const tsr_status status = device.table().stream_create(device.handle(), TSR_STREAM_INLINE, &stream);
    if (!device.has(TSR_DEVICE_INLINE)) {
      expect_status(status, TSR_UNIMPLEMENTED,
                    "stream_create(INLINE) on a device that does not claim TSR_DEVICE_INLINE");
      expect(stream == nullptr, "a failed stream_create wrote its out_ argument");
      return;
    }
    expect_ok(status, "stream_create(INLINE)");
    device.table().stream_destroy(device.handle(), stream);
    const queue direct(device, TSR_STREAM_INLINE);
    const buffer memory(device, compute_space(device), 1000);
    const std::vector<unsigned char> bytes(1000, 42);
    std::vector<unsigned char> back(1000);
    const tsr_copy in = plain_copy(memory.where(), memory.at(0), host_space, host_address(bytes.data()), 1000);
    const tsr_copy out = plain_copy(host_space, host_address(back.data()), memory.where(), memory.at(0), 1000);
    expect_ok(device.table().copy(device.handle(), direct.handle(), &in), "copy");
    expect_ok(device.table().copy(device.handle(), direct.handle(), &out), "copy");
    expect(back == bytes, "on an inline stream the work is not done when the call returns");
    expect(direct.reached(direct.signal()), "on an inline stream a signal is not reached at once");
  });
}

void clock_runs_forward(const subject& what) {
  const opened all(what);
  bool tried = false;
  for_each_device(all, [&](const device& device) {
    std::uint64_t before = 0, after = 0;
    if (device.table().query == nullptr ||
        device.table().query(device.handle(), TSR_QUERY_CLOCK_NS, 0, &before) != TSR_OK) {
      expect(!device.has(TSR_DEVICE_VIRTUAL_CLOCK), "a virtual clock is claimed but cannot be asked for");
      return;
    }
    tried = true;
    const queue stream(device);
    const std::vector<unsigned char> bytes(allocatable(device, 1 << 20), 1);
    const buffer memory(device, compute_space(device), bytes.size());
    upload(stream, memory, bytes.data(), bytes.size());
    expect_ok(device.table().query(device.handle(), TSR_QUERY_CLOCK_NS, 0, &after), "query(CLOCK_NS)");
    expect(after > before, "the clock stood at {} before and at {} after {} bytes were copied", before, after,
           bytes.size());
  });
  if (!tried) skip("the plugin has no clock");
}

void unknown_questions(const subject& what) {
  const opened all(what);
  for_each_device(all, [&](const device& device) {
    std::uint64_t value = 77;
    if (device.table().query != nullptr) {
      const tsr_status status = device.table().query(device.handle(), 0x7fffffff, 0, &value);
      expect(status == TSR_UNIMPLEMENTED || status == TSR_INVALID_ARGUMENT, "query of an unknown key answers {}",
             plugin::name_of(status));
      expect(value == 77, "a failed query wrote its out_ argument");
    }
    if (device.table().health != nullptr)
      expect_ok(device.table().health(device.handle()), "health of a device that works");
    if (all.session.table().extension == nullptr) return;
    const void* table = nullptr;
    expect_status(all.session.table().extension(all.session.handle(), device.handle(), 0x7fffffff, 1, &table),
                  TSR_UNIMPLEMENTED, "extension of an unknown id");
    for (tsr_extension_id id = TSR_EXTENSION_BLAS; id <= TSR_EXTENSION_TELEMETRY; ++id)
      expect_status(all.session.table().extension(all.session.handle(), device.handle(), id, 1000000, &table),
                    TSR_UNIMPLEMENTED, fmt::format("extension {} of a version that does not exist", id));
    expect(table == nullptr, "a failed extension wrote its out_ argument");
  });
}

void supports_is_honest(const subject& what) {
  const opened all(what);
  for_each_device(all, [](const device& device) {
    if (const auto* blas = device.blas(); blas != nullptr) {
      expect(blas->version >= 1, "the BLAS table has version 0");
      expect(blas->library != nullptr && *blas->library != '\0', "the BLAS table does not name its library");
      expect(!blas->supports(device.handle(), 999, TSR_F64), "BLAS operation 999 is claimed");
      expect(!blas->supports(device.handle(), TSR_BLAS_GEMM, TSR_TYPE_NONE), "gemm of bytes is claimed");
      const void* const entries[] = {
          reinterpret_cast<const void*>(blas->gemm),         reinterpret_cast<const void*>(blas->gemm_strided),
          reinterpret_cast<const void*>(blas->gemm_batched), reinterpret_cast<const void*>(blas->axpy),
          reinterpret_cast<const void*>(blas->scal),         reinterpret_cast<const void*>(blas->dot),
          reinterpret_cast<const void*>(blas->nrm2),         reinterpret_cast<const void*>(blas->syrk),
          reinterpret_cast<const void*>(blas->trsm),         reinterpret_cast<const void*>(blas->potrf)};
      for (tsr_blas_operation op = TSR_BLAS_GEMM; op <= TSR_BLAS_POTRF; ++op)
        for (tsr_type type = TSR_F32; type <= TSR_BF16; ++type)
          expect(!blas->supports(device.handle(), op, type) || entries[op - 1] != nullptr,
                 "BLAS operation {} is claimed for type {} but its entry is null", op, type);
      const bool f64 = blas->supports(device.handle(), TSR_BLAS_GEMM, TSR_F64);
      expect(!f64 || device.has(TSR_DEVICE_HAS_FP64), "gemm of float64 is claimed, TSR_DEVICE_HAS_FP64 is not");
    }
    if (const auto* tensor = device.tensor(); tensor != nullptr) {
      expect(tensor->version >= 1, "the TENSOR table has version 0");
      expect(!tensor->supports(device.handle(), 999, TSR_F64), "TENSOR operation 999 is claimed");
      const void* const entries[] = {
          reinterpret_cast<const void*>(tensor->permute), reinterpret_cast<const void*>(tensor->reduce_add),
          reinterpret_cast<const void*>(tensor->fill), reinterpret_cast<const void*>(tensor->contract)};
      for (tsr_tensor_operation op = TSR_TENSOR_PERMUTE; op <= TSR_TENSOR_CONTRACT; ++op)
        for (tsr_type type = TSR_F32; type <= TSR_BF16; ++type)
          expect(!tensor->supports(device.handle(), op, type) || entries[op - 1] != nullptr,
                 "TENSOR operation {} is claimed for type {} but its entry is null", op, type);
    }
  });
}

/// The uuid of each device, as enumerate gives it; "" where it is unknown.
std::vector<std::string> uuids_of(const opened& all) {
  std::vector<std::string> found;
  for (const auto& device : all.devices) {
    const tsr_device_desc& d = device->description();
    std::string text;
    for (const std::uint8_t byte : d.uuid) text += fmt::format("{:02x}", byte);
    found.push_back(text.find_first_not_of('0') == std::string::npos ? std::string{} : text);
  }
  return found;
}

void uuids_tell_devices_apart(const subject& what) {
  std::vector<std::string> first;
  for (int opening = 0; opening < 2; ++opening) {
    const opened all(what);
    const std::vector<std::string> found = uuids_of(all);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        expect(found[i].empty() || found[i] != found[j], "devices {} and {} have the same uuid, {}", j, i, found[i]);
    if (opening == 0) first = found;
    expect(found == first,
           "a second opening gives devices other uuids: a uuid is the same in every process that sees the device");
  }
  if (std::all_of(first.begin(), first.end(), [](const std::string& one) { return one.empty(); }))
    skip("no device has a uuid");
}

}  // namespace

std::vector<check> honesty_checks() {
  return {{"honesty.devices_are_described", devices_are_described},
          {"honesty.uuids_tell_devices_apart", uuids_tell_devices_apart},
          {"honesty.inline_streams", inline_streams},
          {"honesty.clock_runs_forward", clock_runs_forward},
          {"honesty.unknown_questions", unknown_questions},
          {"honesty.supports_is_honest", supports_is_honest}};
}

}  // namespace tessera::conformance
