//! A device plugin in Rust, to clone: a device whose memory is the host's, with a worker thread for each stream. It passes the
//! conformance suite; put your device's calls in the place of one function after the other, and run the suite again after each.
//! README.md has the steps, tessera.rs the structs, <tessera/plugin.h> the contracts in full.
//!
//! Nothing of Rust crosses the boundary: entries are `extern "C"`, take and give plain structs, and a panic ends where it happened.
#![crate_type = "cdylib"]
#[cfg(not(panic = "unwind"))]
compile_error!("build with panic=unwind: with abort, a panic of the plugin ends the whole process without a word");

mod tessera;
use std::alloc::{alloc, dealloc, Layout};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tessera::*;

/// Of the plugin: of its table in the configuration, and of its file.
const NAME: &CStr = c"template";
const ALIGNMENT: u64 = 64;
const CAPACITY: u64 = 256 << 20;

// ---- Failures: a status and one sentence, which is left with the host before the status is returned (rule R3).

struct Failure {
    status: tsr_status,
    message: String,
}
type Outcome<T = ()> = Result<T, Failure>;

fn fail<T>(status: tsr_status, message: impl Into<String>) -> Outcome<T> {
    Err(Failure { status, message: message.into() })
}
fn invalid<T>(message: impl Into<String>) -> Outcome<T> {
    fail(TSR_INVALID_ARGUMENT, message)
}

thread_local! {
    /// Place and words of the last panic of this thread.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}
/// Instead of printing (rule R4). It is the hook of this library alone.
fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string().replace('\n', " "))));
}
/// Runs `body`; a panic in it is a failure like others.
fn contained<T>(body: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| fail(TSR_INTERNAL, PANIC.take()))
}

/// What Tessera offers us, from `open` to `shutdown`; all of it may be called by any thread.
#[derive(Clone, Copy)]
struct Host(*const tsr_host);
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

impl Host {
    fn status_of(self, outcome: Outcome) -> tsr_status {
        let Err(Failure { status, message }) = outcome else { return TSR_OK };
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        unsafe {
            if let Some(error) = (*self.0).error {
                error((*self.0).context, status, message.as_ptr());
            }
        }
        status
    }
    /// Binds the calling thread to the processors that we may use.
    fn bind_thread(self) {
        extern "C" {
            fn sched_setaffinity(thread: i32, bytes: usize, mask: *const u64) -> i32;
        }
        unsafe {
            if !(*self.0).cpu_mask.is_null() {
                sched_setaffinity(0, (*self.0).cpu_words as usize * size_of::<u64>(), (*self.0).cpu_mask);
            }
        }
    }
}

// ---- Entries: what the host calls. A NULL handle is an answer, a failure is recorded, a panic is contained.

trait Handle {
    type Raw;
    fn host(&self) -> Host;
}

macro_rules! entries {
    ($(fn $name:ident($this:ident: &$type:ty $(, $argument:ident: $given:ty)* $(,)?) $body:block)*) => {$(
        unsafe extern "C" fn $name($this: *mut <$type as Handle>::Raw $(, $argument: $given)*) -> tsr_status {
            let Some($this) = ($this as *const $type).as_ref() else { return TSR_INVALID_ARGUMENT };
            $this.host().status_of(contained(|| $body))
        }
    )*};
}

/// An out_ argument.
unsafe fn out<'a, T>(pointer: *mut T) -> Outcome<&'a mut T> {
    pointer.as_mut().map_or_else(|| invalid("an out_ argument is NULL"), Ok)
}
/// Rule R1: no more of a struct is written than the room that the caller announced.
unsafe fn fill_out<T: Struct>(to: *mut T, mut value: T) -> Outcome {
    let room = *(out(to)? as *mut T as *const u32);
    if room == 0 {
        return invalid("an out_ struct does not say its size");
    }
    let size = room.min(T::SIZE);
    *(&mut value as *mut T as *mut u32) = size;
    ptr::copy_nonoverlapping(&value as *const T as *const u8, to as *mut u8, size as usize);
    Ok(())
}
/// Rule R1: a struct is read when the caller knows all of it that we do.
unsafe fn given<'a, T: Struct>(from: *const T) -> Outcome<&'a T> {
    match from.as_ref() {
        Some(read) if *(from as *const u32) >= T::SIZE => Ok(read),
        _ => invalid("a struct is NULL, or its struct_size is too small"),
    }
}

