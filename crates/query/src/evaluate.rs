//! What an expression is for one record.
//!
//! Must never stop a query: what cannot be evaluated is a fault of the record.

use crate::Fault;
use crate::csv::Header;
use crate::dates::{Moment, Part};
use crate::functions;
use crate::json::Json;
use crate::sql::{Binary, Expression, Step, Type};
use crate::value::{Number, Value};
use std::cmp::Ordering;

/// One record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    Csv { fields: &'a [Vec<u8>], header: Option<&'a Header> },
    Json(&'a Json),
}

impl Row<'_> {
    fn field(&self, path: &[Step]) -> Result<Value, Fault> {
        match self {
            Self::Csv { fields, header } => {
                let [Step::Member { name, exact }] = path else {
                    let what = "A field of CSV is named by its header or its number.";
                    return Err(Fault::new("InvalidColumnOrdinal", what));
                };
                let at = column(name, *exact, *header)?;
                let field = fields.get(at).ok_or_else(|| no_column(name))?;
                Ok(Value::Text(String::from_utf8_lossy(field).into_owned()))
            }
            Self::Json(json) => {
                let mut here = *json;
                for step in path {
                    let next = match step {
                        Step::Member { name, exact } => here.get(name, *exact),
                        Step::Index(at) => match here {
                            Json::Array(items) => items.get(*at),
                            _ => None,
                        },
                    };
                    match next {
                        Some(next) => here = next,
                        None => return Ok(Value::Missing),
                    }
                }
                Ok(here.value())
            }
        }
    }
}

fn no_column(name: &str) -> Fault {
    Fault::new("InvalidColumnOrdinal", format!("There is no column {name} in this record."))
}

/// A column by its name in the header, or by its number, `_1` being the first.
fn column(name: &str, exact: bool, header: Option<&Header>) -> Result<usize, Fault> {
    if let Some(at) = header.and_then(|header| header.find(name, exact)) {
        return Ok(at);
    }
    let number = name.strip_prefix('_').and_then(|digits| digits.parse::<usize>().ok());
    match number {
        Some(number @ 1..) => Ok(number - 1),
        _ => Err(no_column(name)),
    }
}

/// Evaluates for one record at one time.
pub(crate) struct Evaluator<'a> {
    pub(crate) row: Row<'a>,
    pub(crate) now: Moment,
}

