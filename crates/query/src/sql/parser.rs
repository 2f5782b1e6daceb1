//! From words to the tree of a SELECT.

use super::lexer::{Word, words};
use super::{
    Aggregate, AggregateColumn, Binary, Column, Expression, Items, Select, Step, TableStep,
};
use crate::Fault;
use crate::limits::{SELECT_COLUMNS, SPLIT_BYTES, SQL_BYTES, SQL_DEPTH};
use crate::value::Value;

/// Reads a statement.
pub fn parse(text: &str) -> Result<Select, Fault> {
    if text.len() > SQL_BYTES {
        return Err(Fault::syntax("The statement is too long."));
    }
    let mut parser = Parser { words: words(text)?, at: 0, depth: 0, alias: None };
    let select = parser.select()?;
    if parser.at == parser.words.len() { Ok(select) } else { Err(parser.unexpected()) }
}

pub(super) struct Parser {
    words: Vec<(Word, usize)>,
    pub(super) at: usize,
    depth: usize,
    /// What the table is called in paths besides its own name.
    alias: Option<String>,
}

const TABLE: &str = "BlobStorage";

impl Parser {
    pub(super) fn peek(&self) -> Option<&Word> {
        self.words.get(self.at).map(|(word, _)| word)
    }

    fn ahead(&self, by: usize) -> Option<&Word> {
        self.words.get(self.at + by).map(|(word, _)| word)
    }

    pub(super) fn unexpected(&self) -> Fault {
        match self.words.get(self.at) {
            Some((word, at)) => {
                let shown = match word {
                    Word::Name(text) | Word::Number(text) => text.clone(),
                    Word::Quoted(text) => format!("\"{text}\""),
                    Word::Text(text) => format!("'{text}'"),
                    Word::Symbol(symbol) => (*symbol).to_owned(),
                };
                Fault::syntax(format!("Unexpected {shown} at character {}.", at + 1))
            }
            None => Fault::syntax("The statement ends too early."),
        }
    }

    fn is_word(&self, by: usize, keyword: &str) -> bool {
        matches!(self.ahead(by), Some(Word::Name(name)) if name.eq_ignore_ascii_case(keyword))
    }

    pub(super) fn takes(&mut self, keyword: &str) -> bool {
        let found = self.is_word(0, keyword);
        self.at += usize::from(found);
        found
    }

