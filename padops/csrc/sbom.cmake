# Lists the library's contents beside padops' own sources, for the wheel (PEP 770): only the compiler's static
# libraries. No header of ONNX Runtime is included, since ort/ort_abi.h is padops' own; the header in
# PADOPS_ORT_INCLUDE_DIR only checks ort_abi.h. The same build writes the same bytes: the list has no time, random
# number or path.

set(components "")
set(refs "")

macro(takes_in name version license)  # and the archives of it that are linked
  set(facts "\"type\": \"library\", \"bom-ref\": \"${name}\", \"name\": \"${name}\"")
  if(NOT "${version}" STREQUAL "")
    string(APPEND facts ", \"version\": \"${version}\"")
  endif()
  if("${license}" MATCHES " WITH ")
    string(APPEND facts ", \"licenses\": [{\"expression\": \"${license}\"}]")
  else()
    string(APPEND facts ", \"licenses\": [{\"license\": {\"name\": \"${license}\"}}]")
  endif()
  set(files "")
  foreach(archive IN ITEMS ${ARGN})
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${archive} OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_ABSOLUTE "${path}" AND EXISTS "${path}")  # else the compiler has not found it, and gives the name back
      file(SHA256 "${path}" hash)
      list(APPEND files "{\"type\": \"file\", \"name\": \"${archive}\", \"hashes\": [{\"alg\": \"SHA-256\", \"content\": \"${hash}\"}]}")
    endif()
  endforeach()
  if(files)
    list(JOIN files ", " files)
    string(APPEND facts ", \"components\": [${files}]")
  endif()
  list(APPEND components "\n    {${facts}}")
  list(APPEND refs "\"${name}\"")
endmacro()

set(gcc "GPL-3.0-or-later WITH GCC-exception-3.1")
set(llvm "Apache-2.0 WITH LLVM-exception")
set(version "${CMAKE_CXX_COMPILER_VERSION}")
if(MSVC)
  takes_in("Microsoft Visual C++ runtime" "${version}" "Microsoft Visual Studio licence terms")
elseif(CMAKE_CXX_COMPILER MATCHES "/zig(\\.exe)?$")  # which links its own, built from the sources that it brings
  foreach(name IN ITEMS libc++ libc++abi libunwind compiler-rt)
    takes_in("${name}" "${version}" "${llvm}")
  endforeach()
  if(WIN32)
    takes_in("mingw-w64 runtime" "" "mingw-w64 runtime licence")
  endif()
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(version "")  # that of another compiler
  endif()
  takes_in(libstdc++ "${version}" "${gcc}" libstdc++.a)
  takes_in(libgcc "${version}" "${gcc}" libgcc.a libgcc_eh.a)
endif()  # elsewhere they are the system's own
list(JOIN components "," components)
list(JOIN refs ", " refs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sbom.cdx.json.in padops.cdx.json @ONLY NEWLINE_STYLE UNIX)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/padops.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms)
