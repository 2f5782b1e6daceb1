//! A small model of a share: what is under which name, which write each bit of a file comes from,
//! and what snapshots show.

use std::collections::BTreeMap;
use zaffre_base::Stamp;
use zaffre_core::file::op::Kind;
use zaffre_domain::fs::FileRefusal;
use zaffre_domain::fs::name::fold;

/// Bytes that are written together; all offsets are multiples of it.
pub const UNIT: usize = 16;
/// Units in a block of 512 bytes.
const BLOCK: usize = 32;

/// A file: which write each unit comes from; 0 = a hole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct File {
    pub units: Vec<u32>,
    /// Told apart from a file that was made anew under the name.
    pub generation: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    Directory,
    File(File),
}

/// Names in upper case to what they are, with the name as it was given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree(pub BTreeMap<String, (String, Node)>);

/// The bytes of a unit.
pub fn unit(write: u32, index: usize) -> [u8; UNIT] {
    let mut bytes = [0; UNIT];
    if write > 0 {
        let index = u32::try_from(index).unwrap_or(0);
        for part in bytes.chunks_exact_mut(8) {
            part[..4].copy_from_slice(&write.to_le_bytes());
            part[4..].copy_from_slice(&index.to_le_bytes());
        }
    }
    bytes
}

impl File {
    pub fn bytes(&self) -> Vec<u8> {
        self.units.iter().enumerate().flat_map(|(index, write)| unit(*write, index)).collect()
    }

    pub fn write(&mut self, from: usize, count: usize, write: u32) {
        self.units[from..from + count].fill(write);
    }

    /// Ranges that are there, or differ from an earlier state: start, end, whether cleared.
    pub fn ranges(&self, old: Option<&Self>) -> Vec<(u64, u64, bool)> {
        let mut found: Vec<(u64, u64, bool)> = Vec::new();
        let length = self.units.len() * UNIT;
        for block in 0..self.units.len().div_ceil(BLOCK) {
            let units = block * BLOCK..((block + 1) * BLOCK).min(self.units.len());
            let there = self.units[units.clone()].iter().any(|write| *write > 0);
            let shown = match old {
                None => there,
                Some(old) => {
                    // Also what lies behind the end of the shorter of the two.
                    let all = block * BLOCK..(block + 1) * BLOCK;
                    let at = |file: &Self, unit| file.units.get(unit).copied().unwrap_or(0);
                    all.into_iter().any(|unit| at(self, unit) != at(old, unit))
                }
            };
            if !shown {
                continue;
            }
            let of = |unit: usize| u64::try_from(unit * UNIT).unwrap_or(0);
            let (start, end) = (of(block * BLOCK), of((block + 1) * BLOCK));
            let end = end.min(u64::try_from(length).unwrap_or(0));
            match found.last_mut() {
                Some(last) if last.1 == start && last.2 != there => last.1 = end,
                _ => found.push((start, end, !there)),
            }
        }
        found
    }
}

fn above(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(above, _)| above)
}

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

impl Tree {
    pub fn get(&self, path: &str) -> Option<&Node> {
        self.0.get(&fold(path)).map(|(_, node)| node)
    }

    fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || self.get(path) == Some(&Node::Directory)
    }

    fn check_parent(&self, path: &str) -> Result<(), FileRefusal> {
        match above(path) {
            Some(parent) if !self.is_directory(parent) => Err(FileRefusal::ParentNotFound),
            _ => Ok(()),
        }
    }

    pub fn children(&self, path: &str) -> Vec<String> {
        let folded = fold(path);
        let inside = |key: &&String| above(key).unwrap_or_default() == folded;
        self.0.keys().filter(inside).map(|key| self.0[key].0.clone()).collect()
    }

    /// A file that must be there.
    pub fn file(&self, path: &str) -> Result<&File, FileRefusal> {
        self.check_parent(path)?;
        match self.get(path) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Directory) => Err(FileRefusal::ResourceTypeMismatch),
            None => Err(FileRefusal::ResourceNotFound),
        }
    }

    pub fn file_mut(&mut self, path: &str) -> Result<&mut File, FileRefusal> {
        self.file(path)?;
        match self.0.get_mut(&fold(path)) {
            Some((_, Node::File(file))) => Ok(file),
            _ => Err(FileRefusal::ResourceNotFound),
        }
    }

    pub fn make_directory(&mut self, path: &str) -> Result<(), FileRefusal> {
        self.check_parent(path)?;
        if self.get(path).is_some() {
            return Err(FileRefusal::ResourceAlreadyExists);
        }
        self.0.insert(fold(path), (last(path), Node::Directory));
        Ok(())
    }

    pub fn make_file(&mut self, path: &str, file: File) -> Result<(), FileRefusal> {
        self.check_parent(path)?;
        let name = match self.0.get(&fold(path)) {
            Some((_, Node::Directory)) => return Err(FileRefusal::ResourceTypeMismatch),
            Some((name, _)) => name.clone(),
            None => last(path),
        };
        self.0.insert(fold(path), (name, Node::File(file)));
        Ok(())
    }

    pub fn delete(&mut self, path: &str, kind: Kind) -> Result<(), FileRefusal> {
        self.check_parent(path)?;
        match (self.get(path), kind) {
            (None, _) => return Err(FileRefusal::ResourceNotFound),
            (Some(Node::Directory), Kind::Directory) if !self.children(path).is_empty() => {
                return Err(FileRefusal::DirectoryNotEmpty);
            }
            (Some(Node::Directory), Kind::Directory) | (Some(Node::File(_)), Kind::File) => {}
            (Some(_), _) => return Err(FileRefusal::ResourceTypeMismatch),
        }
        self.0.remove(&fold(path));
        Ok(())
    }

    pub fn rename(
        &mut self,
        from: &str,
        to: &str,
        kind: Kind,
        replace: bool,
    ) -> Result<(), FileRefusal> {
        self.check_parent(from)?;
        match (self.get(from), kind) {
            (None, _) => return Err(FileRefusal::ResourceNotFound),
            (Some(Node::Directory), Kind::Directory) | (Some(Node::File(_)), Kind::File) => {}
            (Some(_), _) => return Err(FileRefusal::ResourceTypeMismatch),
        }
        self.check_parent(to)?;
        let (old, new) = (fold(from), fold(to));
        if new.starts_with(&format!("{old}/")) {
            return Err(FileRefusal::MovedIntoItself);
        }
        match (self.get(to), kind) {
            (None, _) => {}
            (Some(_), _) if old == new => {}
            (Some(Node::Directory), Kind::File) => return Err(FileRefusal::ResourceTypeMismatch),
            (Some(Node::File(_)), Kind::File) if replace => {}
            (Some(_), _) => return Err(FileRefusal::ResourceAlreadyExists),
        }
        let (_, node) = self.0.remove(&old).ok_or(FileRefusal::ResourceNotFound)?;
        self.0.insert(new.clone(), (last(to), node));
        let below: Vec<String> =
            self.0.keys().filter(|key| key.starts_with(&format!("{old}/"))).cloned().collect();
        for key in below {
            if let Some(moved) = self.0.remove(&key) {
                self.0.insert(format!("{new}{}", &key[old.len()..]), moved);
            }
        }
        Ok(())
    }

    /// All paths of files.
    pub fn files(&self) -> Vec<String> {
        let files = self.0.iter().filter(|(_, (_, node))| matches!(node, Node::File(_)));
        files.map(|(path, _)| path.clone()).collect()
    }

    /// All paths of directories, deepest last.
    pub fn directories(&self) -> Vec<String> {
        let all = self.0.iter().filter(|(_, (_, node))| *node == Node::Directory);
        all.map(|(path, _)| path.clone()).collect()
    }
}

/// A snapshot and what it shows.
#[derive(Clone, Debug)]
pub struct Taken {
    pub at: Stamp,
    pub tree: Tree,
}