    pub(super) fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Symbol(s)) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, keyword: &str) -> Result<(), Fault> {
        if self.takes(keyword) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn expect_symbol(&mut self, symbol: &str) -> Result<(), Fault> {
        if self.takes_symbol(symbol) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn select(&mut self) -> Result<Select, Fault> {
        self.expect("SELECT")?;
        let items_at = self.at;
        self.skip_to_from();
        self.expect("FROM")?;
        let from = self.table()?;
        let after = self.at;
        // The list is read once the table's alias is known.
        self.at = items_at;
        let items = self.items()?;
        if !self.is_word(0, "FROM") {
            return Err(self.unexpected());
        }
        self.at = after;
        let filter = if self.takes("WHERE") { Some(self.expression()?) } else { None };
        let limit = if self.takes("LIMIT") { Some(self.count()?) } else { None };
        Ok(Select { items, from, filter, limit })
    }

    /// To the FROM of the statement itself, past those inside functions.
    fn skip_to_from(&mut self) {
        let mut inside = 0_usize;
        while let Some(word) = self.peek() {
            match word {
                Word::Symbol("(") => inside += 1,
                Word::Symbol(")") => inside = inside.saturating_sub(1),
                Word::Name(name) if inside == 0 && name.eq_ignore_ascii_case("FROM") => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn count(&mut self) -> Result<u64, Fault> {
        let Some(Word::Number(text)) = self.peek() else { return Err(self.unexpected()) };
        let number = text.parse().map_err(|_| self.unexpected())?;
        self.at += 1;
        Ok(number)
    }

    /// `BlobStorage[*].path[*]`, with an alias. The first `[*]` stands for the document itself.
    fn table(&mut self) -> Result<Vec<TableStep>, Fault> {
        self.expect(TABLE)?;
        let mut steps = Vec::new();
        let mut first = true;
        loop {
            if self.takes_symbol("[") {
                if self.takes_symbol("*") {
                    if !first {
                        steps.push(TableStep::Each);
                    }
                } else {
                    let index = usize::try_from(self.count()?).unwrap_or(usize::MAX);
                    steps.push(TableStep::Index(index));
                }
                self.expect_symbol("]")?;
            } else if self.takes_symbol(".") {
                let (name, exact) = self.name()?;
                steps.push(TableStep::Member { name, exact });
            } else {
                break;
            }
            first = false;
        }
        let named = self.takes("AS");
        let keyword = ["WHERE", "LIMIT"].iter().any(|word| self.is_word(0, word));
        if named || matches!(self.peek(), Some(Word::Name(_) | Word::Quoted(_))) && !keyword {
            self.alias = Some(self.name()?.0);
        }
        Ok(steps)
    }

    fn name(&mut self) -> Result<(String, bool), Fault> {
        let found = match self.peek() {
            Some(Word::Name(name)) => (name.clone(), false),
            Some(Word::Quoted(name)) => (name.clone(), true),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(found)
    }

    fn items(&mut self) -> Result<Items, Fault> {
        if self.takes_symbol("*") {
            return Ok(Items::All);
        }
        if self.is_word(0, "sys") && self.is_word(2, "split") {
            self.at += 3;
            self.expect_symbol("(")?;
            let size = self.count()?;
            self.expect_symbol(")")?;
            if size < SPLIT_BYTES {
                return Err(Fault::syntax(format!("A split has at least {SPLIT_BYTES} bytes.")));
            }
            return Ok(Items::Split(size));
        }
        let (mut columns, mut aggregates) = (Vec::new(), Vec::new());
        loop {
            if let Some(aggregate) = self.aggregate() {
                self.at += 2;
                let star = aggregate == Aggregate::Count && self.takes_symbol("*");
                let of = if star { None } else { Some(self.expression()?) };
                self.expect_symbol(")")?;
                aggregates.push(AggregateColumn { aggregate, of, name: self.column_alias()? });
            } else {
                let expression = self.expression()?;
                columns.push(Column { expression, name: self.column_alias()? });
            }
            if columns.len() + aggregates.len() > SELECT_COLUMNS {
                let most = format!("A SELECT names at most {SELECT_COLUMNS} columns.");
                return Err(Fault::syntax(most));
            }
            if !self.takes_symbol(",") {
                break;
            }
        }
        match (columns.is_empty(), aggregates.is_empty()) {
            (false, true) => Ok(Items::Columns(columns)),
            (true, _) => Ok(Items::Aggregates(aggregates)),
            (false, false) => Err(Fault::syntax("Columns and aggregates cannot be mixed.")),
        }
    }

    fn column_alias(&mut self) -> Result<Option<String>, Fault> {
        if self.takes("AS") {
            return Ok(Some(self.name()?.0));
        }
        Ok(None)
    }

    fn aggregate(&self) -> Option<Aggregate> {
        let Some(Word::Name(name)) = self.peek() else { return None };
        if self.ahead(1) != Some(&Word::Symbol("(")) {
            return None;
        }
        Some(match name.to_ascii_uppercase().as_str() {
            "COUNT" => Aggregate::Count,
            "SUM" => Aggregate::Sum,
            "AVG" | "AVERAGE" => Aggregate::Average,
            "MIN" => Aggregate::Min,
            "MAX" => Aggregate::Max,
            _ => return None,
        })
    }

    /// OR binds least.
    pub(super) fn expression(&mut self) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > SQL_DEPTH {
            return Err(Fault::syntax("The statement nests too deeply."));
        }
        let mut left = self.all_of()?;
        let mut chain = 0;
        while self.takes("OR") {
            chain += 1;
            check_chain(chain)?;
            left = binary(Binary::Or, left, self.all_of()?);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Expression, Fault> {
        let mut left = self.negated()?;
        let mut chain = 0;
        while self.takes("AND") {
            chain += 1;
            check_chain(chain)?;
            left = binary(Binary::And, left, self.negated()?);
        }
        Ok(left)
    }

    fn negated(&mut self) -> Result<Expression, Fault> {
        let mut negations = 0;
        while self.takes("NOT") {
            negations += 1;
        }
        let inside = self.comparison()?;
        Ok(if negations % 2 == 1 { Expression::Not(Box::new(inside)) } else { inside })
    }

    fn comparison(&mut self) -> Result<Expression, Fault> {
        let left = self.sum()?;
        let operators = [
            ("=", Binary::Equal),
            ("<>", Binary::NotEqual),
            ("!=", Binary::NotEqual),
            ("<=", Binary::LessOrEqual),
            (">=", Binary::GreaterOrEqual),
            ("<", Binary::Less),
            (">", Binary::Greater),
        ];
        for (symbol, operator) in operators {
            if self.takes_symbol(symbol) {
                return Ok(binary(operator, left, self.sum()?));
            }
        }
        if self.takes("IS") {
            let not = self.takes("NOT");
            let of = Box::new(left);
            let test = if self.takes("NULL") {
                Expression::IsNull(of)
            } else if self.takes("MISSING") {
                Expression::IsMissing(of)
            } else {
                return Err(self.unexpected());
            };
            return Ok(maybe_not(not, test));
        }
        let not = self.is_word(0, "NOT")
            && ["LIKE", "BETWEEN", "IN"].iter().any(|word| self.is_word(1, word));
        self.at += usize::from(not);
        self.predicate(left).map(|test| maybe_not(not, test))
    }

    fn predicate(&mut self, left: Expression) -> Result<Expression, Fault> {
        if self.takes("LIKE") {
            let pattern = Box::new(self.sum()?);
            let escape = if self.takes("ESCAPE") { Some(Box::new(self.sum()?)) } else { None };
            return Ok(Expression::Like { of: Box::new(left), pattern, escape });
        }
        if self.takes("BETWEEN") {
            let low = Box::new(self.sum()?);
            self.expect("AND")?;
            let high = Box::new(self.sum()?);
            return Ok(Expression::Between { of: Box::new(left), low, high });
        }
        if self.takes("IN") {
            self.expect_symbol("(")?;
            let mut list = vec![self.expression()?];
            while self.takes_symbol(",") {
                list.push(self.expression()?);
            }
            self.expect_symbol(")")?;
            return Ok(Expression::In { of: Box::new(left), list });
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, Fault> {
        let mut left = self.product()?;
        for chain in 1.. {
            let operator = if self.takes_symbol("+") {
                Binary::Add
            } else if self.takes_symbol("-") {
                Binary::Subtract
            } else {
                break;
            };
            check_chain(chain)?;
            left = binary(operator, left, self.product()?);
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Fault> {
        let mut left = self.signed()?;
        for chain in 1.. {
            let operator = if self.takes_symbol("*") {
                Binary::Multiply
            } else if self.takes_symbol("/") {
                Binary::Divide
            } else if self.takes_symbol("%") {
                Binary::Remainder
            } else {
                break;
            };
            check_chain(chain)?;
            left = binary(operator, left, self.signed()?);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, Fault> {
        let mut minus = false;
        loop {
            if self.takes_symbol("-") {
                minus = !minus;
            } else if !self.takes_symbol("+") {
                break;
            }
        }
        let inside = self.primary()?;
        Ok(if minus { Expression::Negate(Box::new(inside)) } else { inside })
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        if self.takes_symbol("(") {
            let inside = self.expression()?;
            self.expect_symbol(")")?;
            return Ok(inside);
        }
        let literal = match self.peek() {
            Some(Word::Text(text)) => Value::Text(text.clone()),
            Some(Word::Number(text)) => match text.parse() {
                Ok(value) => Value::Int(value),
                Err(_) => text.parse().map_or(Value::Null, Value::Float),
            },
            Some(Word::Name(name)) if name.eq_ignore_ascii_case("TRUE") => Value::Bool(true),
            Some(Word::Name(name)) if name.eq_ignore_ascii_case("FALSE") => Value::Bool(false),
            Some(Word::Name(name)) if name.eq_ignore_ascii_case("NULL") => Value::Null,
            Some(Word::Name(name)) if self.ahead(1) == Some(&Word::Symbol("(")) => {
                let name = name.to_ascii_uppercase();
                self.at += 2;
                let call = self.call(&name)?;
                self.expect_symbol(")")?;
                return Ok(call);
            }
            _ => return self.field(),
        };
        self.at += 1;
        Ok(Expression::Literal(literal))
    }

    /// `a.b[0]."c"`; the table's name or alias in front is left out.
    fn field(&mut self) -> Result<Expression, Fault> {
        let (name, exact) = self.name()?;
        let reserved = ["FROM", "WHERE", "LIMIT", "SELECT", "AND", "OR", "AS"];
        if !exact && reserved.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            self.at -= 1;
            return Err(self.unexpected());
        }
        let is_table = name.eq_ignore_ascii_case(TABLE)
            || self.alias.as_ref().is_some_and(|alias| alias.eq_ignore_ascii_case(&name));
        let mut steps = Vec::new();
        if !(is_table && self.peek() == Some(&Word::Symbol("."))) {
            steps.push(Step::Member { name, exact });
        }
        loop {
            if self.takes_symbol(".") {
                let (name, exact) = self.name()?;
                steps.push(Step::Member { name, exact });
            } else if self.takes_symbol("[") {
                steps.push(Step::Index(usize::try_from(self.count()?).unwrap_or(usize::MAX)));
                self.expect_symbol("]")?;
            } else {
                return Ok(Expression::Field(steps));
            }
        }
    }
}

/// Chains become trees as deep as they are long, which evaluation walks down.
fn check_chain(length: usize) -> Result<(), Fault> {
    if length > SQL_DEPTH { Err(Fault::syntax("An expression is too long.")) } else { Ok(()) }
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

fn maybe_not(not: bool, test: Expression) -> Expression {
    if not { Expression::Not(Box::new(test)) } else { test }
}
