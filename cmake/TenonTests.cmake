# tenon_test(NAME FOLDERS folder... [LIBRARIES target...] [EXCLUDE regex...] SOURCES file...)
#   One Catch2 program from the tests below FOLDERS; every TEST_CASE in it is an entry of ctest, named
#   "NAME:test case" and labelled NAME. FOLDERS and SOURCES follow tenon_target_sources' rule.
function(tenon_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;LIBRARIES;EXCLUDE;SOURCES")
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
  catch_discover_tests(${name} TEST_PREFIX "${name}:" PROPERTIES LABELS ${name} TIMEOUT 600)
endfunction()
