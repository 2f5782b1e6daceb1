//! A history as text: `client call end operation => answer`, one line each.
//!
//! Must never keep what could not be read back: that would be a failure nobody can look at again.

use super::{Entry, Line, Model, Word};

/// The text of a history.
pub(crate) fn write<M: Model>(history: &[Entry<M>]) -> String {
    history.iter().map(|entry| line(entry) + "\n").collect()
}

/// One line of it.
pub(crate) fn line<M: Model>(entry: &Entry<M>) -> String {
    let Entry { client, call, end, op, answer } = entry;
    let answer = answer.as_ref().map_or_else(|| "?".to_owned(), Line::to_line);
    format!("{client} {call} {} {} => {answer}", end.to_word(), op.to_line())
}

/// Reads a history; lines that are empty or start with `#` are passed by. An error is the number of
/// the line, from 1, that makes no sense.
pub(crate) fn read<M: Model>(text: &str) -> Result<Vec<Entry<M>>, usize> {
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| entry(line).ok_or(index + 1))
        .collect()
}

fn entry<M: Model>(line: &str) -> Option<Entry<M>> {
    let mut words = line.splitn(4, ' ');
    let client = u64::from_word(words.next()?)?;
    let call = u64::from_word(words.next()?)?;
    let end = Option::from_word(words.next()?)?;
    let (op, answer) = words.next()?.split_once(" => ")?;
    let answer = if answer == "?" { None } else { Some(M::Answer::from_line(answer)?) };
    Some(Entry { client, call, end, op: M::Op::from_line(op)?, answer })
}