// ---- Handles. Live ones are kept, so that a stale or foreign handle is an error and no crash.

struct Live<T>(Mutex<HashMap<usize, Arc<T>>>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
impl<T> Live<T> {
    fn new() -> Self {
        Live(Mutex::default())
    }
    /// The handle of what is added.
    fn add<Raw>(&self, one: T) -> *mut Raw {
        let one = Arc::new(one);
        let address = Arc::as_ptr(&one) as usize;
        locked(&self.0).insert(address, one);
        address as *mut Raw
    }
    fn get<Raw>(&self, handle: *const Raw) -> Outcome<Arc<T>> {
        locked(&self.0).get(&(handle as usize)).cloned().map_or_else(|| invalid("not a live handle of this device"), Ok)
    }
    fn take<Raw>(&self, handle: *const Raw) -> Outcome<Arc<T>> {
        locked(&self.0).remove(&(handle as usize)).map_or_else(|| invalid("not a live handle of this device"), Ok)
    }
}

struct Device {
    host: Host,
    streams: Live<Stream>, // first: they end before the memory goes
    memories: Live<Memory>,
    used: Arc<Mutex<u64>>,
}
impl Handle for Device {
    type Raw = tsr_device;
    fn host(&self) -> Host {
        self.host
    }
}

// ---- Spaces and links. Describe each memory that the core may allocate in, and what direct copies cost.

entries! {
    fn spaces(_device: &Device, index: u32, out_desc: *mut tsr_space_desc) {
        if index > 0 {
            return fail(TSR_OUT_OF_RANGE, "the device has one space");
        }
        fill_out(out_desc, tsr_space_desc {
            kind: TSR_SPACE_DEVICE, // memory that the host cannot read has no HOST_VISIBLE
            capabilities: TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE,
            numa_node: -1,
            bytes: CAPACITY,
            granularity: ALIGNMENT,
            alignment: ALIGNMENT,
            name: c"memory".as_ptr(),
            ..Struct::EMPTY
        })
    }
    fn link(device: &Device, source: tsr_space_ref, destination: tsr_space_ref, out_link: *mut tsr_link_desc) {
        device.check_link(source, destination)?;
        // A discrete device: TSR_LINK_BUS, and what its bus reaches. Estimates are better than nothing.
        fill_out(out_link, tsr_link_desc { link_class: TSR_LINK_SAME, bandwidth: 8e9, latency: 1000.0, ..Struct::EMPTY })
    }
}
impl Device {
    fn check_link(&self, source: tsr_space_ref, destination: tsr_space_ref) -> Outcome {
        for side in [source, destination] {
            if !side.device.is_null() && side.device as *const Device != self {
                return invalid("a side is of another plugin");
            }
            if !side.device.is_null() && side.space > 0 {
                return fail(TSR_OUT_OF_RANGE, "the device has one space");
            }
        }
        if source.device.is_null() && destination.device.is_null() {
            return fail(TSR_UNIMPLEMENTED, "neither side is this device's");
        }
        Ok(())
    }
}

// ---- Memory. Allocate coarsely; the core carves. Exhaustion is an answer, not a disaster.

struct Memory {
    base: *mut u8,
    layout: Layout,
    used: Arc<Mutex<u64>>, // of the device
}
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl Memory {
    fn allocate(bytes: u64, used: &Arc<Mutex<u64>>) -> Outcome<Memory> {
        let exhausted = || fail(TSR_RESOURCE_EXHAUSTED, "the device's memory is used up");
        let mut sum = locked(used);
        let Some(rounded) = bytes.checked_next_multiple_of(ALIGNMENT).filter(|rounded| *rounded <= CAPACITY - *sum) else { return exhausted() };
        let Ok(layout) = Layout::from_size_align(rounded as usize, ALIGNMENT as usize) else { return exhausted() };
        let base = unsafe { alloc(layout) }; // your driver's allocation
        if base.is_null() {
            return exhausted();
        }
        *sum += rounded;
        Ok(Memory { base, layout, used: used.clone() })
    }
}
impl Drop for Memory {
    fn drop(&mut self) {
        unsafe { dealloc(self.base, self.layout) };
        *locked(&self.used) -= self.layout.size() as u64;
    }
}

/// A place in memory that work is queued for; an allocation stays until the work is done.
struct Place {
    at: *mut u8,
    _kept: Option<Arc<Memory>>,
}
unsafe impl Send for Place {}

impl Place {
    fn pointer<T>(&self) -> *mut T {
        self.at as *mut T
    }
}

impl Device {
    /// {memory, offset} as a pointer, when `bytes` lie inside; without memory the offset is a plain host pointer.
    fn resolve(&self, address: tsr_address, bytes: u64) -> Outcome<Place> {
        if address.memory.is_null() {
            if address.offset == 0 && bytes > 0 {
                return invalid("a NULL pointer");
            }
            return Ok(Place { at: address.offset as *mut u8, _kept: None });
        }
        let memory = self.memories.get(address.memory)?;
        let size = memory.layout.size() as u64;
        if address.offset > size || bytes > size - address.offset {
            return fail(TSR_OUT_OF_RANGE, format!("{bytes} bytes from {} on leave an allocation of {size}", address.offset));
        }
        Ok(Place { at: memory.base.wrapping_add(address.offset as usize), _kept: Some(memory) })
    }
}

entries! {
    fn mem_alloc(device: &Device, space: u32, bytes: u64, out_memory: *mut *mut tsr_memory) {
        if space > 0 {
            return fail(TSR_OUT_OF_RANGE, "the device has one space");
        }
        if bytes == 0 {
            return invalid("an allocation of 0 bytes");
        }
        let out_memory = out(out_memory)?;
        *out_memory = device.memories.add(Memory::allocate(bytes, &device.used)?);
        Ok(())
    }
    fn mem_free(device: &Device, memory: *mut tsr_memory) {
        device.memories.take(memory).map(drop)
    }
    fn mem_base(device: &Device, memory: *mut tsr_memory, out_base: *mut *mut c_void) {
        *out(out_base)? = device.memories.get(memory)?.base as *mut c_void;
        Ok(())
    }
}

// ---- Streams. One thread works off what a stream was given, in order. A real device has its queue here, and events for tickets.

/// What was signalled, what is reached, what failed. Whoever waits for a ticket shares it, so that a wait may outlive the stream.
#[derive(Default)]
struct Timeline {
    points: Mutex<Points>,
    changed: Condvar,
}
#[derive(Default)]
struct Points {
    signalled: u64,
    reached: u64,
    failed: VecDeque<(u64, Failure)>, // not yet told
}
impl Timeline {
    fn reach(&self, value: u64, failure: Option<Failure>) {
        let mut points = locked(&self.points);
        points.reached = value;
        points.failed.extend(failure.map(|failure| (value, failure)));
        self.changed.notify_all();
    }
    /// Whether the value was reached before the time had passed.
    fn wait(&self, value: u64, limit: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(locked(&self.points), limit, |points| points.reached < value);
        waited.unwrap_or_else(PoisonError::into_inner).0.reached >= value
    }
}

enum Work {
    Run(Box<dyn FnOnce() -> Outcome + Send>),
    Signal(u64),
}

/// A failure belongs to the next signal; the first one before a signal is kept.
fn work_off(queue: Receiver<Work>, line: Arc<Timeline>, host: Host) {
    host.bind_thread();
    let mut failure = None;
    for work in queue {
        match work {
            Work::Run(task) => failure = failure.or(contained(task).err()), // what the task holds is gone before its ticket is reached
            Work::Signal(value) => line.reach(value, failure.take()),
        }
    }
}

struct Stream {
    queue: Option<Sender<Work>>, // None: at the end
    line: Arc<Timeline>,
    thread: Option<std::thread::JoinHandle<()>>,
}
impl Stream {
    fn start(host: Host) -> Outcome<Stream> {
        let (queue, received) = channel();
        let line = Arc::new(Timeline::default());
        let shared = line.clone();
        let thread = std::thread::Builder::new().name(NAME.to_string_lossy().into()).spawn(move || work_off(received, shared, host));
        match thread {
            Ok(thread) => Ok(Stream { queue: Some(queue), line, thread: Some(thread) }),
            Err(refused) => fail(TSR_RESOURCE_EXHAUSTED, format!("no thread for a stream: {refused}")),
        }
    }
    fn push(&self, work: Work) -> Outcome {
        match self.queue.as_ref().map(|queue| queue.send(work)) {
            Some(Ok(())) => Ok(()),
            _ => fail(TSR_INTERNAL, "the stream's thread is gone"),
        }
    }
    fn run(&self, task: impl FnOnce() -> Outcome + Send + 'static) -> Outcome {
        self.push(Work::Run(Box::new(task)))
    }
}
impl Drop for Stream {
    /// Waits for the stream's work.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
impl Device {
    /// The timeline of a ticket of this device; None where there is nothing to wait for.
    fn line_of(&self, ticket: tsr_ticket) -> Outcome<Option<Arc<Timeline>>> {
        if ticket.stream.is_null() {
            return Ok(None);
        }
        let line = self.streams.get(ticket.stream)?.line.clone();
        let signalled = locked(&line.points).signalled;
        if ticket.value > signalled {
            return invalid(format!("a ticket of value {}, where {signalled} was the last", ticket.value));
        }
        Ok(Some(line))
    }
}

entries! {
    fn stream_create(device: &Device, flags: u32, out_stream: *mut *mut tsr_stream) {
        let out_stream = out(out_stream)?;
        if flags & TSR_STREAM_INLINE != 0 {
            return fail(TSR_UNIMPLEMENTED, "the device has no inline streams");
        }
        if flags & !TSR_STREAM_COPY != 0 {
            return invalid(format!("unknown flags {flags:#x}"));
        }
        *out_stream = device.streams.add(Stream::start(device.host)?);
        Ok(())
    }
    fn stream_destroy(device: &Device, stream: *mut tsr_stream) {
        device.streams.take(stream).map(drop)
    }
    fn stream_signal(device: &Device, stream: *mut tsr_stream, out_ticket: *mut tsr_ticket) {
        let (held, out_ticket) = (device.streams.get(stream)?, out(out_ticket)?);
        let mut points = locked(&held.line.points);
        held.push(Work::Signal(points.signalled + 1))?;
        points.signalled += 1;
        *out_ticket = tsr_ticket { stream, value: points.signalled };
        Ok(())
    }
    fn stream_progress(device: &Device, stream: *mut tsr_stream, out_value: *mut u64, out_failed: *mut u64) {
        let (stream, out_value) = (device.streams.get(stream)?, out(out_value)?);
        let mut points = locked(&stream.line.points);
        let told = points.failed.pop_front();
        // A failed point that is still to be told is not passed.
        *out_value = points.failed.front().map_or(points.reached, |next| next.0 - 1);
        if let Some(failed) = out_failed.as_mut() {
            *failed = told.as_ref().map_or(0, |point| point.0);
        }
        told.map_or(Ok(()), |point| Err(point.1))
    }
    fn stream_wait(device: &Device, stream: *mut tsr_stream, ticket: tsr_ticket) {
        let stream = device.streams.get(stream)?;
        match device.line_of(ticket)? {
            Some(line) => stream.run(move || { line.wait(ticket.value, Duration::MAX); Ok(()) }),
            None => Ok(()),
        }
    }
    fn stream_host_wait(device: &Device, ticket: tsr_ticket, timeout_ns: u64) {
        match device.line_of(ticket)? {
            Some(line) if !line.wait(ticket.value, Duration::from_nanos(timeout_ns)) => fail(TSR_DEADLINE_EXCEEDED, "the ticket is not reached yet"),
            _ => Ok(()),
        }
    }
    fn stream_callback(device: &Device, stream: *mut tsr_stream, function: tsr_callback, argument: *mut c_void) {
        let (stream, argument) = (device.streams.get(stream)?, Place { at: argument as *mut u8, _kept: None });
        let Some(function) = function else { return invalid("a callback without a function") };
        stream.run(move || { unsafe { function(argument.pointer()) }; Ok(()) })
    }
}

// ---- Work: copies of up to three dimensions, fills, and functions of the host. Your driver's asynchronous calls go here.

/// Bytes from the first to one past the last that one side of a copy touches.
fn span_of(bytes: u64, stride: [u64; 2], rows: u64, planes: u64) -> Outcome<u64> {
    if rows > 1 && stride[0] < bytes {
        return invalid("copy: rows overlap");
    }
    let span = |count: u64, step: u64, last: u64| (count - 1).checked_mul(step).and_then(|before| before.checked_add(last));
    let plane = span(rows, stride[0], bytes);
    if planes > 1 && plane.is_some_and(|plane| stride[1] < plane) {
        return invalid("copy: planes overlap");
    }
    plane.and_then(|plane| span(planes, stride[1], plane)).map_or_else(|| fail(TSR_OUT_OF_RANGE, "copy: more than 64 bits of bytes"), Ok)
}

entries! {
    fn copy(device: &Device, stream: *mut tsr_stream, copy: *const tsr_copy) {
        let (stream, copy) = (device.streams.get(stream)?, *given(copy)?);
        device.check_link(copy.source_space, copy.destination_space)?; // what link refuses, copy refuses
        let (rows, planes) = (copy.rows[0].max(1), copy.rows[1].max(1));
        let to_bytes = span_of(copy.bytes, copy.destination_stride, rows, planes)?;
        let from_bytes = span_of(copy.bytes, copy.source_stride, rows, planes)?;
        if copy.bytes == 0 {
            return Ok(());
        }
        let (to, from) = (device.resolve(copy.destination, to_bytes)?, device.resolve(copy.source, from_bytes)?);
        let (to_step, from_step, bytes) = (copy.destination_stride, copy.source_stride, copy.bytes as usize);
        stream.run(move || {
            for plane in 0..planes {
                for row in 0..rows {
                    let at = |stride: [u64; 2]| (plane.wrapping_mul(stride[1]) + row.wrapping_mul(stride[0])) as usize;
                    unsafe { ptr::copy(from.pointer::<u8>().add(at(from_step)), to.pointer::<u8>().add(at(to_step)), bytes) };
                }
            }
            Ok(())
        })
    }
    fn fill(device: &Device, stream: *mut tsr_stream, destination: tsr_address, pattern: *const c_void, pattern_bytes: u32, count: u64) {
        let stream = device.streams.get(stream)?;
        if pattern.is_null() || ![1, 2, 4, 8, 16].contains(&pattern_bytes) {
            return invalid("fill: no pattern of 1, 2, 4, 8 or 16 bytes");
        }
        let pattern = std::slice::from_raw_parts(pattern as *const u8, pattern_bytes as usize).to_vec();
        let Some(bytes) = count.checked_mul(pattern_bytes.into()) else { return fail(TSR_OUT_OF_RANGE, "fill: more than 64 bits of bytes") };
        let to = device.resolve(destination, bytes)?;
        stream.run(move || {
            for element in 0..count as usize {
                unsafe { ptr::copy_nonoverlapping(pattern.as_ptr(), to.pointer::<u8>().add(element * pattern.len()), pattern.len()) };
            }
            Ok(())
        })
    }
    fn host_task(device: &Device, stream: *mut tsr_stream, function: tsr_host_function, argument: *mut c_void, ranges: *const tsr_address, range_count: u32, _flops: f64) {
        let (stream, argument) = (device.streams.get(stream)?, Place { at: argument as *mut u8, _kept: None });
        let Some(function) = function else { return invalid("a host task without a function") };
        if ranges.is_null() && range_count > 0 {
            return invalid("ranges that are NULL");
        }
        let places = (0..range_count as usize).map(|i| device.resolve(*ranges.add(i), 1)).collect::<Outcome<Vec<Place>>>()?;
        stream.run(move || {
            let bases: Vec<*mut c_void> = places.iter().map(Place::pointer).collect();
            match unsafe { function(argument.pointer(), bases.as_ptr()) } {
                TSR_OK => Ok(()),
                TSR_DEVICE_LOST => fail(TSR_INTERNAL, "a host task answered DEVICE_LOST, and this device cannot be lost"),
                status => fail(status, format!("a host task answered {status}")),
            }
        })
    }
}

// ---- The BLAS table: matrix products in double and single precision, by loops. Your vendor's library goes here.

trait Number: Copy + Send + std::ops::Mul<Output = Self> + std::ops::AddAssign + PartialEq + 'static {
    const ZERO: Self;
}
impl Number for f32 {
    const ZERO: f32 = 0.0;
}
impl Number for f64 {
    const ZERO: f64 = 0.0;
}

/// A column-major matrix of `rows` x `columns`, or its transpose.
struct Matrix {
    place: Place,
    ld: usize,
    transposed: bool,
}
impl Matrix {
    fn of<T>(device: &Device, address: tsr_address, ld: i64, transpose: tsr_transpose, rows: i64, columns: i64) -> Outcome<Matrix> {
        let transposed = transpose != TSR_NO_TRANSPOSE; // conjugation is nothing to real numbers
        let (rows, columns) = if transposed { (columns, rows) } else { (rows, columns) };
        if rows < 0 || columns < 0 || ld < rows.max(1) || transpose > TSR_CONJUGATE_TRANSPOSE {
            return invalid(format!("gemm: {rows} x {columns} elements with a leading dimension of {ld}, transposed by {transpose}"));
        }
        let elements = if rows == 0 || columns == 0 { Some(0) } else { (columns - 1).checked_mul(ld).and_then(|before| before.checked_add(rows)) };
        match elements.and_then(|elements| (elements as u64).checked_mul(size_of::<T>() as u64)) {
            Some(bytes) => Ok(Matrix { place: device.resolve(address, bytes)?, ld: ld as usize, transposed }),
            None => fail(TSR_OUT_OF_RANGE, "gemm: more than 64 bits of bytes"),
        }
    }
    unsafe fn at<T>(&self, row: usize, column: usize) -> *mut T {
        self.place.pointer::<T>().add(if self.transposed { column + row * self.ld } else { row + column * self.ld })
    }
}

unsafe fn product<T: Number>(device: &Device, stream: &Stream, g: &tsr_gemm) -> Outcome {
    let (Some(alpha), Some(beta)) = ((g.alpha as *const T).as_ref().copied(), (g.beta as *const T).as_ref().copied()) else {
        return invalid("gemm: alpha or beta is NULL");
    };
    let a = Matrix::of::<T>(device, g.a, g.lda, g.transpose_a, g.m, g.k)?;
    let b = Matrix::of::<T>(device, g.b, g.ldb, g.transpose_b, g.k, g.n)?;
    let c = Matrix::of::<T>(device, g.c, g.ldc, TSR_NO_TRANSPOSE, g.m, g.n)?;
    let (m, n, k) = (g.m as usize, g.n as usize, g.k as usize);
    stream.run(move || unsafe {
        for column in 0..n {
            for row in 0..m {
                let to: *mut T = c.at(row, column);
                *to = if beta == T::ZERO { T::ZERO } else { beta * *to }; // with beta == 0, C is not read
            }
            for inner in 0..k {
                let factor = alpha * *b.at::<T>(inner, column);
                for row in 0..m {
                    *c.at::<T>(row, column) += factor * *a.at::<T>(row, inner);
                }
            }
        }
        Ok(())
    })
}

entries! {
    fn gemm(device: &Device, stream: *mut tsr_stream, arguments: *const tsr_gemm) {
        let (stream, arguments) = (device.streams.get(stream)?, given(arguments)?);
        match arguments.r#type {
            TSR_F32 => product::<f32>(device, &stream, arguments),
            TSR_F64 => product::<f64>(device, &stream, arguments),
            other => fail(TSR_UNIMPLEMENTED, format!("gemm: no kernel for element type {other}")),
        }
    }
}
unsafe extern "C" fn supports(_: *mut tsr_device, operation: tsr_blas_operation, element: tsr_type) -> bool {
    operation == TSR_BLAS_GEMM && (element == TSR_F32 || element == TSR_F64)
}

