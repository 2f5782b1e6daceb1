//! The files the checks look at, read once.
//!
//! Must never leave the workspace or look into what tools have put there.

use crate::source::Source;
use std::fs;
use std::path::Path;

/// Folders of other people's files, at any depth.
const SKIPPED: [&str; 5] = ["target", "node_modules", ".venv", ".git", "zaffre-data"];

/// A text file.
pub(super) struct File {
    /// Relative to the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A Rust file.
pub(super) struct Rust {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) source: Source,
    /// The whole file is test code: by its folder, or declared so by its parent.
    pub(super) test: bool,
}

impl Rust {
    /// Lines of code that ship, each with its number.
    pub(super) fn shipped_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.source.code.lines().enumerate().map(|(index, line)| (index + 1, line));
        lines.filter(|(number, _)| !self.test && !self.source.is_test(*number))
    }
}

/// The working tree.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) rust: Vec<Rust>,
    pub(super) markdown: Vec<File>,
    /// `crates/*/Cargo.toml` and the like.
    pub(super) manifests: Vec<File>,
    /// Every file and folder, for links.
    pub(super) paths: Vec<String>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        tree.paths.sort();
        tree.mark_test_modules();
        Ok(tree)
    }

    /// A tree made of the given files, for tests of the checks.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.paths.push((*path).to_owned());
            tree.add((*path).to_owned(), (*text).to_owned());
        }
        tree.mark_test_modules();
        tree
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<(), String> {
        let failed = |path: &str, error| format!("cannot read {path}: {error}");
        let entries = fs::read_dir(root.join(folder)).map_err(|e| failed(folder, e))?;
        for entry in entries {
            let entry = entry.map_err(|e| failed(folder, e))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type().map_err(|e| failed(&path, e))?;
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            self.paths.push(path.clone());
            if kind.is_dir() {
                self.read_folder(root, &path)?;
            } else if is_checked(&name) {
                let text = fs::read_to_string(root.join(&path)).map_err(|e| failed(&path, e))?;
                self.add(path, text);
            }
        }
        Ok(())
    }

    fn add(&mut self, path: String, text: String) {
        let extension = path.rsplit('.').next().unwrap_or_default();
        if extension == "rs" {
            let source = Source::new(&text);
            self.rust.push(Rust { test: is_test_path(&path), path, text, source });
        } else if extension == "md" {
            self.markdown.push(File { path, text });
        } else {
            self.manifests.push(File { path, text });
        }
    }

    fn mark_test_modules(&mut self) {
        let mut folders = Vec::new();
        for file in &self.rust {
            for module in &file.source.test_modules {
                folders.push(format!("{}{module}", module_folder(&file.path)));
            }
        }
        for file in &mut self.rust {
            let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
            let inside = |folder: &String| {
                stem == folder
                    || stem.strip_prefix(folder.as_str()).is_some_and(|r| r.starts_with('/'))
            };
            file.test = file.test || folders.iter().any(inside);
        }
    }
}

fn is_checked(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "rs" | "md"))) || name == "Cargo.toml"
}

/// Folders whose code never ships.
fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "examples" | "fuzz"))
}

/// The folder in which a file's child modules live, with a trailing `/`.
fn module_folder(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    match name {
        "mod" | "lib" | "main" => format!("{folder}/"),
        _ => format!("{stem}/"),
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn what_counts_as_test_code() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod model;\nmod real;"),
            ("crates/a/src/model.rs", "fn a() {}"),
            ("crates/a/src/model/deep.rs", "fn a() {}"),
            ("crates/a/src/model_two.rs", "fn a() {}"),
            ("crates/a/src/real.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/a/src/real/tests.rs", "fn a() {}"),
            ("crates/a/tests/x.rs", "fn a() {}"),
            ("fuzz/fuzz_targets/x.rs", "fn a() {}"),
        ]);
        let tests: Vec<&str> =
            tree.rust.iter().filter(|f| f.test).map(|f| f.path.as_str()).collect();
        let expected = [
            "crates/a/src/model.rs",
            "crates/a/src/model/deep.rs",
            "crates/a/src/real/tests.rs",
            "crates/a/tests/x.rs",
            "fuzz/fuzz_targets/x.rs",
        ];
        assert_eq!(tests, expected);
    }
}
