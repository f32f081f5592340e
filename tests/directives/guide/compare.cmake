# Runs an example of docs/directives.md, which must print what the file beside it has: cmake -D PROGRAM= -D EXPECTED= -P
file(READ "${EXPECTED}" expected)
execute_process(COMMAND "${PROGRAM}" RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
if(NOT code EQUAL 0 OR NOT out STREQUAL expected)
  message(FATAL_ERROR "it ended with ${code} and printed\n${out}${err}instead of\n${expected}")
endif()
