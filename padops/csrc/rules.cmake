# Makes rules.cpp from padops/rules/: for the library, what execution providers do with Pads. A wrong file ends the build;
# a changed one has CMake configure anew.

set(rules ${CMAKE_CURRENT_LIST_DIR}/../rules)
file(GLOB files CONFIGURE_DEPENDS ${rules}/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
file(READ ${rules}/conditions.json conditions)
file(READ ${rules}/cpu.json cpu)
list(REMOVE_ITEM files ${rules}/conditions.json ${rules}/cpu.json)

function(members out json)  # the keys of an object
  string(JSON count LENGTH "${json}")
  set(keys "")
  while(count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON key MEMBER "${json}" ${count})
    list(PREPEND keys "${key}")
  endwhile()
  set(${out} "${keys}" PARENT_SCOPE)
endfunction()

function(only where what)  # refuses what is none of the words that follow
  if(NOT what IN_LIST ARGN)
    list(JOIN ARGN ", " words)
    message(FATAL_ERROR "padops/rules/${where}: \"${what}\" is unknown; expected one of: ${words}")
  endif()
endfunction()

function(value out json default)  # of the keys that follow
  string(JSON found ERROR_VARIABLE missing GET "${json}" ${ARGN})
  if(missing)
    set(found "${default}")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(strings out json key)  # a list of strings, as C++ has it
  set(listed "")
  string(JSON count ERROR_VARIABLE missing LENGTH "${json}" ${key})
  while(NOT missing AND count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON one GET "${json}" ${key} ${count})
    list(PREPEND listed "\"${one}\"")
  endwhile()
  list(JOIN listed ", " listed)
  set(${out} "{${listed}}" PARENT_SCOPE)
endfunction()

members(whens "${conditions}")
list(TRANSFORM whens REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE names)
list(JOIN names ", " names)

set(rows "")
foreach(path IN LISTS files)
  get_filename_component(file ${path} NAME)
  file(READ ${path} content)
  members(keys "${content}")
  foreach(key IN LISTS keys)
    only(${file} "${key}" names version fuses moves expands_no_scalar sources note rules)
  endforeach()
  string(JSON count LENGTH "${content}" rules)
  set(table "")
  set(at 0)
  while(at LESS count)
    string(JSON rule GET "${content}" rules ${at})
    math(EXPR at "${at} + 1")
    members(keys "${rule}")
    foreach(key IN LISTS keys)
      only("${file}, rule ${at}" "${key}" does when modes limit before plugin_before types source note)
    endforeach()
    value(does "${rule}" "" does)
    only("${file}, rule ${at}, does" "${does}" leaves refuses wrong dies)
    value(when "${rule}" "" when)
    only("${file}, rule ${at}, when" "${when}" ${whens})
    string(SUBSTRING ${does} 0 1 first)
    string(SUBSTRING ${does} 1 -1 rest)
    string(TOUPPER ${first} first)
    strings(modes "${rule}" modes)
    strings(types "${rule}" types)
    value(limit "${rule}" 0 limit)
    value(before "${rule}" 0 before)
    string(APPEND table "         {Does::k${first}${rest}, \"${when}\", ${modes}, ${limit}, ${types}, ${before}},\n")
  endwhile()
  value(fuses "${content}" OFF fuses)
  string(REPLACE ON true fuses ${fuses})
  string(REPLACE OFF false fuses ${fuses})
  string(JSON count LENGTH "${content}" names)
  while(count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON name GET "${content}" names ${count})
    string(APPEND rows "      {\"${name}\",\n       ${fuses},\n       {\n${table}       }},\n")
  endwhile()
endforeach()

string(JSON kernels GET "${cpu}" kernels first_opsets "")
members(types "${kernels}")
set(table "")
foreach(type IN LISTS types)
  string(JSON opset GET "${kernels}" ${type})
  string(APPEND table "      {\"${type}\", ${opset}},\n")
endforeach()

file(CONFIGURE OUTPUT rules.cpp @ONLY CONTENT [[// Made from padops/rules/ by padops/csrc/rules.cmake.
#include "core/provider_rules.h"

namespace padops {

const std::vector<std::string_view>& conditions() {
  static const std::vector<std::string_view> names = {@names@};
  return names;
}

const std::vector<ProviderRow>& known_providers() {
  static const std::vector<ProviderRow> rows = {
@rows@  };
  return rows;
}

const std::vector<CpuKernel>& cpu_kernels() {
  static const std::vector<CpuKernel> rows = {
@table@  };
  return rows;
}

}  // namespace padops
]])
