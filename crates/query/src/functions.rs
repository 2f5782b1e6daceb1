//! The functions of the language.

use crate::Fault;
use crate::dates::Moment;
use crate::sql::{Function, Trim};
use crate::value::Value;
use std::cmp::Ordering;

/// Calls a function; its number of arguments was checked by the parser.
pub(crate) fn call(function: Function, values: &[Value], now: Moment) -> Result<Value, Fault> {
    let null = Value::Null;
    let argument = |at: usize| values.get(at).unwrap_or(&null);
    match function {
        Function::Coalesce => {
            return Ok(values.iter().find(|v| v.is_present()).cloned().unwrap_or(Value::Null));
        }
        Function::NullIf => {
            let equal = argument(0).compare(argument(1))? == Some(Ordering::Equal);
            return Ok(if equal { Value::Null } else { argument(0).clone() });
        }
        Function::UtcNow => return Ok(Value::Time(now)),
        _ => {}
    }
    if values.iter().any(|value| !value.is_present()) {
        return Ok(Value::Null);
    }
    let text = || argument(0).text();
    let outside = || Fault::new("InvalidDate", "A date lies outside the years 1 to 9999.");
    Ok(match function {
        Function::CharLength => {
            Value::Int(i64::try_from(text().chars().count()).unwrap_or(i64::MAX))
        }
        Function::Lower => Value::Text(text().to_lowercase()),
        Function::Upper => Value::Text(text().to_uppercase()),
        Function::Substring => Value::Text(substring(&text(), values)?),
        Function::Trim(side) => Value::Text(trim(side, &text(), &argument(1).text())),
        Function::DateAdd(part) => {
            let moved = argument(1).time()?.add(part, argument(0).whole()?);
            Value::Time(moved.ok_or_else(outside)?)
        }
        Function::DateDiff(part) => {
            let apart = argument(0).time()?.until(part, argument(1).time()?);
            Value::Int(apart.ok_or_else(outside)?)
        }
        Function::Extract(part) => Value::Int(argument(0).time()?.extract(part)),
        Function::ToString => Value::Text(argument(0).time()?.format(&argument(1).text())),
        Function::ToTimestamp => Value::Time(argument(0).time()?),
        Function::Coalesce | Function::NullIf | Function::UtcNow => Value::Null,
    })
}

/// The first character has the number 0, as the service documents it.
fn substring(text: &str, values: &[Value]) -> Result<String, Fault> {
    let start = values.get(1).map_or(Ok(0), Value::whole)?;
    let length = values.get(2).map(Value::whole).transpose()?;
    if length.is_some_and(|length| length < 0) {
        return Err(Fault::new("InvalidArgument", "SUBSTRING has a negative length."));
    }
    let end = length.map_or(i64::MAX, |length| start.saturating_add(length));
    let (start, end) = (start.max(0), end.max(0));
    let at = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    Ok(text.chars().skip(at(start)).take(at(end.saturating_sub(start))).collect())
}

fn trim(side: Trim, text: &str, characters: &str) -> String {
    let inside = |c: char| characters.contains(c);
    let trimmed = match side {
        Trim::Both => text.trim_matches(inside),
        Trim::Leading => text.trim_start_matches(inside),
        Trim::Trailing => text.trim_end_matches(inside),
    };
    trimmed.to_owned()
}

/// `LIKE`: `%` is any text, `_` any character.
pub(crate) fn like(of: &Value, pattern: &Value, escape: Option<&Value>) -> Result<Value, Fault> {
    if !of.is_present() || !pattern.is_present() {
        return Ok(Value::Null);
    }
    let escape = match escape.map(Value::text) {
        None => None,
        Some(text) => {
            let mut chars = text.chars();
            let (Some(escape), None) = (chars.next(), chars.next()) else {
                return Err(Fault::new("InvalidArgument", "ESCAPE is one character."));
            };
            Some(escape)
        }
    };
    let text: Vec<char> = of.text().chars().collect();
    Ok(Value::Bool(matches(&text, &tokens(&pattern.text(), escape))))
}

#[derive(Clone, Copy, PartialEq)]
enum Token {
    Any,
    One,
    Exactly(char),
}

fn tokens(pattern: &str, escape: Option<char>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            c if Some(c) == escape => Token::Exactly(chars.next().unwrap_or(c)),
            '%' => Token::Any,
            '_' => Token::One,
            c => Token::Exactly(c),
        });
    }
    tokens
}

/// Goes back to the last `%` only, so that time is at most text × pattern.
fn matches(text: &[char], pattern: &[Token]) -> bool {
    let (mut at, mut token) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = text.get(at) {
        match pattern.get(token) {
            Some(Token::Any) => {
                star = Some((token, at));
                token += 1;
                continue;
            }
            Some(Token::One) => {
                at += 1;
                token += 1;
                continue;
            }
            Some(Token::Exactly(wanted)) if wanted == c => {
                at += 1;
                token += 1;
                continue;
            }
            _ => {}
        }
        let Some((star_token, star_at)) = star else { return false };
        token = star_token + 1;
        at = star_at + 1;
        star = Some((star_token, at));
    }
    pattern.iter().skip(token).all(|token| *token == Token::Any)
}
