# tenon_find_python(OUT VENV folder REQUIREMENTS file [PINNED])
#   Sets OUT to a Python that has Jinja2 3: TENON_PYTHON if it is set, else the one in the virtual
#   environment VENV, else (not with PINNED) the system's if it has Jinja2, else VENV is made from the
#   requirements file. Errors: no python3, no venv module, pip cannot install; each says what to do.
#   What was found holds for the rest of this run of CMake: each probe starts an interpreter, and every target with operators asks.
function(tenon_find_python out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PINNED" "VENV;REQUIREMENTS" "")
  string(SHA1 question "${TENON_PYTHON};${arg_VENV};${arg_PINNED}")
  get_property(answer GLOBAL PROPERTY "TENON_PYTHON_${question}")
  if(answer)
    set(${out} "${answer}" PARENT_SCOPE)
    return()
  endif()
  set(probe -c "import jinja2, sys; sys.exit(int(jinja2.__version__.split('.')[0]) < 3)")
  set(venv_python "${arg_VENV}/bin/python")
  find_program(tenon_system_python NAMES python3 NO_CACHE)
  set(candidates "${TENON_PYTHON}" "${venv_python}")
  if(NOT arg_PINNED)
    list(APPEND candidates /usr/bin/python3 "${tenon_system_python}")
  endif()
  foreach(candidate IN LISTS candidates)
    if(candidate AND EXISTS "${candidate}")
      execute_process(COMMAND "${candidate}" ${probe} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(NOT failed)
        set_property(GLOBAL PROPERTY "TENON_PYTHON_${question}" "${candidate}")
        set(${out} "${candidate}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()

  if(NOT tenon_system_python)
    message(FATAL_ERROR "python3 was not found; the operator generator needs it to render its templates. "
                        "On Debian: apt-get install python3 python3-venv.")
  endif()
  message(STATUS "Making a Python environment with Jinja2 in ${arg_VENV}")
  # The distribution's interpreter first: its venv module comes with the package python3-venv.
  set(made FALSE)
  foreach(base IN ITEMS /usr/bin/python3 "${tenon_system_python}")
    if(NOT made AND EXISTS "${base}")
      execute_process(COMMAND "${base}" -m venv --clear "${arg_VENV}"
                      RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
      if(NOT failed)
        set(made TRUE)
      endif()
    endif()
  endforeach()
  if(NOT made)
    message(FATAL_ERROR "`python3 -m venv ${arg_VENV}` failed:\n${log}\n"
                        "On Debian: apt-get install python3-venv; or set TENON_PYTHON to a Python that has Jinja2 3.")
  endif()
  execute_process(COMMAND "${venv_python}" -m pip install --quiet --disable-pip-version-check
                          --requirement "${arg_REQUIREMENTS}"
                  RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    file(REMOVE_RECURSE "${arg_VENV}")
    message(FATAL_ERROR "Jinja2 could not be installed into ${arg_VENV}:\n${log}\n"
                        "Check the connection to the Python package index, or set TENON_PYTHON to a Python "
                        "that has Jinja2 3 (on Debian: apt-get install python3-jinja2).")
  endif()
  set(${out} "${venv_python}" PARENT_SCOPE)
endfunction()
