//! `$filter`: text to expression, expression and entity to true or false.
//!
//! Must never take time or memory beyond what the text's length allows: nesting is bounded.

mod evaluate;
mod lexer;
mod parser;

pub use evaluate::{Lookup, matches};
pub use parser::parse;

use super::Value;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// What a filter says.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// One of them is true.
    Or(Vec<Expression>),
    /// All of them are true.
    And(Vec<Expression>),
    /// It is false.
    Not(Box<Expression>),
    /// A property compared with a constant.
    Compare {
        /// The property.
        property: String,
        /// How.
        operator: Operator,
        /// With what.
        value: Value,
    },
    /// A property that is itself true or false.
    Property(String),
    /// True or false.
    Constant(bool),
}

/// How values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the operators' own names")]
pub enum Operator {
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
}

impl Operator {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Eq, Self::Ne, Self::Gt, Self::Ge, Self::Lt, Self::Le];

    /// Its name in a filter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Lt => "lt",
            Self::Le => "le",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.name() == word)
    }

    /// The same comparison with its sides exchanged.
    fn flipped(self) -> Self {
        match self {
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            same => same,
        }
    }

    /// Whether it holds for two values in this order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
        }
    }
}

/// Why a filter cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilterError {
    /// Something is out of place.
    Syntax {
        /// Where the part that does not fit ends, in characters.
        position: usize,
        /// The filter.
        text: String,
    },
    /// `and` or `or` between what is not true or false.
    Incompatible {
        /// The type on the left.
        left: &'static str,
        /// The type on the right.
        right: &'static str,
        /// `And` or `Or`.
        operator: &'static str,
    },
    /// Functions, arithmetic and other parts of the grammar that the service does not have.
    NotImplemented,
    /// Deeper than we read.
    TooDeep,
}
