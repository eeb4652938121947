# tenon_test(NAME [APART] [JOINED] FOLDERS folder... [LIBRARIES target...] [EXCLUDE regex...] [PRECOMPILE header...]
#            [PROPERTIES property value...] SOURCES file...)
#   One Catch2 program from the tests below FOLDERS; every TEST_CASE in it is an entry of ctest, named
#   "NAME:test case" and labelled NAME. With sanitizers, where a process takes longer to start than most cases to run, an entry is
#   a file of tests, "NAME:file", but with APART. FOLDERS and SOURCES follow tenon_target_sources' rule. PRECOMPILE names headers that
#   nearly every test reads and that change rarely: a change of one recompiles all. PROPERTIES are those of each test. JOINED compiles the
#   sources in groups of five: names in their anonymous namespaces then differ.
function(tenon_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART;JOINED" "" "FOLDERS;LIBRARIES;EXCLUDE;PRECOMPILE;PROPERTIES;SOURCES")
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
  if(arg_JOINED)
    tenon_join_sources(${name} 5 REGEX "^${PROJECT_SOURCE_DIR}/tests/")
  endif()
  if(NOT TENON_SANITIZE OR arg_APART)
    catch_discover_tests(${name} TEST_PREFIX "${name}:" PROPERTIES LABELS ${name} TIMEOUT 600 ${arg_PROPERTIES})
  else()
    # When the caller has given the program all its sources.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL tenon_test_files ${name} ${arg_PROPERTIES})")
  endif()
endfunction()

# tenon_test_files(NAME [property value...]): an entry of ctest for each source of NAME that has test cases.
function(tenon_test_files name)
  get_target_property(sources ${name} SOURCES)
  set(files)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    if(EXISTS "${source}")
      file(STRINGS "${source}" cases REGEX "TEST_CASE\\(" LIMIT_COUNT 1)
      if(cases)
        cmake_path(GET source STEM file)
        list(APPEND files ${file})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES files)
  foreach(file IN LISTS files)
    # -# gives each case the name of its file as a tag.
    add_test(NAME "${name}:${file}" COMMAND ${name} -\# "[#${file}]~[.]")
    set_tests_properties("${name}:${file}" PROPERTIES LABELS ${name} TIMEOUT 1800 ${ARGN})
  endforeach()
endfunction()