// ---- The tables. Entries that are not named are None: optional, and the core takes another way.

static BLAS_TABLE: tsr_blas_table = tsr_blas_table {
    struct_size: tsr_blas_table::SIZE,
    version: 1,
    library: c"loops".as_ptr(),
    supports: Some(supports),
    gemm: Some(gemm),
    ..Struct::EMPTY
};

static DEVICE_TABLE: tsr_device_table = tsr_device_table {
    struct_size: tsr_device_table::SIZE,
    spaces: Some(spaces),
    link: Some(link),
    mem_alloc: Some(mem_alloc),
    mem_free: Some(mem_free),
    mem_base: Some(mem_base),
    stream_create: Some(stream_create),
    stream_destroy: Some(stream_destroy),
    stream_signal: Some(stream_signal),
    stream_progress: Some(stream_progress),
    stream_wait: Some(stream_wait),
    stream_host_wait: Some(stream_host_wait),
    stream_callback: Some(stream_callback),
    copy: Some(copy),
    fill: Some(fill),
    host_task: Some(host_task),
    ..Struct::EMPTY
};

// ---- The plugin: what there is, and its life.

struct Plugin {
    host: Host,
    device: Mutex<Option<Box<Device>>>, // None: closed
}
impl Handle for Plugin {
    type Raw = tsr_plugin;
    fn host(&self) -> Host {
        self.host
    }
}

