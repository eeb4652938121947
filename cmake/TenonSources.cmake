# Explicit, sorted source lists, checked at configure time.
#
# tenon_target_sources(TARGET [ENABLED condition] FOLDERS folder... [EXCLUDE regex...] SOURCES file...)
#   Adds SOURCES to TARGET. Every *.cpp and *.cu below FOLDERS must be listed; one that is not, is an
#   error naming it. Paths are relative to the calling folder. With ENABLED false the list is checked
#   and not added. `./tenon fmt` writes the lists anew from what the folders hold.
function(tenon_target_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ENABLED" "FOLDERS;EXCLUDE;SOURCES")
  tenon_check_sources(FOLDERS ${arg_FOLDERS} EXCLUDE ${arg_EXCLUDE} SOURCES ${arg_SOURCES})
  if(NOT DEFINED arg_ENABLED OR arg_ENABLED)
    target_sources(${target} PRIVATE ${arg_SOURCES})
  endif()
endfunction()

function(tenon_check_sources)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FOLDERS;EXCLUDE;SOURCES")
  set(missing)
  foreach(folder IN LISTS arg_FOLDERS)
    file(GLOB_RECURSE found RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
         "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cu")
    foreach(file IN LISTS found)
      if(file IN_LIST arg_SOURCES)
        continue()
      endif()
      set(excluded FALSE)
      foreach(regex IN LISTS arg_EXCLUDE)
        if(file MATCHES "${regex}")
          set(excluded TRUE)
        endif()
      endforeach()
      if(NOT excluded)
        string(APPEND missing "\n    ${file}")
      endif()
    endforeach()
  endforeach()
  if(missing)
    file(RELATIVE_PATH list "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_LIST_FILE}")
    message(FATAL_ERROR "${list}: not listed under SOURCES:${missing}\n"
                        "Add each to the list, or run `./tenon fmt`, which writes the lists.")
  endif()
endfunction()
