//! The statement: words, then a tree. One SELECT, as the service documents it.
//!
//! Must never nest deeper than its limit, nor look at data.

mod calls;
mod lexer;
mod parser;

pub use parser::parse;

use crate::dates::Part;
use crate::value::Value;

/// A parsed SELECT.
#[derive(Clone, PartialEq, Debug)]
pub struct Select {
    pub(crate) items: Items,
    /// Where in a JSON document the rows are.
    pub(crate) from: Vec<TableStep>,
    pub(crate) filter: Option<Expression>,
    pub(crate) limit: Option<u64>,
}

/// One step of a table descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TableStep {
    Member {
        name: String,
        exact: bool,
    },
    Index(usize),
    /// `[*]`: every item.
    Each,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Items {
    /// `*`
    All,
    Columns(Vec<Column>),
    Aggregates(Vec<AggregateColumn>),
    /// `sys.split(n)`
    Split(u64),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Column {
    pub(crate) expression: Expression,
    pub(crate) name: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct AggregateColumn {
    pub(crate) aggregate: Aggregate,
    /// `None` = `COUNT(*)`.
    pub(crate) of: Option<Expression>,
    pub(crate) name: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Aggregate {
    Count,
    Sum,
    Average,
    Min,
    Max,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    Int,
    Float,
    Text,
    Time,
    Bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Trim {
    Both,
    Leading,
    Trailing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    CharLength,
    Lower,
    Upper,
    Substring,
    Trim(Trim),
    DateAdd(Part),
    DateDiff(Part),
    Extract(Part),
    ToString,
    ToTimestamp,
    UtcNow,
    NullIf,
    Coalesce,
}

/// One step of a path to a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Member { name: String, exact: bool },
    Index(usize),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    Literal(Value),
    Field(Vec<Step>),
    Not(Box<Expression>),
    Negate(Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    Like { of: Box<Expression>, pattern: Box<Expression>, escape: Option<Box<Expression>> },
    Between { of: Box<Expression>, low: Box<Expression>, high: Box<Expression> },
    In { of: Box<Expression>, list: Vec<Expression> },
    IsNull(Box<Expression>),
    IsMissing(Box<Expression>),
    Cast(Box<Expression>, Type),
    Call(Function, Vec<Expression>),
}
