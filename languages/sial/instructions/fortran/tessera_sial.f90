! Super instructions of SIAL programs in Fortran: the header tessera/sial.h as a module. Its rules S1 to S6 hold here too.
!
! A library has instructions with the interface `sial_function`, and one exported function that returns its table:
!
!   module my_instructions
!     use tessera_sial
!   contains
!     function twice(job, count, arguments) result(status) bind(c)
!       type(sial_job), intent(in) :: job
!       integer(c_int32_t), value :: count
!       type(sial_argument), intent(in) :: arguments(*)
!       integer(c_int32_t) :: status
!       real(c_double), pointer :: x(:)
!       x => sial_elements(arguments(1))
!       x = 2 * x
!       status = 0
!     end function
!     function instructions(version) result(table) bind(c, name="tessera_sial_instructions")
!       integer(c_int32_t), value :: version
!       type(c_ptr) :: table
!       type(sial_table_builder), save, target :: mine
!       if (.not. mine%ready()) call mine%add("twice", "u", c_funloc(twice), sial_thread_safe)
!       table = mine%table("my library")
!     end function
!   end module
!
! Unsigned integers of C are signed here; no value that is used needs the difference.
module tessera_sial
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: c_int32_t, c_int64_t, c_double, c_ptr, c_null_ptr, c_funptr, c_funloc
  public :: sial_argument, sial_job, sial_table_builder
  public :: sial_elements, sial_matrix, sial_name, sial_find_int, sial_find_scalar, sial_find_float_array, sial_find_int_array
  public :: sial_segments, sial_print, sial_scratch, sial_fail

  integer(c_int32_t), parameter, public :: sial_interface_version = 1
  integer, parameter, public :: sial_max_rank = 6
  integer(c_int32_t), parameter, public :: sial_thread_safe = 1
  integer(c_int32_t), parameter, public :: sial_ao = 0, sial_mo = 1, sial_moa = 2, sial_mob = 3, &
    sial_simple = 4, sial_la = 5, sial_sub = 6
  integer, parameter, public :: sial_most_instructions = 64

  type, bind(c) :: sial_argument
    integer(c_int32_t) :: struct_size
    integer(c_int32_t) :: rank
    type(c_ptr) :: name
    integer(c_int32_t) :: intent
    integer(c_int32_t) :: whole
    integer(c_int32_t) :: kinds(sial_max_rank)
    integer(c_int64_t) :: segments(sial_max_rank)
    integer(c_int64_t) :: offsets(sial_max_rank)
    integer(c_int64_t) :: extents(sial_max_rank)
    integer(c_int64_t) :: elements
    type(c_ptr) :: data
  end type

  type, bind(c) :: sial_job
    integer(c_int32_t) :: struct_size
    integer(c_int32_t) :: version
    type(c_ptr) :: context
    integer(c_int32_t) :: worker
    integer(c_int32_t) :: workers
    type(c_funptr) :: find_int
    type(c_funptr) :: find_scalar
    type(c_funptr) :: segments
    type(c_funptr) :: find_float_array
    type(c_funptr) :: find_int_array
    type(c_funptr) :: print
    type(c_funptr) :: scratch
    type(c_funptr) :: fail
  end type

  ! sial_float_array and sial_int_array of the header
  type, bind(c) :: array_view
    integer(c_int32_t) :: rank
    type(c_ptr) :: dims
    integer(c_int64_t) :: elements
    type(c_ptr) :: values
  end type

  type, bind(c) :: sial_instruction
    integer(c_int32_t) :: struct_size
    integer(c_int32_t) :: flags
    type(c_ptr) :: name
    type(c_ptr) :: signature
    type(c_funptr) :: function
  end type

  type, bind(c) :: sial_table
    integer(c_int32_t) :: struct_size
    integer(c_int32_t) :: version
    integer(c_int32_t) :: count
    type(c_ptr) :: instructions
    type(c_ptr) :: library
  end type

  ! A library's table while it is filled. Must have `save` and `target`: the table points into it.
  type :: sial_table_builder
    private
    integer :: used = 0
    type(sial_instruction) :: entries(sial_most_instructions)
    character(kind=c_char) :: names(64, sial_most_instructions), signatures(64, sial_most_instructions), library(128)
    type(sial_table) :: made
  contains
    procedure :: ready
    procedure :: add
    procedure :: table
  end type

  abstract interface
    function find_int_function(job, name, value) result(found) bind(c)
      import :: sial_job, c_char, c_int64_t, c_int32_t
      type(sial_job), intent(in) :: job
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: value
      integer(c_int32_t) :: found
    end function
    function find_scalar_function(job, name, value) result(found) bind(c)
      import :: sial_job, c_char, c_double, c_int32_t
      type(sial_job), intent(in) :: job
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(inout) :: value
      integer(c_int32_t) :: found
    end function
    function find_array_function(job, name, view) result(found) bind(c)
      import :: sial_job, c_char, c_int32_t, array_view
      type(sial_job), intent(in) :: job
      character(kind=c_char), intent(in) :: name(*)
      type(array_view), intent(inout) :: view
      integer(c_int32_t) :: found
    end function
    function segments_function(job, kind, lengths) result(count) bind(c)
      import :: sial_job, c_int32_t, c_int64_t, c_ptr
      type(sial_job), intent(in) :: job
      integer(c_int32_t), value :: kind
      type(c_ptr), intent(inout) :: lengths
      integer(c_int64_t) :: count
    end function
    subroutine text_function(job, text) bind(c)
      import :: sial_job, c_char
      type(sial_job), intent(in) :: job
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
    function scratch_function(job, elements) result(memory) bind(c)
      import :: sial_job, c_int64_t, c_ptr
      type(sial_job), intent(in) :: job
      integer(c_int64_t), value :: elements
      type(c_ptr) :: memory
    end function
  end interface

