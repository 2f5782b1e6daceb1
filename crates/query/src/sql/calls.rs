//! The functions of the language: what stands in their parentheses.

use super::lexer::Word;
use super::parser::Parser;
use super::{Expression, Function, Trim, Type};
use crate::Fault;
use crate::dates::Part;
use crate::limits::SELECT_COLUMNS;
use crate::value::Value;

impl Parser {
    /// The inside of a function's parentheses.
    pub(super) fn call(&mut self, name: &str) -> Result<Expression, Fault> {
        match name {
            "CAST" => {
                let of = Box::new(self.expression()?);
                self.expect("AS")?;
                return Ok(Expression::Cast(of, self.data_type()?));
            }
            "TRIM" => return self.trim(),
            "EXTRACT" => {
                let part = self.part()?;
                self.expect("FROM")?;
                return Ok(Expression::Call(Function::Extract(part), vec![self.expression()?]));
            }
            "SUBSTRING" => return self.substring(),
            _ => {}
        }
        let (function, count) = match name {
            "CHAR_LENGTH" | "CHARACTER_LENGTH" => (Function::CharLength, 1..=1),
            "LOWER" => (Function::Lower, 1..=1),
            "UPPER" => (Function::Upper, 1..=1),
            "DATE_ADD" | "DATE_DIFF" => {
                let part = self.part()?;
                self.expect_symbol(",")?;
                let add = name == "DATE_ADD";
                (if add { Function::DateAdd(part) } else { Function::DateDiff(part) }, 2..=2)
            }
            "TO_STRING" => (Function::ToString, 2..=2),
            "TO_TIMESTAMP" => (Function::ToTimestamp, 1..=1),
            "UTCNOW" => (Function::UtcNow, 0..=0),
            "NULLIF" => (Function::NullIf, 2..=2),
            "COALESCE" => (Function::Coalesce, 1..=SELECT_COLUMNS),
            _ => return Err(Fault::syntax(format!("There is no function {name}."))),
        };
        let mut arguments = Vec::new();
        if self.peek() != Some(&Word::Symbol(")")) {
            arguments.push(self.expression()?);
            while self.takes_symbol(",") {
                arguments.push(self.expression()?);
            }
        }
        if !count.contains(&arguments.len()) {
            return Err(Fault::syntax(format!("{name} has a wrong number of arguments.")));
        }
        Ok(Expression::Call(function, arguments))
    }

    fn substring(&mut self) -> Result<Expression, Fault> {
        let mut arguments = vec![self.expression()?];
        if self.takes("FROM") {
            arguments.push(self.expression()?);
            if self.takes("FOR") {
                arguments.push(self.expression()?);
            }
        } else {
            self.expect_symbol(",")?;
            arguments.push(self.expression()?);
            if self.takes_symbol(",") {
                arguments.push(self.expression()?);
            }
        }
        Ok(Expression::Call(Function::Substring, arguments))
    }

    fn trim(&mut self) -> Result<Expression, Fault> {
        let sides =
            [("BOTH", Trim::Both), ("LEADING", Trim::Leading), ("TRAILING", Trim::Trailing)];
        let side = sides.into_iter().find(|(word, _)| self.takes(word));
        let space = Expression::Literal(Value::Text(" ".to_owned()));
        let mut characters = space;
        if !(side.is_some() && self.takes("FROM")) {
            let first = self.expression()?;
            if !self.takes("FROM") {
                let function = Function::Trim(side.map_or(Trim::Both, |(_, side)| side));
                return Ok(Expression::Call(function, vec![first, characters]));
            }
            characters = first;
        }
        let of = self.expression()?;
        let function = Function::Trim(side.map_or(Trim::Both, |(_, side)| side));
        Ok(Expression::Call(function, vec![of, characters]))
    }

    fn part(&mut self) -> Result<Part, Fault> {
        let part = match self.peek() {
            Some(Word::Name(text) | Word::Text(text) | Word::Quoted(text)) => Part::parse(text),
            _ => None,
        };
        let part = part.ok_or_else(|| self.unexpected())?;
        self.at += 1;
        Ok(part)
    }

    fn data_type(&mut self) -> Result<Type, Fault> {
        let Some(Word::Name(name)) = self.peek() else { return Err(self.unexpected()) };
        let found = match name.to_ascii_uppercase().as_str() {
            "INT" | "INTEGER" => Type::Int,
            "FLOAT" => Type::Float,
            "STRING" => Type::Text,
            "TIMESTAMP" => Type::Time,
            "BOOLEAN" | "BOOL" => Type::Bool,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(found)
    }
}
