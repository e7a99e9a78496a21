/* HTML by hand: a few elements, one style sheet. */
#include "plot/page.h"

#include "plot/palette.h"

static const char style[] =
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}"
    "main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 1rem}"
    "h2{font-size:1.15rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;"
    "border-bottom:1px solid var(--line)}"
    "p{margin:.6rem 0;max-width:44rem}"
    ".quiet{color:var(--quiet);font-size:.875rem}"
    ".scroll{overflow-x:auto;margin:.8rem 0}"
    ".scroll svg{max-width:none}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9375rem}"
    "th,td{padding:.35rem .7rem;text-align:right;white-space:nowrap}"
    "thead th{border-bottom:2px solid var(--ink);font-weight:600}"
    "tbody tr+tr>*{border-top:1px solid var(--line)}"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}"
    "tbody th{font-weight:500;white-space:normal;overflow-wrap:anywhere;min-width:6rem}"
    ".aside>*{color:var(--quiet)}"
    "tr:not(.aside)+.aside>*{border-top:2px solid var(--line)}"
    ".best{font-weight:700}"
    ".second{text-decoration:underline;text-underline-offset:.2em}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));"
    "gap:1rem 2rem;align-items:start}"
    "svg{max-width:100%;height:auto;display:block;margin:.6rem 0}"
    "pre{background:var(--shade);padding:.8rem 1rem;overflow-x:auto;border-radius:.3rem;"
    "font:.8125rem/1.5 ui-monospace,\"DejaVu Sans Mono\",monospace;white-space:pre-wrap;"
    "overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:.8rem 0;"
    "font-size:.9375rem}"
    "dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}"
    "@media(max-width:34rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}"
    "@media print{main{max-width:none}}";

static void element(pr_writer *page, const char *before, const char *text, const char *after)
{
    pr_write(page, "%s", before);
    pr_write_escaped(page, text);
    pr_write(page, "%s\n", after);
}

void pr_page_begin(pr_writer *page, const char *title)
{
    pr_write(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n");
    element(page, "<title>", title, "</title>");
    pr_write(page, "<style>:root{color-scheme:light dark;--line:#d9dee3;--shade:#f1f3f5;");
    pr_palette_css(page, false);
    pr_write(page, "}@media(prefers-color-scheme:dark){:root{--line:#343a41;--shade:#20252b;");
    pr_palette_css(page, true);
    pr_write(page, "}}%s</style>\n</head>\n<body>\n<main>\n", style);
    element(page, "<h1>", title, "</h1>\n<section>");
}

void pr_page_end(pr_writer *page)
{
    pr_write(page, "</section>\n</main>\n</body>\n</html>\n");
}

void pr_page_section(pr_writer *page, const char *heading)
{
    element(page, "</section>\n<section>\n<h2>", heading, "</h2>");
}

void pr_page_text(pr_writer *page, const char *text)
{
    element(page, "<p>", text, "</p>");
}

void pr_page_quiet(pr_writer *page, const char *text)
{
    element(page, "<p class=\"quiet\">", text, "</p>");
}

void pr_page_code(pr_writer *page, const char *text)
{
    element(page, "<pre>", text, "</pre>");
}

void pr_page_gallery(pr_writer *page)
{
    pr_write(page, "<div class=\"gallery\">\n");
}

void pr_page_gallery_end(pr_writer *page)
{
    pr_write(page, "</div>\n");
}

void pr_page_table(pr_writer *page, const char *const *headings, size_t count)
{
    pr_write(page, "<div class=\"scroll\"><table>\n<thead><tr>");
    for (size_t i = 0; i < count; i++)
        element(page, "<th scope=\"col\">", headings[i], "</th>");
    pr_write(page, "</tr></thead>\n<tbody>\n");
}

void pr_page_row(pr_writer *page, const char *name)
{
    element(page, "<tr><th scope=\"row\">", name, "</th>");
}

void pr_page_aside(pr_writer *page, const char *name)
{
    element(page, "<tr class=\"aside\"><th scope=\"row\">", name, "</th>");
}

void pr_page_cell(pr_writer *page, const char *text, pr_cell look)
{
    static const char *const begins[] = {"<td>", "<td class=\"best\">", "<td class=\"second\">"};
    element(page, begins[look], text, "</td>");
}

void pr_page_row_end(pr_writer *page)
{
    pr_write(page, "</tr>\n");
}

void pr_page_table_end(pr_writer *page)
{
    pr_write(page, "</tbody></table></div>\n");
}

void pr_page_list(pr_writer *page)
{
    pr_write(page, "<dl>\n");
}

void pr_page_item(pr_writer *page, const char *name, const char *value)
{
    element(page, "<dt>", name, "</dt>");
    element(page, "<dd>", value, "</dd>");
}

void pr_page_list_end(pr_writer *page)
{
    pr_write(page, "</dl>\n");
}