contains

  ! All elements of an argument, in the order of storage.
  function sial_elements(argument) result(x)
    type(sial_argument), intent(in) :: argument
    real(c_double), pointer :: x(:)
    call c_f_pointer(argument%data, x, [argument%elements])
  end function

  ! An argument of rank 2 as a matrix; of another rank, its first extent by the rest.
  function sial_matrix(argument) result(x)
    type(sial_argument), intent(in) :: argument
    real(c_double), pointer :: x(:, :)
    call c_f_pointer(argument%data, x, [argument%extents(1), argument%elements / argument%extents(1)])
  end function

  function sial_name(argument) result(name)
    type(sial_argument), intent(in) :: argument
    character(len=:), allocatable :: name
    character(kind=c_char), pointer :: letters(:)
    integer :: k
    name = ""
    if (.not. c_associated(argument%name)) return
    call c_f_pointer(argument%name, letters, [4096])
    do k = 1, 4096
      if (letters(k) == c_null_char) exit
      name = name // letters(k)
    end do
  end function

  ! Look-ups: whether the initialization data have the name; the output stays as it is when not.
  logical function sial_find_int(job, name, value)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: value
    procedure(find_int_function), pointer :: find
    call c_f_procpointer(job%find_int, find)
    sial_find_int = find(job, trim(name) // c_null_char, value) /= 0
  end function

  logical function sial_find_scalar(job, name, value)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: name
    real(c_double), intent(inout) :: value
    procedure(find_scalar_function), pointer :: find
    call c_f_procpointer(job%find_scalar, find)
    sial_find_scalar = find(job, trim(name) // c_null_char, value) /= 0
  end function

  logical function sial_find_float_array(job, name, dims, values)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: name
    integer(c_int64_t), pointer, intent(inout) :: dims(:)
    real(c_double), pointer, intent(inout) :: values(:)
    procedure(find_array_function), pointer :: find
    type(array_view) :: view
    call c_f_procpointer(job%find_float_array, find)
    sial_find_float_array = find(job, trim(name) // c_null_char, view) /= 0
    if (.not. sial_find_float_array) return
    call c_f_pointer(view%dims, dims, [view%rank])
    call c_f_pointer(view%values, values, [view%elements])
  end function

  logical function sial_find_int_array(job, name, dims, values)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: name
    integer(c_int64_t), pointer, intent(inout) :: dims(:), values(:)
    procedure(find_array_function), pointer :: find
    type(array_view) :: view
    call c_f_procpointer(job%find_int_array, find)
    sial_find_int_array = find(job, trim(name) // c_null_char, view) /= 0
    if (.not. sial_find_int_array) return
    call c_f_pointer(view%dims, dims, [view%rank])
    call c_f_pointer(view%values, values, [view%elements])
  end function

  ! Lengths of the segments of a kind; not associated when there is no table.
  function sial_segments(job, kind) result(lengths)
    type(sial_job), intent(in) :: job
    integer(c_int32_t), intent(in) :: kind
    integer(c_int64_t), pointer :: lengths(:)
    procedure(segments_function), pointer :: ask
    type(c_ptr) :: first
    integer(c_int64_t) :: count
    nullify(lengths)
    call c_f_procpointer(job%segments, ask)
    count = ask(job, kind, first)
    if (count > 0) call c_f_pointer(first, lengths, [count])
  end function

  ! One line of output.
  subroutine sial_print(job, text)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: text
    procedure(text_function), pointer :: print
    call c_f_procpointer(job%print, print)
    call print(job, trim(text) // new_line("a") // c_null_char)
  end subroutine

  ! Memory until the instruction returns; not associated when there is none.
  function sial_scratch(job, elements) result(x)
    type(sial_job), intent(in) :: job
    integer(c_int64_t), intent(in) :: elements
    real(c_double), pointer :: x(:)
    procedure(scratch_function), pointer :: ask
    type(c_ptr) :: memory
    nullify(x)
    call c_f_procpointer(job%scratch, ask)
    memory = ask(job, elements)
    if (c_associated(memory)) call c_f_pointer(memory, x, [elements])
  end function

  ! Before a status other than 0.
  subroutine sial_fail(job, message)
    type(sial_job), intent(in) :: job
    character(len=*), intent(in) :: message
    procedure(text_function), pointer :: fail
    call c_f_procpointer(job%fail, fail)
    call fail(job, trim(message) // c_null_char)
  end subroutine

  logical function ready(self)
    class(sial_table_builder), intent(in) :: self
    ready = self%used > 0
  end function

  ! At most sial_most_instructions, with names and signatures of at most 63 characters. Of what does not fit, the host says which
  ! entry has no proper name.
  subroutine add(self, name, signature, function, flags)
    class(sial_table_builder), intent(inout), target :: self
    character(len=*), intent(in) :: name, signature
    type(c_funptr), intent(in) :: function
    integer(c_int32_t), intent(in), optional :: flags
    integer :: k
    logical :: fits
    fits = self%used < sial_most_instructions .and. len_trim(name) < 64 .and. len_trim(signature) < 64
    self%used = min(self%used + 1, sial_most_instructions)
    k = self%used
    call copy(merge(name, repeat(" ", len(name)), fits), self%names(:, k))
    call copy(signature, self%signatures(:, k))
    self%entries(k)%struct_size = int(c_sizeof(self%entries(k)), c_int32_t)
    self%entries(k)%flags = 0
    if (present(flags)) self%entries(k)%flags = flags
    self%entries(k)%name = c_loc(self%names(1, k))
    self%entries(k)%signature = c_loc(self%signatures(1, k))
    self%entries(k)%function = function
  end subroutine

  function table(self, library)
    class(sial_table_builder), intent(inout), target :: self
    character(len=*), intent(in) :: library
    type(c_ptr) :: table
    call copy(library, self%library)
    self%made%struct_size = int(c_sizeof(self%made), c_int32_t)
    self%made%version = sial_interface_version
    self%made%count = self%used
    self%made%instructions = c_loc(self%entries)
    self%made%library = c_loc(self%library)
    table = c_loc(self%made)
  end function

  subroutine copy(from, to)
    character(len=*), intent(in) :: from
    character(kind=c_char), intent(out) :: to(:)
    integer :: k
    to = c_null_char
    do k = 1, min(len_trim(from), size(to) - 1)
      to(k) = from(k:k)
    end do
  end subroutine
end module