impl Evaluator<'_> {
    /// Whether the record passes a filter: unknown does not.
    pub(crate) fn passes(&self, filter: &Expression) -> Result<bool, Fault> {
        Ok(self.value(filter)?.boolean()?.unwrap_or(false))
    }

    pub(crate) fn value(&self, expression: &Expression) -> Result<Value, Fault> {
        match expression {
            Expression::Literal(value) => Ok(value.clone()),
            Expression::Field(path) => self.row.field(path),
            Expression::Not(inside) => Ok(truth(self.value(inside)?.boolean()?.map(|b| !b))),
            Expression::Negate(inside) => self.negate(inside),
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expression::Like { of, pattern, escape } => {
                let escape = escape.as_ref().map(|e| self.value(e)).transpose()?;
                functions::like(&self.value(of)?, &self.value(pattern)?, escape.as_ref())
            }
            Expression::Between { of, low, high } => {
                let of = self.value(of)?;
                let low = of.compare(&self.value(low)?)?.map(Ordering::is_ge);
                let high = of.compare(&self.value(high)?)?.map(Ordering::is_le);
                Ok(truth(both(low, high)))
            }
            Expression::In { of, list } => self.is_in(of, list),
            Expression::IsNull(inside) => Ok(Value::Bool(!self.value(inside)?.is_present())),
            Expression::IsMissing(inside) => Ok(Value::Bool(self.value(inside)? == Value::Missing)),
            Expression::Cast(inside, to) => cast(&self.value(inside)?, *to),
            Expression::Call(function, arguments) => {
                let values = arguments.iter().map(|one| self.value(one));
                functions::call(*function, &values.collect::<Result<Vec<_>, _>>()?, self.now)
            }
        }
    }

    fn negate(&self, inside: &Expression) -> Result<Value, Fault> {
        let value = self.value(inside)?;
        if !value.is_present() {
            return Ok(Value::Null);
        }
        match value.number()? {
            Number::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(overflow),
            Number::Float(value) => Ok(Value::Float(-value)),
        }
    }

    fn is_in(&self, of: &Expression, list: &[Expression]) -> Result<Value, Fault> {
        let of = self.value(of)?;
        let mut unknown = !of.is_present();
        for one in list {
            match of.compare(&self.value(one)?)? {
                Some(Ordering::Equal) => return Ok(Value::Bool(true)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { Value::Null } else { Value::Bool(false) })
    }

    fn binary(
        &self,
        operator: Binary,
        left: &Expression,
        right: &Expression,
    ) -> Result<Value, Fault> {
        match operator {
            Binary::And => {
                let left = self.value(left)?.boolean()?;
                if left == Some(false) {
                    return Ok(Value::Bool(false));
                }
                return Ok(truth(both(left, self.value(right)?.boolean()?)));
            }
            Binary::Or => {
                let left = self.value(left)?.boolean()?;
                if left == Some(true) {
                    return Ok(Value::Bool(true));
                }
                let right = self.value(right)?.boolean()?;
                return Ok(truth(match (left, right) {
                    (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                }));
            }
            _ => {}
        }
        let (left, right) = (self.value(left)?, self.value(right)?);
        let compared = |test: fn(Ordering) -> bool| Ok(truth(left.compare(&right)?.map(test)));
        match operator {
            Binary::Equal => compared(Ordering::is_eq),
            Binary::NotEqual => compared(Ordering::is_ne),
            Binary::Less => compared(Ordering::is_lt),
            Binary::LessOrEqual => compared(Ordering::is_le),
            Binary::Greater => compared(Ordering::is_gt),
            Binary::GreaterOrEqual => compared(Ordering::is_ge),
            _ => arithmetic(operator, &left, &right),
        }
    }
}

fn truth(value: Option<bool>) -> Value {
    value.map_or(Value::Null, Value::Bool)
}

fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn overflow() -> Fault {
    Fault::new("ArithmeticOverflow", "A number is too large.")
}

fn arithmetic(operator: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    if !left.is_present() || !right.is_present() {
        return Ok(Value::Null);
    }
    if let (Value::Time(moment), Binary::Add | Binary::Subtract) = (left, operator) {
        let days = right.whole()?;
        let days = if operator == Binary::Add { Some(days) } else { days.checked_neg() };
        let moved = days.and_then(|days| moment.add(Part::Day, days));
        return moved.map(Value::Time).ok_or_else(overflow);
    }
    let divides = matches!(operator, Binary::Divide | Binary::Remainder);
    match (left.number()?, right.number()?) {
        (_, Number::Int(0)) if divides => Err(Fault::new("DivideByZero", "A number is zero.")),
        (Number::Int(a), Number::Int(b)) => {
            let result = match operator {
                Binary::Add => a.checked_add(b),
                Binary::Subtract => a.checked_sub(b),
                Binary::Multiply => a.checked_mul(b),
                Binary::Divide => a.checked_div(b),
                _ => a.checked_rem(b),
            };
            result.map(Value::Int).ok_or_else(overflow)
        }
        (a, b) => {
            let (a, b) = (a.float(), b.float());
            let result = match operator {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                _ => a % b,
            };
            if result.is_finite() { Ok(Value::Float(result)) } else { Err(overflow()) }
        }
    }
}

fn cast(value: &Value, to: Type) -> Result<Value, Fault> {
    if !value.is_present() {
        return Ok(value.clone());
    }
    Ok(match to {
        Type::Int => Value::Int(value.whole()?),
        Type::Float => Value::Float(value.number()?.float()),
        Type::Text => Value::Text(value.text()),
        Type::Time => Value::Time(value.time()?),
        Type::Bool => truth(value.boolean()?),
    })
}
