//! `tessera/plugin.h`, version 1.1, in Rust: every struct, field and constant under the header's own names. What they mean, and what
//! a plugin promises, stands in the header. A test of Tessera compares sizes, offsets and values with the header.
#![allow(non_camel_case_types, dead_code)]

use std::ffi::{c_char, c_void};

pub const TSR_ABI_MAJOR: u32 = 1;
pub const TSR_ABI_MINOR: u32 = 1;
pub const TSR_MAX_RANK: usize = 8;
pub const TSR_IPC_KEY_BYTES: usize = 128;

/// An entry of a table that answers a status. `None` where it is not offered.
macro_rules! entry {
    ($($argument:ident: $type:ty),* $(,)?) => { Option<unsafe extern "C" fn($($argument: $type),*) -> tsr_status> };
}

macro_rules! opaque {
    ($($handle:ident),*) => {$(#[repr(C)] pub struct $handle { _opaque: [u8; 0] })*};
}

// ---- Status

pub type tsr_status = i32;
pub const TSR_OK: tsr_status = 0;
pub const TSR_CANCELLED: tsr_status = 1;
pub const TSR_UNKNOWN: tsr_status = 2;
pub const TSR_INVALID_ARGUMENT: tsr_status = 3;
pub const TSR_DEADLINE_EXCEEDED: tsr_status = 4;
pub const TSR_NOT_FOUND: tsr_status = 5;
pub const TSR_ALREADY_EXISTS: tsr_status = 6;
pub const TSR_PERMISSION_DENIED: tsr_status = 7;
pub const TSR_RESOURCE_EXHAUSTED: tsr_status = 8;
pub const TSR_FAILED_PRECONDITION: tsr_status = 9;
pub const TSR_ABORTED: tsr_status = 10;
pub const TSR_OUT_OF_RANGE: tsr_status = 11;
pub const TSR_UNIMPLEMENTED: tsr_status = 12;
pub const TSR_INTERNAL: tsr_status = 13;
pub const TSR_UNAVAILABLE: tsr_status = 14;
pub const TSR_DATA_LOSS: tsr_status = 15;
pub const TSR_UNAUTHENTICATED: tsr_status = 16;
pub const TSR_DEVICE_LOST: tsr_status = 64;
pub const TSR_NOT_READY: tsr_status = 65;
pub const TSR_WORKING_SET_TOO_LARGE: tsr_status = 66;

// ---- Handles: what they are, the plugin decides. It casts them

opaque!(tsr_plugin, tsr_device, tsr_memory, tsr_stream, tsr_module, tsr_kernel, tsr_graph, tsr_sparse);

// ---- Values

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_ticket {
    pub stream: *mut tsr_stream,
    pub value: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_address {
    pub memory: *mut tsr_memory,
    pub offset: u64,
}
pub type tsr_type = u32;
pub const TSR_TYPE_NONE: tsr_type = 0;
pub const TSR_F32: tsr_type = 1;
pub const TSR_F64: tsr_type = 2;
pub const TSR_C64: tsr_type = 3;
pub const TSR_C128: tsr_type = 4;
pub const TSR_I32: tsr_type = 5;
pub const TSR_I64: tsr_type = 6;
pub const TSR_U8: tsr_type = 7;
pub const TSR_F16: tsr_type = 8;
pub const TSR_BF16: tsr_type = 9;

// ---- Options

pub type tsr_option_type = u32;
pub const TSR_OPTION_BOOL: tsr_option_type = 1;
pub const TSR_OPTION_INT: tsr_option_type = 2;
pub const TSR_OPTION_FLOAT: tsr_option_type = 3;
pub const TSR_OPTION_STRING: tsr_option_type = 4;
pub const TSR_OPTION_BYTES: tsr_option_type = 5;
pub const TSR_OPTION_RATE: tsr_option_type = 6;
pub const TSR_OPTION_DURATION: tsr_option_type = 7;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_option {
    pub struct_size: u32,
    pub r#type: tsr_option_type,
    pub name: *const c_char,
    pub default_text: *const c_char,
    pub min_value: f64,
    pub max_value: f64,
    pub choices: *const c_char,
    pub doc: *const c_char,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_option_value {
    pub struct_size: u32,
    pub r#type: tsr_option_type,
    pub name: *const c_char,
    pub integer: i64,
    pub number: f64,
    pub text: *const c_char,
}

// ---- The host

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_host {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub context: *mut c_void,
    pub error: Option<unsafe extern "C" fn(context: *mut c_void, status: tsr_status, message: *const c_char)>,
    pub log: Option<unsafe extern "C" fn(context: *mut c_void, level: i32, message: *const c_char)>,
    pub cpu_mask: *const u64,
    pub cpu_words: u32,
}

// ---- Descriptions

pub type tsr_space_kind = u32;
pub const TSR_SPACE_HOST: tsr_space_kind = 1;
pub const TSR_SPACE_PINNED: tsr_space_kind = 2;
pub const TSR_SPACE_DEVICE: tsr_space_kind = 3;
pub const TSR_SPACE_MANAGED: tsr_space_kind = 4;
pub const TSR_SPACE_STORAGE: tsr_space_kind = 5;
pub const TSR_SPACE_ADDRESSABLE: u32 = 1 << 0;
pub const TSR_SPACE_HOST_VISIBLE: u32 = 1 << 1;
pub const TSR_SPACE_PEER_COPY: u32 = 1 << 2;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_space_desc {
    pub struct_size: u32,
    pub kind: tsr_space_kind,
    pub capabilities: u32,
    pub numa_node: i32,
    pub bytes: u64,
    pub granularity: u64,
    pub alignment: u64,
    pub name: *const c_char,
}
pub type tsr_device_class = u32;
pub const TSR_DEVICE_CPU: tsr_device_class = 1;
pub const TSR_DEVICE_GPU: tsr_device_class = 2;
pub const TSR_DEVICE_ACCELERATOR: tsr_device_class = 3;
pub const TSR_DEVICE_STORAGE: tsr_device_class = 4;
pub const TSR_DEVICE_HAS_FP64: u32 = 1 << 0;
pub const TSR_DEVICE_INLINE: u32 = 1 << 1;
pub const TSR_DEVICE_CALLBACK: u32 = 1 << 2;
pub const TSR_DEVICE_DEVICE_WAIT: u32 = 1 << 3;
pub const TSR_DEVICE_OWN_THREADS: u32 = 1 << 4;
pub const TSR_DEVICE_VIRTUAL_CLOCK: u32 = 1 << 5;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_device_desc {
    pub struct_size: u32,
    pub device_class: tsr_device_class,
    pub capabilities: u32,
    pub numa_node: i32,
    pub space_count: u32,
    pub compute_units: u32,
    pub copy_engines: u32,
    pub max_streams: u32,
    pub peak_f32: f64,
    pub peak_f64: f64,
    pub peaks_are_guesses: bool,
    pub uuid: [u8; 16],
    pub name: [c_char; 64],
    pub pci_address: [c_char; 24],
    pub max_allocation: u64, // since 1.1, as is what follows
    pub max_copy: u64,
}
pub type tsr_link_class = u32;
pub const TSR_LINK_SAME: tsr_link_class = 1;
pub const TSR_LINK_PEER: tsr_link_class = 2;
pub const TSR_LINK_BUS: tsr_link_class = 3;
pub const TSR_LINK_NETWORK: tsr_link_class = 4;
pub const TSR_LINK_STORAGE: tsr_link_class = 5;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_link_desc {
    pub struct_size: u32,
    pub link_class: tsr_link_class,
    pub bandwidth: f64,
    pub latency: f64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_space_ref {
    pub device: *mut tsr_device,
    pub space: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_copy {
    pub struct_size: u32,
    pub destination_space: tsr_space_ref,
    pub source_space: tsr_space_ref,
    pub destination: tsr_address,
    pub source: tsr_address,
    pub bytes: u64,
    pub rows: [u64; 2],
    pub destination_stride: [u64; 2],
    pub source_stride: [u64; 2],
}

// ---- The device table

pub const TSR_STREAM_COMPUTE: u32 = 0;
pub const TSR_STREAM_COPY: u32 = 1 << 0;
pub const TSR_STREAM_INLINE: u32 = 1 << 1;
pub type tsr_query_key = u32;
pub const TSR_QUERY_FREE_BYTES: tsr_query_key = 1;
pub const TSR_QUERY_CLOCK_NS: tsr_query_key = 2;
pub const TSR_QUERY_MILLIWATTS: tsr_query_key = 3;
pub const TSR_QUERY_LIVE_ALLOCATIONS: tsr_query_key = 4;
pub const TSR_QUERY_BUSY_NS: tsr_query_key = 5;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_launch {
    pub struct_size: u32,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub shared_bytes: u32,
    pub arguments: *const *const c_void,
    pub argument_sizes: *const u32,
    pub argument_count: u32,
}
/// Since 1.1.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_host_work {
    pub struct_size: u32,
    pub range_count: u32,
    pub function: tsr_host_function,
    pub argument: *mut c_void,
    pub ranges: *const tsr_address,
    pub range_bytes: *const u64,
    pub modelled_flops: f64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_device_table {
    pub struct_size: u32,
    pub spaces: entry!(device: *mut tsr_device, index: u32, out_desc: *mut tsr_space_desc),
    pub link: entry!(device: *mut tsr_device, source: tsr_space_ref, destination: tsr_space_ref, out_link: *mut tsr_link_desc),
    pub mem_alloc: entry!(device: *mut tsr_device, space: u32, bytes: u64, out_memory: *mut *mut tsr_memory),
    pub mem_free: entry!(device: *mut tsr_device, memory: *mut tsr_memory),
    pub stream_create: entry!(device: *mut tsr_device, flags: u32, out_stream: *mut *mut tsr_stream),
    pub stream_destroy: entry!(device: *mut tsr_device, stream: *mut tsr_stream),
    pub stream_signal: entry!(device: *mut tsr_device, stream: *mut tsr_stream, out_ticket: *mut tsr_ticket),
    pub stream_progress: entry!(device: *mut tsr_device, stream: *mut tsr_stream, out_value: *mut u64, out_failed: *mut u64),
    pub copy: entry!(device: *mut tsr_device, stream: *mut tsr_stream, copy: *const tsr_copy),
    pub query: entry!(device: *mut tsr_device, key: tsr_query_key, index: u32, out_value: *mut u64),
    pub health: entry!(device: *mut tsr_device),
    pub thread_attach: entry!(device: *mut tsr_device),
    pub thread_detach: entry!(device: *mut tsr_device),
    pub host_register: entry!(device: *mut tsr_device, pointer: *mut c_void, bytes: u64),
    pub host_unregister: entry!(device: *mut tsr_device, pointer: *mut c_void),
    pub mem_base: entry!(device: *mut tsr_device, memory: *mut tsr_memory, out_base: *mut *mut c_void),
    pub mem_map: entry!(device: *mut tsr_device, memory: *mut tsr_memory, offset: u64, bytes: u64, out_pointer: *mut *mut c_void),
    pub mem_unmap: entry!(device: *mut tsr_device, memory: *mut tsr_memory, pointer: *mut c_void),
    pub stream_wait: entry!(device: *mut tsr_device, stream: *mut tsr_stream, ticket: tsr_ticket),
    pub stream_host_wait: entry!(device: *mut tsr_device, ticket: tsr_ticket, timeout_ns: u64),
    pub stream_callback: entry!(device: *mut tsr_device, stream: *mut tsr_stream, function: tsr_callback, argument: *mut c_void),
    pub stream_native: entry!(device: *mut tsr_device, stream: *mut tsr_stream, out_native: *mut *mut c_void),
    pub fill: entry!(device: *mut tsr_device, stream: *mut tsr_stream, destination: tsr_address, pattern: *const c_void, pattern_bytes: u32, count: u64),
    pub module_load: entry!(device: *mut tsr_device, image: *const c_void, bytes: u64, out_module: *mut *mut tsr_module),
    pub module_unload: entry!(device: *mut tsr_device, module: *mut tsr_module),
    pub kernel_get: entry!(device: *mut tsr_device, module: *mut tsr_module, name: *const c_char, out_kernel: *mut *mut tsr_kernel),
    pub launch: entry!(device: *mut tsr_device, stream: *mut tsr_stream, kernel: *mut tsr_kernel, launch: *const tsr_launch),
    pub host_task: entry!(device: *mut tsr_device, stream: *mut tsr_stream, function: tsr_host_function, argument: *mut c_void, ranges: *const tsr_address, range_count: u32, modelled_flops: f64),
    pub mem_native: entry!(device: *mut tsr_device, memory: *mut tsr_memory, out_native: *mut *mut c_void),
    pub host_work: entry!(device: *mut tsr_device, stream: *mut tsr_stream, work: *const tsr_host_work), // since 1.1
}

// ---- Extensions

pub type tsr_extension_id = u32;
pub const TSR_EXTENSION_BLAS: tsr_extension_id = 1;
pub const TSR_EXTENSION_TENSOR: tsr_extension_id = 2;
pub const TSR_EXTENSION_SPARSE: tsr_extension_id = 3;
pub const TSR_EXTENSION_GRAPH: tsr_extension_id = 4;
pub const TSR_EXTENSION_JIT: tsr_extension_id = 5;
pub const TSR_EXTENSION_IPC: tsr_extension_id = 6;
pub const TSR_EXTENSION_TELEMETRY: tsr_extension_id = 7;
pub type tsr_transpose = u32;
pub const TSR_NO_TRANSPOSE: tsr_transpose = 0;
pub const TSR_TRANSPOSE: tsr_transpose = 1;
pub const TSR_CONJUGATE_TRANSPOSE: tsr_transpose = 2;
pub type tsr_triangle = u32;
pub const TSR_LOWER: tsr_triangle = 0;
pub const TSR_UPPER: tsr_triangle = 1;
pub type tsr_side = u32;
pub const TSR_LEFT: tsr_side = 0;
pub const TSR_RIGHT: tsr_side = 1;
pub type tsr_blas_operation = u32;
pub const TSR_BLAS_GEMM: tsr_blas_operation = 1;
pub const TSR_BLAS_GEMM_STRIDED: tsr_blas_operation = 2;
pub const TSR_BLAS_GEMM_BATCHED: tsr_blas_operation = 3;
pub const TSR_BLAS_AXPY: tsr_blas_operation = 4;
pub const TSR_BLAS_SCAL: tsr_blas_operation = 5;
pub const TSR_BLAS_DOT: tsr_blas_operation = 6;
pub const TSR_BLAS_NRM2: tsr_blas_operation = 7;
pub const TSR_BLAS_SYRK: tsr_blas_operation = 8;
pub const TSR_BLAS_TRSM: tsr_blas_operation = 9;
pub const TSR_BLAS_POTRF: tsr_blas_operation = 10;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_workspace {
    pub address: tsr_address,
    pub bytes: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_gemm {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub transpose_a: tsr_transpose,
    pub transpose_b: tsr_transpose,
    pub m: i64,
    pub n: i64,
    pub k: i64,
    pub alpha: *const c_void,
    pub beta: *const c_void,
    pub a: tsr_address,
    pub b: tsr_address,
    pub c: tsr_address,
    pub lda: i64,
    pub ldb: i64,
    pub ldc: i64,
    pub batch: i64,
    pub stride_a: i64,
    pub stride_b: i64,
    pub stride_c: i64,
    pub a_array: *const tsr_address,
    pub b_array: *const tsr_address,
    pub c_array: *const tsr_address,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_syrk {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub triangle: tsr_triangle,
    pub transpose: tsr_transpose,
    pub n: i64,
    pub k: i64,
    pub alpha: *const c_void,
    pub beta: *const c_void,
    pub a: tsr_address,
    pub c: tsr_address,
    pub lda: i64,
    pub ldc: i64,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_trsm {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub side: tsr_side,
    pub triangle: tsr_triangle,
    pub transpose: tsr_transpose,
    pub unit_diagonal: bool,
    pub m: i64,
    pub n: i64,
    pub alpha: *const c_void,
    pub a: tsr_address,
    pub b: tsr_address,
    pub lda: i64,
    pub ldb: i64,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_potrf {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub triangle: tsr_triangle,
    pub n: i64,
    pub a: tsr_address,
    pub lda: i64,
    pub info: tsr_address,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_vector_operation {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub n: i64,
    pub alpha: *const c_void,
    pub x: tsr_address,
    pub y: tsr_address,
    pub result: tsr_address,
    pub incx: i64,
    pub incy: i64,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_blas_table {
    pub struct_size: u32,
    pub version: u32,
    pub library: *const c_char,
    pub supports: Option<unsafe extern "C" fn(device: *mut tsr_device, operation: tsr_blas_operation, r#type: tsr_type) -> bool>,
    pub workspace: entry!(device: *mut tsr_device, operation: tsr_blas_operation, arguments: *const c_void, out_bytes: *mut u64),
    pub gemm: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_gemm),
    pub gemm_strided: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_gemm),
    pub gemm_batched: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_gemm),
    pub axpy: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_vector_operation),
    pub scal: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_vector_operation),
    pub dot: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_vector_operation),
    pub nrm2: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_vector_operation),
    pub syrk: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_syrk),
    pub trsm: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_trsm),
    pub potrf: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_potrf),
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_permute {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub rank: u32,
    pub extents: [i64; TSR_MAX_RANK],
    pub permutation: [u32; TSR_MAX_RANK],
    pub alpha: *const c_void,
    pub beta: *const c_void,
    pub source: tsr_address,
    pub destination: tsr_address,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_contract {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub rank_a: u32,
    pub rank_b: u32,
    pub rank_c: u32,
    pub extents_a: [i64; TSR_MAX_RANK],
    pub extents_b: [i64; TSR_MAX_RANK],
    pub modes_a: [i32; TSR_MAX_RANK],
    pub modes_b: [i32; TSR_MAX_RANK],
    pub modes_c: [i32; TSR_MAX_RANK],
    pub alpha: *const c_void,
    pub beta: *const c_void,
    pub batch: i64,
    pub a_array: *const tsr_address,
    pub b_array: *const tsr_address,
    pub c_array: *const tsr_address,
    pub workspace: tsr_workspace,
}
pub type tsr_tensor_operation = u32;
pub const TSR_TENSOR_PERMUTE: tsr_tensor_operation = 1;
pub const TSR_TENSOR_REDUCE_ADD: tsr_tensor_operation = 2;
pub const TSR_TENSOR_FILL: tsr_tensor_operation = 3;
pub const TSR_TENSOR_CONTRACT: tsr_tensor_operation = 4;
pub const TSR_TENSOR_REDUCE: tsr_tensor_operation = 5;
pub type tsr_reduction = u32;
pub const TSR_REDUCTION_SUM: tsr_reduction = 1;
pub const TSR_REDUCTION_MIN: tsr_reduction = 2;
pub const TSR_REDUCTION_MAX: tsr_reduction = 3;
pub const TSR_REDUCTION_SUM_OF_SQUARES: tsr_reduction = 4;
pub const TSR_REDUCTION_MAX_MAGNITUDE: tsr_reduction = 5;
pub type tsr_reduction_direction = u32;
pub const TSR_REDUCTION_PER_ROW: tsr_reduction_direction = 0;
pub const TSR_REDUCTION_PER_COLUMN: tsr_reduction_direction = 1;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_reduce {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub reduction: tsr_reduction,
    pub direction: tsr_reduction_direction,
    pub m: i64,
    pub n: i64,
    pub source: tsr_address,
    pub ld: i64,
    pub destination: tsr_address,
    pub workspace: tsr_workspace,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_tensor_table {
    pub struct_size: u32,
    pub version: u32,
    pub supports: Option<unsafe extern "C" fn(device: *mut tsr_device, operation: tsr_tensor_operation, r#type: tsr_type) -> bool>,
    pub workspace: entry!(device: *mut tsr_device, operation: tsr_tensor_operation, arguments: *const c_void, out_bytes: *mut u64),
    pub permute: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_permute),
    pub reduce_add: entry!(device: *mut tsr_device, stream: *mut tsr_stream, r#type: tsr_type, count: i64, destination: tsr_address, sources: *const tsr_address, source_count: u32),
    pub fill: entry!(device: *mut tsr_device, stream: *mut tsr_stream, r#type: tsr_type, count: i64, destination: tsr_address, value: *const c_void),
    pub contract: entry!(device: *mut tsr_device, stream: *mut tsr_stream, r#type: tsr_type, alpha: *const c_void, beta: *const c_void, a: tsr_address, rank_a: u32, extents_a: *const i64, modes_a: *const i32, b: tsr_address, rank_b: u32, extents_b: *const i64, modes_b: *const i32, c: tsr_address, rank_c: u32, modes_c: *const i32, workspace: tsr_workspace),
    pub reduce: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_reduce),
    pub contract_batched: entry!(device: *mut tsr_device, stream: *mut tsr_stream, arguments: *const tsr_contract),
}
pub type tsr_sparse_operation = u32;
pub const TSR_SPARSE_SPMM: tsr_sparse_operation = 1;
pub const TSR_SPARSE_SPMM_TRANSPOSED: tsr_sparse_operation = 2;
pub const TSR_SPARSE_BSR_SPMM: tsr_sparse_operation = 3;
pub const TSR_SPARSE_BSR_SPMM_TRANSPOSED: tsr_sparse_operation = 4;
pub const TSR_CSR_NEVER_TRANSPOSED: u32 = 1 << 0;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_csr {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub rows: i64,
    pub columns: i64,
    pub nonzeros: i64,
    pub row_starts: tsr_address,
    pub column_indices: tsr_address,
    pub values: tsr_address,
    pub flags: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_bsr {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub rows: i64,
    pub columns: i64,
    pub tile_rows: i64,
    pub tile_columns: i64,
    pub tiles: i64,
    pub row_starts: tsr_address,
    pub column_indices: tsr_address,
    pub values: tsr_address,
    pub flags: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_sparse_table {
    pub struct_size: u32,
    pub version: u32,
    pub supports: Option<unsafe extern "C" fn(device: *mut tsr_device, operation: tsr_sparse_operation, r#type: tsr_type) -> bool>,
    pub create_csr: entry!(device: *mut tsr_device, matrix: *const tsr_csr, out_matrix: *mut *mut tsr_sparse),
    pub destroy: entry!(device: *mut tsr_device, matrix: *mut tsr_sparse),
    pub spmm: entry!(device: *mut tsr_device, stream: *mut tsr_stream, transpose: tsr_transpose, alpha: *const c_void, matrix: *mut tsr_sparse, x: tsr_address, ldx: i64, b: i64, beta: *const c_void, y: tsr_address, ldy: i64, workspace: tsr_workspace),
    pub create_bsr: entry!(device: *mut tsr_device, matrix: *const tsr_bsr, out_matrix: *mut *mut tsr_sparse),
    pub workspace: entry!(device: *mut tsr_device, transpose: tsr_transpose, matrix: *mut tsr_sparse, b: i64, out_bytes: *mut u64), // since 1.1
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_graph_table {
    pub struct_size: u32,
    pub version: u32,
    pub capture_begin: entry!(device: *mut tsr_device, stream: *mut tsr_stream),
    pub capture_end: entry!(device: *mut tsr_device, stream: *mut tsr_stream, out_graph: *mut *mut tsr_graph),
    pub launch: entry!(device: *mut tsr_device, stream: *mut tsr_stream, graph: *mut tsr_graph),
    pub update: entry!(device: *mut tsr_device, graph: *mut tsr_graph, node: u32, launch: *const tsr_launch),
    pub destroy: entry!(device: *mut tsr_device, graph: *mut tsr_graph),
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_jit_table {
    pub struct_size: u32,
    pub version: u32,
    pub languages: *const c_char,
    pub compile: entry!(device: *mut tsr_device, language: *const c_char, source: *const c_char, options: *const c_char, out_image: *mut *mut c_void, out_bytes: *mut u64),
    pub release: Option<unsafe extern "C" fn(device: *mut tsr_device, image: *mut c_void)>,
    pub identity: Option<unsafe extern "C" fn(device: *mut tsr_device) -> *const c_char>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_ipc_table {
    pub struct_size: u32,
    pub version: u32,
    pub export_memory: entry!(device: *mut tsr_device, memory: *mut tsr_memory, out_key: *mut u8),
    pub import_memory: entry!(device: *mut tsr_device, key: *const u8, out_memory: *mut *mut tsr_memory),
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_counter {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub value: f64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_telemetry_table {
    pub struct_size: u32,
    pub version: u32,
    pub read: entry!(device: *mut tsr_device, counters: *mut tsr_counter, capacity: u32, out_count: *mut u32),
}

// ---- The plugin and its header

#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_plugin_table {
    pub struct_size: u32,
    pub enumerate: entry!(plugin: *mut tsr_plugin, index: u32, out_desc: *mut tsr_device_desc, out_count: *mut u32),
    pub device_open: entry!(plugin: *mut tsr_plugin, index: u32, out_device: *mut *mut tsr_device, out_table: *mut *const tsr_device_table),
    pub device_close: entry!(plugin: *mut tsr_plugin, device: *mut tsr_device),
    pub devices_ready: entry!(plugin: *mut tsr_plugin),
    pub extension: entry!(plugin: *mut tsr_plugin, device: *mut tsr_device, id: tsr_extension_id, min_version: u32, out_table: *mut *const c_void),
    pub shutdown: entry!(plugin: *mut tsr_plugin),
}
pub type tsr_intent = u32;
pub const TSR_READ: tsr_intent = 0;
pub const TSR_WRITE: tsr_intent = 1;
pub const TSR_UPDATE: tsr_intent = 2;
pub const TSR_ACCUMULATE: tsr_intent = 3;
pub const TSR_SCRATCH: tsr_intent = 4;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_block_view {
    pub struct_size: u32,
    pub r#type: tsr_type,
    pub rank: u32,
    pub extents: [i64; TSR_MAX_RANK],
    pub data: *mut c_void,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_operation {
    pub struct_size: u32,
    pub name: *const c_char,
    pub intents: *const tsr_intent,
    pub intent_count: u32,
    pub host: entry!(host: *const tsr_host, blocks: *const tsr_block_view, block_count: u32, arguments: *const c_void, argument_bytes: u64),
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_operations_table {
    pub struct_size: u32,
    pub count: u32,
    pub operations: *const tsr_operation,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_candidate {
    pub location: u32,
    pub queue_seconds: f64,
    pub transfer_seconds: f64,
    pub execute_seconds: f64,
    pub resident_bytes: u64,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_policy_table {
    pub struct_size: u32,
    pub place: Option<unsafe extern "C" fn(plugin: *mut tsr_plugin, operation: *const c_char, candidates: *const tsr_candidate, count: u32) -> u32>,
}
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_layer_table {
    pub struct_size: u32,
    pub wrap: Option<unsafe extern "C" fn(inner: *const tsr_plugin_header) -> *const tsr_plugin_header>,
}
pub type tsr_plugin_kind = u32;
pub const TSR_PLUGIN_DEVICE: tsr_plugin_kind = 1;
pub const TSR_PLUGIN_STORAGE: tsr_plugin_kind = 2;
pub const TSR_PLUGIN_OPERATIONS: tsr_plugin_kind = 3;
pub const TSR_PLUGIN_POLICY: tsr_plugin_kind = 4;
pub const TSR_PLUGIN_LAYER: tsr_plugin_kind = 5;
pub type tsr_sanitizer_kind = u32;
pub const TSR_SANITIZER_NONE: tsr_sanitizer_kind = 0;
pub const TSR_SANITIZER_ADDRESS: tsr_sanitizer_kind = 1;
pub const TSR_SANITIZER_THREAD: tsr_sanitizer_kind = 2;
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tsr_plugin_header {
    pub struct_size: u32,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub kind: tsr_plugin_kind,
    pub sanitizer: tsr_sanitizer_kind,
    pub features: u64,
    pub name: *const c_char,
    pub vendor: *const c_char,
    pub version: *const c_char,
    pub build: *const c_char,
    pub options: *const tsr_option,
    pub option_count: u32,
    pub probe: Option<unsafe extern "C" fn(host: *const tsr_host, reason: *mut c_char, reason_bytes: u32) -> u32>,
    pub open: entry!(host: *const tsr_host, options: *const tsr_option_value, option_count: u32, out_plugin: *mut *mut tsr_plugin, out_table: *mut *const c_void),
    pub close: Option<unsafe extern "C" fn(plugin: *mut tsr_plugin)>,
    pub reserved: [*const c_void; 4],
}

/// What stream_callback calls.
pub type tsr_callback = Option<unsafe extern "C" fn(argument: *mut c_void)>;
/// What host_task and host_work run.
pub type tsr_host_function = entry!(argument: *mut c_void, bases: *const *mut c_void);

/// A struct that begins with its `struct_size` and consists of numbers and pointers alone.
/// # Safety
/// It does, and all bits 0 are a value of it.
pub unsafe trait Struct: Copy {
    const SIZE: u32 = std::mem::size_of::<Self>() as u32;
    /// Numbers are 0, pointers NULL, entries `None`.
    const EMPTY: Self = unsafe { std::mem::zeroed() };
}
macro_rules! structs {
    ($($name:ident),* $(,)?) => {$(
        unsafe impl Struct for $name {}
        unsafe impl Sync for $name {} // tables and headers are statics that all threads read
    )*};
}
structs!(
    tsr_option,
    tsr_option_value,
    tsr_host,
    tsr_space_desc,
    tsr_device_desc,
    tsr_link_desc,
    tsr_copy,
    tsr_launch,
    tsr_host_work,
    tsr_device_table,
    tsr_gemm,
    tsr_syrk,
    tsr_trsm,
    tsr_potrf,
    tsr_vector_operation,
    tsr_blas_table,
    tsr_permute,
    tsr_contract,
    tsr_reduce,
    tsr_tensor_table,
    tsr_csr,
    tsr_bsr,
    tsr_sparse_table,
    tsr_graph_table,
    tsr_jit_table,
    tsr_ipc_table,
    tsr_telemetry_table,
    tsr_plugin_table,
    tsr_block_view,
    tsr_operation,
    tsr_operations_table,
    tsr_policy_table,
    tsr_layer_table,
    tsr_plugin_header
);
