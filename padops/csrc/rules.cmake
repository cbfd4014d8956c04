# Makes rules.cpp from the texts of padops/rules/, which describe what execution providers do with Pads.
# core/rule_files.cpp reads these texts like a user's file. CMake configures again when a text changes.

set(rules ${CMAKE_CURRENT_LIST_DIR}/../rules)
file(GLOB files CONFIGURE_DEPENDS ${rules}/*.json)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
set(texts "")
foreach(path IN LISTS files)
  get_filename_component(file ${path} NAME)
  file(READ ${path} content)
  string(APPEND texts "      {\"${file}\", R\"json(${content})json\"},\n")
endforeach()
file(CONFIGURE OUTPUT rules.cpp @ONLY CONTENT [[// Made from padops/rules/ by padops/csrc/rules.cmake.
#include "core/rule_files.h"

namespace padops {

const std::vector<RuleText>& rule_texts() {
  static const std::vector<RuleText> texts = {
@texts@  };
  return texts;
}

}  // namespace padops
]])
