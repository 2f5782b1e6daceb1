//! Deletion of what is open: marked first, gone with the last handle.
//!
//! Must never look at names or rows: whether a file may be deleted at all is decided before.

/// What is known about the deletion of a file or directory that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deletion {
    pending: bool,
}

/// What a close leaves to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterClose {
    /// Nothing.
    Stays,
    /// The last handle of a file that is marked is closed: remove it.
    Remove,
}

impl Deletion {
    /// Whether the file goes with its last handle; nobody may open it again.
    pub const fn is_pending(self) -> bool {
        self.pending
    }

    /// Marks the file, or takes the mark back.
    pub const fn set(&mut self, delete: bool) {
        self.pending = delete;
    }

    /// A handle is closed. One that was opened to delete on close marks the file now, whatever was
    /// taken back before: its wish was its own.
    pub const fn close(&mut self, on_close: bool, handles_left: usize) -> AfterClose {
        self.pending = self.pending || on_close;
        match (self.pending, handles_left) {
            (true, 0) => AfterClose::Remove,
            _ => AfterClose::Stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Set(bool),
        Close { on_close: bool, left: usize },
    }
    use Step::{Close, Set};

    #[test]
    fn a_file_goes_when_the_last_handle_of_a_marked_one_closes() {
        let close = |on_close, left| Close { on_close, left };
        let rows: &[(&[Step], bool, AfterClose)] = &[
            (&[close(false, 0)], false, AfterClose::Stays),
            (&[close(true, 0)], true, AfterClose::Remove),
            (&[close(true, 1)], true, AfterClose::Stays),
            (&[close(true, 1), close(false, 0)], true, AfterClose::Remove),
            (&[Set(true), close(false, 1)], true, AfterClose::Stays),
            (&[Set(true), close(false, 1), close(false, 0)], true, AfterClose::Remove),
            (&[Set(true), Set(false), close(false, 0)], false, AfterClose::Stays),
            (&[Set(true), close(false, 1), Set(false), close(false, 0)], false, AfterClose::Stays),
            (&[Set(true), Set(false), close(true, 0)], true, AfterClose::Remove),
            (&[close(true, 1), Set(false), close(false, 0)], false, AfterClose::Stays),
        ];
        for (steps, pending, want) in rows {
            let mut deletion = Deletion::default();
            let mut last = AfterClose::Stays;
            for step in *steps {
                match *step {
                    Set(delete) => deletion.set(delete),
                    Close { on_close, left } => last = deletion.close(on_close, left),
                }
            }
            assert_eq!((deletion.is_pending(), last), (*pending, *want), "{steps:?}");
        }
    }
}