/// The name in a field of a description, cut to its length, and ended by `end` bytes of 0.
fn name_in<const N: usize, T: Copy + Default>(end: usize, as_element: fn(u8) -> T) -> [T; N] {
    let mut field = [T::default(); N];
    field.iter_mut().take(N - end).zip(NAME.to_bytes()).for_each(|(to, from)| *to = as_element(*from));
    field
}

entries! {
    fn enumerate(_plugin: &Plugin, index: u32, out_desc: *mut tsr_device_desc, out_count: *mut u32) {
        if !out_desc.is_null() && index > 0 {
            return fail(TSR_OUT_OF_RANGE, "the plugin has one device");
        }
        if let Some(count) = out_count.as_mut() {
            *count = 1;
        }
        if out_desc.is_null() {
            return Ok(());
        }
        fill_out(out_desc, tsr_device_desc {
            device_class: TSR_DEVICE_ACCELERATOR,
            capabilities: TSR_DEVICE_HAS_FP64 | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_OWN_THREADS,
            numa_node: -1,
            space_count: 1,
            compute_units: 1,
            copy_engines: 1,
            uuid: name_in(0, |byte| byte),
            name: name_in(1, |byte| byte as c_char),
            ..Struct::EMPTY
        })
    }
    fn device_open(plugin: &Plugin, index: u32, out_device: *mut *mut tsr_device, out_table: *mut *const tsr_device_table) {
        let (out_device, out_table) = (out(out_device)?, out(out_table)?);
        if index > 0 {
            return fail(TSR_OUT_OF_RANGE, "the plugin has one device");
        }
        let mut device = locked(&plugin.device);
        if device.is_some() {
            return fail(TSR_ALREADY_EXISTS, "the device is open");
        }
        // Create your driver's context here, not earlier.
        let opened = device.insert(Box::new(Device { host: plugin.host, streams: Live::new(), memories: Live::new(), used: Arc::default() }));
        *out_device = &mut **opened as *mut Device as *mut tsr_device;
        *out_table = &DEVICE_TABLE;
        Ok(())
    }
    fn device_close(plugin: &Plugin, device: *mut tsr_device) {
        let mut open = locked(&plugin.device);
        if !open.as_deref().is_some_and(|open| ptr::eq(open, device as *const Device)) {
            return invalid("not an open device");
        }
        *open = None; // waits for the work of its streams
        Ok(())
    }
    fn extension(_plugin: &Plugin, device: *mut tsr_device, id: tsr_extension_id, min_version: u32, out_table: *mut *const c_void) {
        let out_table = out(out_table)?;
        match id {
            _ if device.is_null() => invalid("no device"),
            TSR_EXTENSION_BLAS if min_version <= BLAS_TABLE.version => {
                *out_table = &BLAS_TABLE as *const tsr_blas_table as *const c_void;
                Ok(())
            }
            _ => fail(TSR_UNIMPLEMENTED, format!("no extension {id} of version {min_version}")),
        }
    }
}

