//! From words to an expression: `not` binds tighter than comparisons, those than `and`, that
//! than `or`.

use super::super::key::{PARTITION_KEY, ROW_KEY};
use super::lexer::{Lexer, Token};
use super::{Expression, FilterError, Operator, Value};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use zaffre_base::limits::FILTER_DEPTH;

/// Operators of the grammar that the service does not have.
const UNSERVED: [&str; 7] = ["add", "sub", "mul", "div", "mod", "has", "in"];

/// Reads a filter; an empty one is `None` and lets everything through.
pub fn parse(text: &str) -> Result<Option<Expression>, FilterError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut lexer = Lexer::new(text);
    let next = lexer.next()?;
    let mut parser = Parser { lexer, next, depth: 0 };
    let read = parser.or()?;
    let expression = parser.truth(read)?;
    match parser.next {
        Token::End => Ok(Some(expression)),
        Token::Word(word) if UNSERVED.contains(&word.as_str()) => Err(FilterError::NotImplemented),
        _ => Err(parser.lexer.error()),
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The word not used yet; the lexer stands after it.
    next: Token,
    depth: usize,
}

/// What a part of the text stands for.
enum Node {
    Property(String),
    Literal(Value),
    Truth(Expression),
}

impl Node {
    fn type_name(&self) -> &'static str {
        match self {
            Self::Property(name) if is_key(name) => "Edm.String",
            Self::Literal(value) => value.edm_type().name(),
            Self::Property(_) | Self::Truth(_) => "Edm.Boolean",
        }
    }

    /// The node as something that is true or false.
    fn into_truth(self) -> Option<Expression> {
        match self {
            Self::Property(name) if is_key(&name) => None,
            Self::Property(name) => Some(Expression::Property(name)),
            Self::Literal(Value::Boolean(value)) => Some(Expression::Constant(value)),
            Self::Literal(_) => None,
            Self::Truth(expression) => Some(expression),
        }
    }
}

fn is_key(name: &str) -> bool {
    name == PARTITION_KEY || name == ROW_KEY
}

