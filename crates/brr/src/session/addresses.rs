//! What looks like an address in a stretch of an answer without white space.

/// Commands of TeX whose argument is an address, or a name by which something that is defined elsewhere is found.
const COMMANDS: [&str; 26] = [
    "begin",
    "class",
    "csname",
    "cssid",
    "data",
    "def",
    "end",
    "eqref",
    "gdef",
    "href",
    "htmlclass",
    "htmldata",
    "htmlid",
    "htmlstyle",
    "includegraphics",
    "include",
    "input",
    "let",
    "newcommand",
    "newenvironment",
    "ref",
    "renewcommand",
    "require",
    "style",
    "unicode",
    "url",
];

/// The mark that ends an address which begins in this stretch: that of a quotation which is opened and not closed, or
/// a curly bracket if the address stands right behind one.
pub fn open_mark(stretch: &str) -> Option<char> {
    let marks = ['"', '\'', '`'];
    let quoted = marks
        .into_iter()
        .find(|&mark| stretch.matches(mark).count() % 2 == 1);
    let inside = stretch.rsplit_once('{').map(|(_, inside)| inside);
    let braced = inside.is_some_and(|inside| !inside.starts_with(marks) && !inside.contains('}'));
    quoted.or((braced || ends_in_command(stretch)).then_some('}'))
}

/// Whether a stretch without white space has an address in it, or looks like it, as it stands or without the marks of
/// Markdown that do not show: `www\.host`.
pub fn is_address(stretch: &str) -> bool {
    let hidden = ['\\', '*', '_', '~', '`'];
    let shown = || stretch.replace(hidden, "");
    looks_like_address(stretch) || stretch.contains(hidden) && looks_like_address(&shown())
}

fn looks_like_address(stretch: &str) -> bool {
    let lower = stretch.to_ascii_lowercase();
    let begins = [
        "//",
        ":\\",
        "www.",
        "mailto:",
        "tel:",
        "sms:",
        "data:",
        "javascript:",
    ];
    begins.iter().any(|begin| lower.contains(begin))
        || has_at_sign(&lower)
        || has_host(&lower)
        || has_escape(&lower)
        || commands(&lower).any(|_| true)
        // Attributes that are defined elsewhere, and may be an image.
        || lower
            .split("{:")
            .skip(1)
            .any(|name| name.starts_with(char::is_alphabetic))
}

/// Commands of TeX whose argument is an address, or a name that is defined elsewhere: where each ends.
fn commands(lower: &str) -> impl Iterator<Item = usize> {
    lower.match_indices('\\').filter_map(|(at, mark)| {
        let name = &lower[at + mark.len()..];
        let end = name
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(name.len());
        COMMANDS
            .contains(&&name[..end])
            .then_some(at + mark.len() + end)
    })
}

/// Whether the argument of such a command is still to come.
fn ends_in_command(stretch: &str) -> bool {
    commands(&stretch.to_ascii_lowercase()).any(|end| end == stretch.len())
}

/// Characters written as numbers or names, as JSON, programs and HTML have them: an address may hide in them.
fn has_escape(text: &str) -> bool {
    let number = |text: &str| text.starts_with(|c: char| c == '{' || c.is_ascii_hexdigit());
    let mut backslashes = text
        .match_indices(['u', 'x'])
        .filter(|(at, _)| text[..*at].ends_with('\\'));
    let name = |entity: &str| {
        let end = entity
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(entity.len());
        end > 0 && entity[end..].starts_with(';')
    };
    text.contains("&#")
        || text.split('&').skip(1).any(name)
        || backslashes.any(|(at, _)| number(&text[at + 1..]))
}

fn has_at_sign(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        name.ends_with(char::is_alphanumeric) && host.starts_with(char::is_alphanumeric)
    })
}

/// `name.host.example`, `host.example/path`: programs that make links of such names ask for them before anybody clicks.
fn has_host(text: &str) -> bool {
    let dots = ['.', '。', '．', '｡'];
    let last = text.rfind(char::is_alphanumeric);
    // Where the next path begins: dots come in the order of the text, and so do these.
    let mut slashes = text.match_indices(['/', '?', '#']).peekable();
    text.match_indices(dots).any(|(at, dot)| {
        let (before, behind) = (&text[..at], at + dot.len());
        while slashes.next_if(|(slash, _)| *slash < behind).is_some() {}
        let path = slashes.peek().is_some_and(|(slash, _)| last > Some(*slash));
        let mut label = text[behind..]
            .chars()
            .take_while(|&c| c.is_alphanumeric() || c == '-')
            .peekable();
        before.ends_with(char::is_alphanumeric)
            && label.peek().is_some_and(|c| c.is_alphanumeric())
            && (path || label.filter(|c| c.is_alphabetic()).nth(1).is_some())
    })
}