/// Closes what is open and joins the threads; the handle is gone, whatever the answer. `open` may come again.
unsafe extern "C" fn shutdown(plugin: *mut tsr_plugin) -> tsr_status {
    if plugin.is_null() {
        return TSR_INVALID_ARGUMENT;
    }
    let plugin = Box::from_raw(plugin as *mut Plugin);
    let host = plugin.host;
    host.status_of(contained(|| {
        drop(plugin);
        Ok(())
    }))
}

static PLUGIN_TABLE: tsr_plugin_table = tsr_plugin_table {
    struct_size: tsr_plugin_table::SIZE,
    enumerate: Some(enumerate),
    device_open: Some(device_open),
    device_close: Some(device_close),
    extension: Some(extension),
    shutdown: Some(shutdown),
    ..Struct::EMPTY
};

/// `_values` are the user's settings, checked against the schema in the header (none here: `options`).
unsafe extern "C" fn open(
    host: *const tsr_host,
    _values: *const tsr_option_value,
    _count: u32,
    out_plugin: *mut *mut tsr_plugin,
    out_table: *mut *const c_void,
) -> tsr_status {
    if host.is_null() || out_plugin.is_null() || out_table.is_null() {
        return TSR_INVALID_ARGUMENT;
    }
    let host = Host(host);
    host.status_of(contained(|| {
        keep_panics();
        *out_plugin = Box::into_raw(Box::new(Plugin { host, device: Mutex::default() })) as *mut tsr_plugin;
        *out_table = &PLUGIN_TABLE as *const tsr_plugin_table as *const c_void;
        Ok(())
    }))
}

/// A plugin that needs a driver sets `probe`: it looks for the driver, cheaply, and answers 0 when there is none.
static HEADER: tsr_plugin_header = tsr_plugin_header {
    struct_size: tsr_plugin_header::SIZE,
    abi_major: TSR_ABI_MAJOR,
    abi_minor: TSR_ABI_MINOR,
    kind: TSR_PLUGIN_DEVICE,
    name: NAME.as_ptr(),
    vendor: c"Tessera".as_ptr(),
    version: c"0.1.0".as_ptr(),
    build: c"rustc".as_ptr(),
    open: Some(open),
    ..Struct::EMPTY
};

#[no_mangle]
pub extern "C" fn tsr_plugin_query(host_major: u32, _host_minor: u32) -> *const tsr_plugin_header {
    // The host uses what it knows of our tables: they only grow at their end.
    if host_major == TSR_ABI_MAJOR {
        &HEADER
    } else {
        ptr::null()
    }
}
