//! Aggregates, one value each however many records there are.

use crate::Fault;
use crate::sql::Aggregate;
use crate::value::{Number, Value, float_of};
use std::cmp::Ordering;

/// One aggregate on its way.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    aggregate: Aggregate,
    count: i64,
    sum: Option<Number>,
    extreme: Option<Value>,
}

impl Running {
    pub(crate) fn new(aggregate: Aggregate) -> Self {
        Self { aggregate, count: 0, sum: None, extreme: None }
    }

    /// Counts a record, whatever is in it.
    pub(crate) fn count(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Adds one value; nulls do not count.
    pub(crate) fn add(&mut self, value: Value) -> Result<(), Fault> {
        if !value.is_present() {
            return Ok(());
        }
        match self.aggregate {
            Aggregate::Count => {}
            Aggregate::Sum | Aggregate::Average => {
                let number = value.number()?;
                self.sum = Some(match (self.sum, number) {
                    (None, number) => number,
                    (Some(Number::Int(a)), Number::Int(b)) => match a.checked_add(b) {
                        Some(sum) => Number::Int(sum),
                        None => Number::Float(float_of(a) + float_of(b)),
                    },
                    (Some(a), b) => Number::Float(a.float() + b.float()),
                });
            }
            Aggregate::Min | Aggregate::Max => {
                let wanted = if self.aggregate == Aggregate::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                let replaces = match &self.extreme {
                    None => true,
                    Some(extreme) => value.compare(extreme)? == Some(wanted),
                };
                if replaces {
                    self.extreme = Some(value);
                }
            }
        }
        self.count();
        Ok(())
    }

    pub(crate) fn finish(self) -> Value {
        match self.aggregate {
            Aggregate::Count => Value::Int(self.count),
            Aggregate::Sum => self.sum.map_or(Value::Null, Number::value),
            Aggregate::Average => match self.sum {
                Some(sum) => Value::Float(sum.float() / float_of(self.count)),
                None => Value::Null,
            },
            Aggregate::Min | Aggregate::Max => self.extreme.unwrap_or(Value::Null),
        }
    }
}
