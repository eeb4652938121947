# tenon_test(NAME FOLDERS folder... [LIBRARIES target...] [EXCLUDE regex...] [PRECOMPILE header...] [PROPERTIES property value...]
#            SOURCES file...)
#   One Catch2 program from the tests below FOLDERS; every TEST_CASE in it is an entry of ctest, named
#   "NAME:test case" and labelled NAME. FOLDERS and SOURCES follow tenon_target_sources' rule. PRECOMPILE names headers that
#   nearly every test reads and that change rarely: a change of one recompiles all. PROPERTIES are those of each test.
function(tenon_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;LIBRARIES;EXCLUDE;PRECOMPILE;PROPERTIES;SOURCES")
  tenon_check_sources(FOLDERS ${arg_FOLDERS} EXCLUDE ${arg_EXCLUDE} SOURCES ${arg_SOURCES})
  if(NOT arg_SOURCES)
    return()
  endif()
  if(NOT arg_LIBRARIES)
    set(arg_LIBRARIES Tenon::tenon)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE
    "TENON_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"" "TENON_TEST_DIR=\"${CMAKE_CURRENT_SOURCE_DIR}\"")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} ${TENON_CATCH} Catch2::Catch2 tenon_flags)
  # What is tested is the library; a test is compiled far more often than it runs.
  target_compile_options(${name} PRIVATE "$<$<CONFIG:Release>:-O1>")
  tenon_precompile(${name} catch2/catch.hpp ${arg_PRECOMPILE})
  catch_discover_tests(${name} TEST_PREFIX "${name}:" PROPERTIES LABELS ${name} TIMEOUT 600 ${arg_PROPERTIES})
endfunction()
