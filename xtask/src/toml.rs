//! Just enough TOML for our own manifests: sections, keys, values that may span lines.
//!
//! Must never be asked to read a file this repository does not hold.

/// One `key = value` with the section it stands in.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) section: String,
    pub(crate) key: String,
    /// As written, without comments; an array or table over several lines is joined by spaces.
    pub(crate) value: String,
    /// Line of the key, counted from one.
    pub(crate) line: usize,
}

/// All entries of a file, in order. Items of an array of tables share one section name.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let mut section = String::new();
    let mut all: Vec<Entry> = Vec::new();
    let mut open = 0;
    for (index, raw) in text.lines().enumerate() {
        let line = without_comment(raw).trim();
        if line.is_empty() {
            continue;
        }
        if open > 0 {
            open += nesting(line);
            if let Some(last) = all.last_mut() {
                last.value.push(' ');
                last.value.push_str(line);
            }
        } else if let Some(name) = line.strip_prefix('[') {
            name.trim_matches(['[', ']']).trim().clone_into(&mut section);
        } else if let Some((key, value)) = line.split_once('=') {
            open = nesting(value);
            all.push(Entry {
                section: section.clone(),
                key: key.trim().trim_matches('"').to_owned(),
                value: value.trim().to_owned(),
                line: index + 1,
            });
        }
    }
    all
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// How many brackets and braces a piece of a value leaves open.
fn nesting(text: &str) -> i32 {
    let mut quoted = false;
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[test]
    fn reads_what_our_manifests_use() {
        let text = "\
            top = 1\n\
            [dependencies] # why\n\
            bytes.workspace = true\n\
            serde = { version = \"1\", features = [\"a#b\"] }\n\
            [licenses]\n\
            allow = [\n  \"MIT\", # fine\n  \"ISC\",\n]\n\
            after = \"x\"\n";
        let got: Vec<_> =
            entries(text).into_iter().map(|e| (e.section, e.key, e.value, e.line)).collect();
        let expected = [
            ("", "top", "1", 1),
            ("dependencies", "bytes.workspace", "true", 3),
            ("dependencies", "serde", "{ version = \"1\", features = [\"a#b\"] }", 4),
            ("licenses", "allow", "[ \"MIT\", \"ISC\", ]", 6),
            ("licenses", "after", "\"x\"", 10),
        ]
        .map(|(s, k, v, l)| (s.to_owned(), k.to_owned(), v.to_owned(), l));
        assert_eq!(got, expected);
    }
}
