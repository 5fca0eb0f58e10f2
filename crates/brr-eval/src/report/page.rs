//! The page around charts and tables.

use std::fmt::Write;

use super::chart::Chart;

/// Text made safe to stand in HTML, in content and in attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// A table: a caption, a heading for each column, cells row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Headings.
    pub head: Vec<String>,
    /// Rows; the first cell of each is its heading.
    pub rows: Vec<Vec<String>>,
}

/// The heading of a column, and its cell in a row.
pub(super) type Column<T> = (&'static str, fn(&T) -> String);

impl Table {
    /// A row for each of `rows`.
    pub(super) fn of<'a, T: 'a>(
        caption: &str,
        columns: &[Column<T>],
        rows: impl IntoIterator<Item = &'a T>,
    ) -> Table {
        let row = |of: &T| columns.iter().map(|(_, cell)| cell(of)).collect();
        Table {
            caption: caption.to_owned(),
            head: columns.iter().map(|(head, _)| (*head).to_owned()).collect(),
            rows: rows.into_iter().map(row).collect(),
        }
    }

    fn write(&self, out: &mut String) {
        let _ = write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\"><table><caption>{}</caption><thead><tr>",
            escape(&self.caption)
        );
        for head in &self.head {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escape(head));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let (tag, scope) = [("th", " scope=\"row\""), ("td", "")][i.min(1)];
                let _ = write!(out, "<{tag}{scope}>{}</{tag}>", escape(cell));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
}

/// A page that grows from top to bottom.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    charts: usize,
}

impl Page {
    /// A page with a title.
    pub fn new(title: &str) -> Page {
        Page {
            title: title.to_owned(),
            body: format!("<h1>{}</h1>\n", escape(title)),
            charts: 0,
        }
    }

    /// A heading.
    pub fn heading(&mut self, text: &str) -> &mut Page {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
        self
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Page {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
        self
    }

    /// A table.
    pub fn table(&mut self, table: &Table) -> &mut Page {
        table.write(&mut self.body);
        self
    }

    /// A chart, with its numbers folded in beside it.
    pub fn chart(&mut self, chart: &Chart) -> &mut Page {
        self.charts += 1;
        self.body.push_str("<figure>\n");
        self.body
            .push_str(&chart.svg(&format!("chart{}", self.charts)));
        self.body
            .push_str("<details><summary>The numbers</summary>\n");
        chart.table().write(&mut self.body);
        self.body.push_str("</details>\n</figure>\n");
        self
    }

    /// The finished file.
    pub fn finish(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>\n:root {{ {LIGHT} }}\n{STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
            escape(&self.title),
            self.body
        )
    }
}

/// Colours on white.
pub(super) const LIGHT: &str = "--ink: #1b1f24; --paper: #ffffff; --faint: #d5dae1; --soft: #5b6570; \
  --c0: #0b62a4; --c1: #b3470b; --c2: #17734b; --c3: #7a3fa0; --c4: #8a6500; --c5: #a3234e; \
  --c6: #00717a; --c7: #4d5560;";

const STYLE: &str = "\
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --paper: #14171b; --faint: #363d46; --soft: #9aa5b1;
    --c0: #6cb6ff; --c1: #ff9f66; --c2: #5fd19b; --c3: #cf9bf5; --c4: #e5c04b; --c5: #ff8fb1;
    --c6: #4fd3df; --c7: #b4bcc6; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', sans-serif; }
main { margin: 0 auto; padding: 1rem 1.25rem 4rem; }
h1, h2, p, svg { max-width: 60rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
figure { margin: 1.5rem 0; } svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font-size: 13px; } svg .soft { fill: var(--soft); }
svg .grid { stroke: var(--faint); } svg .axis { stroke: var(--soft); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  font-size: 0.85rem; width: 100%; margin: 0.5rem 0 1rem; } details table { width: auto; }
caption { text-align: left; color: var(--soft); padding: 0.25rem 0; }
th, td { padding: 0.2rem 0.4rem; border-bottom: 1px solid var(--faint); text-align: right; }
thead th { border-bottom: 2px solid var(--soft); vertical-align: bottom; } tbody th { font-weight: 600; text-align: left; }
summary { cursor: pointer; color: var(--soft); } :focus-visible { outline: 2px solid var(--c0); }
@media print { details { display: block; } }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_page_is_taken_for_markup_and_nothing_is_fetched() {
        let mut page = Page::new("a < b & \"c\"");
        page.heading("<script>alert(1)</script>").table(&Table {
            caption: "x".into(),
            head: vec!["<b>".into()],
            rows: vec![vec!["'&'".into()]],
        });
        let html = page.finish();
        assert!(html.contains("a &lt; b &amp; &quot;c&quot;") && !html.contains("<script"));
        assert!(html.contains("&#39;&amp;&#39;"));
        assert!(!html.contains("http") && !html.contains("src=") && !html.contains("url("));
    }
}