impl Parser<'_> {
    fn take(&mut self) -> Result<Token, FilterError> {
        let next = self.lexer.next()?;
        Ok(core::mem::replace(&mut self.next, next))
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.next, Token::Word(next) if next == word)
    }

    fn truth(&self, node: Node) -> Result<Expression, FilterError> {
        node.into_truth().ok_or_else(|| self.lexer.error())
    }

    fn or(&mut self) -> Result<Node, FilterError> {
        self.chain("or", "Or", Self::and, Expression::Or)
    }

    fn and(&mut self) -> Result<Node, FilterError> {
        self.chain("and", "And", Self::unary, Expression::And)
    }

    /// Parts joined by one word; all of them must be true or false, unless there is only one.
    fn chain(
        &mut self,
        word: &str,
        operator: &'static str,
        part: fn(&mut Self) -> Result<Node, FilterError>,
        join: fn(Vec<Expression>) -> Expression,
    ) -> Result<Node, FilterError> {
        let mut left = part(self)?;
        if !self.is_word(word) {
            return Ok(left);
        }
        let mut all = Vec::new();
        loop {
            self.take()?;
            let right = part(self)?;
            let types = (left.type_name(), right.type_name());
            let incompatible =
                || FilterError::Incompatible { left: types.0, right: types.1, operator };
            all.push(left.into_truth().ok_or_else(incompatible)?);
            if !self.is_word(word) {
                all.push(right.into_truth().ok_or_else(incompatible)?);
                return Ok(Node::Truth(join(all)));
            }
            left = match right.into_truth() {
                Some(truth) => Node::Truth(truth),
                None => return Err(incompatible()),
            };
        }
    }

    fn unary(&mut self) -> Result<Node, FilterError> {
        if !self.is_word("not") {
            return self.comparison();
        }
        self.deeper(|parser| {
            parser.take()?;
            let inner = parser.unary()?;
            let inner = parser.truth(inner)?;
            Ok(Node::Truth(Expression::Not(Box::new(inner))))
        })
    }

    fn comparison(&mut self) -> Result<Node, FilterError> {
        let left = self.operand()?;
        let operator = match &self.next {
            Token::Word(word) => Operator::parse(word),
            _ => None,
        };
        let Some(operator) = operator else { return Ok(left) };
        self.take()?;
        let right = self.operand()?;
        let (property, operator, value) = match (left, right) {
            (Node::Property(property), Node::Literal(value)) => (property, operator, value),
            (Node::Literal(value), Node::Property(property)) => {
                (property, operator.flipped(), value)
            }
            _ => return Err(self.lexer.error()),
        };
        Ok(Node::Truth(Expression::Compare { property, operator, value }))
    }

    fn operand(&mut self) -> Result<Node, FilterError> {
        match &self.next {
            Token::Open => self.deeper(|parser| {
                parser.take()?;
                let inner = parser.or()?;
                if parser.next != Token::Close {
                    return Err(parser.lexer.error());
                }
                parser.take()?;
                Ok(inner)
            }),
            // Comparing with nothing is not supported, so that the word is out of place.
            Token::Word(word) if word == "null" => Err(self.lexer.error()),
            Token::Word(_) if self.lexer.calls() => Err(FilterError::NotImplemented),
            Token::Word(_) | Token::Literal(_) => Ok(match self.take()? {
                Token::Literal(value) => Node::Literal(value),
                Token::Word(word) => Node::Property(word),
                _ => return Err(self.lexer.error()),
            }),
            Token::Close | Token::Comma | Token::End => Err(self.lexer.error()),
        }
    }

    fn deeper(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Node, FilterError>,
    ) -> Result<Node, FilterError> {
        if self.depth == FILTER_DEPTH {
            return Err(FilterError::TooDeep);
        }
        self.depth += 1;
        let node = inner(self);
        self.depth -= 1;
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    /// Writes an expression with every parenthesis.
    fn show(expression: &Expression) -> String {
        let join = |all: &[Expression], word: &str| {
            let all: Vec<String> = all.iter().map(show).collect();
            format!("({})", all.join(word))
        };
        match expression {
            Expression::Or(all) => join(all, " or "),
            Expression::And(all) => join(all, " and "),
            Expression::Not(inner) => format!("not {}", show(inner)),
            Expression::Compare { property, operator, value } => {
                format!("{property} {} {value:?}", operator.name())
            }
            Expression::Property(name) => name.clone(),
            Expression::Constant(value) => value.to_string(),
        }
    }

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(None) => "everything".to_string(),
            Ok(Some(expression)) => show(&expression),
            Err(FilterError::Syntax { position, .. }) => format!("syntax at {position}"),
            Err(FilterError::Incompatible { left, right, operator }) => {
                format!("{left} {operator} {right}")
            }
            Err(FilterError::NotImplemented) => "not implemented".to_string(),
            Err(FilterError::TooDeep) => "too deep".to_string(),
        }
    }

    #[test]
    fn filters() {
        for (text, want) in [
            ("", "everything"),
            ("  ", "everything"),
            ("a eq 1", "a eq Int32(1)"),
            ("1 lt a", "a gt Int32(1)"),
            ("'x' ge a", "a le String(\"x\")"),
            ("a eq 1 or b eq 2 and c eq 3", "(a eq Int32(1) or (b eq Int32(2) and c eq Int32(3)))"),
            (
                "(a eq 1 or b eq 2) and c eq 3",
                "((a eq Int32(1) or b eq Int32(2)) and c eq Int32(3))",
            ),
            ("not a eq 1", "not a eq Int32(1)"),
            ("not(a eq 1) and b", "(not a eq Int32(1) and b)"),
            ("not not a", "not not a"),
            ("a", "a"),
            ("(a) eq (1)", "a eq Int32(1)"),
            ("true", "true"),
            ("a eq true", "a eq Boolean(true)"),
            ("((((a))))", "a"),
            ("a eq 1 and (b eq 2)and c", "(a eq Int32(1) and b eq Int32(2) and c)"),
            ("aaa bbb ccc", "syntax at 7"),
            ("a eq", "syntax at 4"),
            ("a eq b", "syntax at 6"),
            ("1 eq 1", "syntax at 6"),
            ("a eq null", "syntax at 9"),
            ("null", "syntax at 4"),
            ("(a eq 1", "syntax at 7"),
            ("a eq 1)", "syntax at 7"),
            ("a = 1", "syntax at 3"),
            ("a eq 'x", "syntax at 7"),
            ("'x'", "syntax at 3"),
            ("PartitionKey", "syntax at 12"),
            ("not PartitionKey", "syntax at 16"),
            ("()", "syntax at 2"),
            (", a", "syntax at 1"),
            ("(PartitionKey) and (a eq 1)", "Edm.String And Edm.Boolean"),
            ("a eq 1 or 5", "Edm.Boolean Or Edm.Int32"),
            ("5 or a", "Edm.Int32 Or Edm.Boolean"),
            ("a and 'x'", "Edm.Boolean And Edm.String"),
            ("startswith(a,'x')", "not implemented"),
            ("length(a) eq 1", "not implemented"),
            ("a add 1 eq 2", "not implemented"),
            ("not startswith(a,'x')", "not implemented"),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
        assert_eq!(read(&nested(64)), "a");
        assert_eq!(read(&nested(65)), "too deep");
        assert_eq!(read(&"not ".repeat(10_000)), "too deep");
        let beside = format!("(a){}", " or (a)".repeat(100));
        assert!(parse(&beside).is_ok(), "beside each other, not nested");
        let long = format!("a{}", " or a".repeat(5_000));
        assert!(matches!(parse(&long), Ok(Some(Expression::Or(all))) if all.len() == 5_001));
    }
}
