//! The static website of an account: which blob of `$web` answers which path.
//!
//! Must never look whether a blob is there: it names candidates in the order they are tried.

use alloc::string::String;
use alloc::vec::Vec;
use zaffre_base::limits::WEBSITE_PATH_CHARS;

/// Settings of the website.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StaticWebsite {
    /// Whether it is served.
    pub enabled: bool,
    /// The name of the page that stands for a folder.
    pub index_document: Option<String>,
    /// The one page for every path that has none of its own; excludes `index_document`.
    pub default_index_path: Option<String>,
    /// The page for what is not there.
    pub error_document: Option<String>,
}

/// A blob that may answer a request for a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Its name in `$web`.
    pub blob: String,
    /// Whether it is the page for what is not there, which is sent with 404.
    pub missing: bool,
}

impl StaticWebsite {
    /// Whether the names can be those of blobs, and both kinds of index do not meet.
    pub fn is_legal(&self) -> bool {
        let index = self.index_document.as_ref();
        let index_fits = index.is_none_or(|name| fits(name) && !name.contains('/'));
        let paths = [&self.default_index_path, &self.error_document];
        let paths_fit = paths.into_iter().flatten().all(|path| fits(path));
        let one_index = index.is_none() || self.default_index_path.is_none();
        index_fits && paths_fit && one_index
    }

    /// The blobs to try for `path`, which has no leading slash, in this order.
    pub fn candidates(&self, path: &str) -> Vec<Candidate> {
        let page = |blob: String| Candidate { blob, missing: false };
        let mut candidates = Vec::new();
        let is_folder = path.is_empty() || path.ends_with('/');
        match &self.index_document {
            Some(index) if is_folder => {
                candidates.push(page([path, index.as_str()].concat()));
            }
            _ if path.is_empty() => {}
            _ => candidates.push(page(String::from(path))),
        }
        candidates.extend(self.default_index_path.clone().map(page));
        let error = self.error_document.clone();
        candidates.extend(error.map(|blob| Candidate { blob, missing: true }));
        candidates
    }
}

fn fits(name: &str) -> bool {
    super::fits(name, WEBSITE_PATH_CHARS) && !name.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(index: &str, default: &str, error: &str) -> StaticWebsite {
        let named = |text: &str| Some(String::from(text)).filter(|text| !text.is_empty());
        StaticWebsite {
            enabled: true,
            index_document: named(index),
            default_index_path: named(default),
            error_document: named(error),
        }
    }

    #[test]
    fn paths() {
        for (site, path, want) in [
            (site("i", "", ""), "", "i"),
            (site("i", "", ""), "a/", "a/i"),
            (site("i", "", ""), "a", "a"),
            (site("i", "", "e"), "a", "a e!"),
            (site("", "", "e"), "", "e!"),
            (site("", "", ""), "", ""),
            (site("", "", ""), "a/", "a/"),
            (site("", "app", ""), "", "app"),
            (site("", "app", "e"), "x/y", "x/y app e!"),
        ] {
            let shown = site.candidates(path).into_iter().map(|candidate| {
                let mark = if candidate.missing { "!" } else { "" };
                candidate.blob + mark
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), want, "{site:?} {path}");
        }
    }

    #[test]
    fn settings() {
        for (site, legal) in [
            (site("", "", ""), true),
            (site("index.html", "", "a/404.html"), true),
            (site("", "a/b.html", ""), true),
            (site("i", "d", ""), false),
            (site("a/b", "", ""), false),
            (site("", "/a", ""), false),
            (site("", "", &"x".repeat(256)), false),
        ] {
            assert_eq!(site.is_legal(), legal, "{site:?}");
        }
    }
}
