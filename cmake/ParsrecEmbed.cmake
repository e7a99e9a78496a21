# parsrec_embed(TARGET SYMBOL FILE): the bytes of a file inside a target, as
#   extern const unsigned char SYMBOL[];  extern const size_t SYMBOL_size;
# made again whenever the file changes.
set(PARSREC_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(parsrec_embed target symbol file)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
  add_custom_command(OUTPUT ${made} DEPENDS ${file} ${PARSREC_EMBED_SCRIPT}
    COMMAND ${CMAKE_COMMAND} -DEMBED_FILE=${file} -DEMBED_OUT=${made} -DEMBED_SYMBOL=${symbol}
            -P ${PARSREC_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${made})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE AND EMBED_FILE)
  cmake_minimum_required(VERSION 3.25)
  file(READ ${EMBED_FILE} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}") # lines of 16
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  file(WRITE ${EMBED_OUT} "#include <stddef.h>

extern const unsigned char ${EMBED_SYMBOL}[];
extern const size_t ${EMBED_SYMBOL}_size;
const unsigned char ${EMBED_SYMBOL}[] = {
${bytes}0};
const size_t ${EMBED_SYMBOL}_size = sizeof ${EMBED_SYMBOL} - 1;
")
endif()
