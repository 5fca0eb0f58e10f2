// Comma-separated values, as RFC 4180 has them; tabs and semicolons too.

/** The separator that the first line uses most. */
export function separatorOf(text) {
  const line = text.slice(0, text.indexOf("\n") < 0 ? undefined : text.indexOf("\n"));
  const count = (c) => line.split(c).length;
  return [",", ";", "\t"].reduce((best, c) => (count(c) > count(best) ? c : best));
}

/** Rows of cells. Throws if a quote is never closed. */
export function parse(text, separator = separatorOf(text)) {
  const rows = [];
  let row = [];
  let at = 0;
  while (at < text.length) {
    const [cell, end] = text[at] === '"' ? quoted(text, at) : plain(text, at, separator);
    row.push(cell);
    at = end;
    if (text[at] === separator) {
      at += 1;
      // A separator at the very end has an empty cell behind it.
      if (at === text.length) row.push("");
      continue;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    rows.push(row);
    row = [];
  }
  if (row.length) rows.push(row);
  return rows;
}

function plain(text, start, separator) {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
  return [text.slice(start, end), end];
}

function quoted(text, start) {
  let end = start + 1;
  for (;;) {
    end = text.indexOf('"', end);
    if (end < 0) throw new Error("this is no CSV file: a quote is never closed");
    if (text[end + 1] !== '"') break;
    end += 2;
  }
  return [text.slice(start + 1, end).replaceAll('""', '"'), end + 1];
}

/** Rows as text. */
export function write(rows, separator) {
  const quote = (cell) => (/["\r\n]/.test(cell) || cell.includes(separator) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return rows.map((row) => row.map(quote).join(separator) + "\r\n").join("");
}
