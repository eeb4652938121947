# A library of selected operators: -DTENON_OPERATORS=FILE (docs/selective_build.md). The generator has
# said which hand-written sources the selected operators do not need.
if(NOT TENON_OPERATORS)
  return()
endif()
if(NOT EXISTS "${TENON_OPERATORS}")
  message(FATAL_ERROR "TENON_OPERATORS: there is no file ${TENON_OPERATORS}.")
endif()

set(TENON_SIZE_LIMIT 0 CACHE STRING "Bytes that the stripped libraries may have together, 0 for any number")
list(TRANSFORM TENON_UNUSED_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
get_target_property(tenon_sources tenon SOURCES)
list(REMOVE_ITEM tenon_sources ${TENON_UNUSED_SOURCES})
set_target_properties(tenon PROPERTIES SOURCES "${tenon_sources}")

# What is not marked TENON_API is dropped where nothing calls it. A source that is needed and was left out is found
# by the linker, and not when a program runs.
set(compiled ${TENON_LIBRARIES})
foreach(objects tenon_kernels tenon_calls)
  if(TARGET ${objects})
    list(APPEND compiled ${objects})
  endif()
endforeach()
foreach(library IN LISTS compiled)
  target_compile_options(${library} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-ffunction-sections;-fdata-sections;-fvisibility=hidden>")
  target_link_options(${library} PRIVATE "LINKER:--gc-sections" "LINKER:-z,defs")
endforeach()

list(TRANSFORM TENON_LIBRARIES REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE tenon_files)
add_custom_target(tenon_size ALL
  COMMAND "${CMAKE_COMMAND}" "-DLIBRARIES=${tenon_files}" "-DIR=${TENON_GEN_DIR}/ir.json"
          "-DSTRIP=${CMAKE_STRIP}" "-DLIMIT=${TENON_SIZE_LIMIT}" -P "${PROJECT_SOURCE_DIR}/cmake/tools/report_size.cmake"
  DEPENDS ${TENON_LIBRARIES}
  VERBATIM)
