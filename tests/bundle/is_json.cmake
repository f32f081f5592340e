# cmake -D FILE=... -P is_json.cmake: fails where the file is no JSON. CMake reads JSON itself, and every machine that builds has it.
file(READ "${FILE}" text)
string(JSON length ERROR_VARIABLE problem LENGTH "${text}")
if(problem)
  message(FATAL_ERROR "${FILE}: ${problem}")
endif()
