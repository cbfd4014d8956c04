# find_package(padops) makes the target padops::padops. It brings the header padops.h and the macro PADOPS_LIBRARY, the
# path of the library that a program registers in ONNX Runtime. The environment variable PADOPS_LIBRARY names another.
get_filename_component(padops_folder "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
set(padops_LIBRARY "$ENV{PADOPS_LIBRARY}")
if(NOT padops_LIBRARY)
  set(padops_LIBRARY "${padops_folder}/libpadops.so")
  if(WIN32)
    set(padops_LIBRARY "${padops_folder}/libpadops.dll")
  endif()
endif()
if(NOT EXISTS "${padops_LIBRARY}")
  set(padops_FOUND FALSE)
  set(padops_NOT_FOUND_MESSAGE "there is no ${padops_LIBRARY}; set the environment variable PADOPS_LIBRARY")
elseif(NOT TARGET padops::padops)
  add_library(padops::padops INTERFACE IMPORTED)
  set_target_properties(padops::padops PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${padops_folder}/include"
    INTERFACE_COMPILE_DEFINITIONS "PADOPS_LIBRARY=\"${padops_LIBRARY}\"")
endif()
