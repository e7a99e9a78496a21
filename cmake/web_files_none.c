/* No page: the table of a build with -DPARSREC_WEB=OFF. */
#include "serve/web_files.h"

const web_file web_files[] = {{NULL, NULL, NULL, 0, NULL}};
