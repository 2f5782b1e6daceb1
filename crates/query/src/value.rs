//! Values while a query runs, and how they compare and convert.
//!
//! Must never guess: what cannot be converted is a fault of its record.

use crate::Fault;
use crate::dates::Moment;
use crate::json::Json;
use std::cmp::Ordering;

/// One value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// A field that the record does not have.
    Missing,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Time(Moment),
    /// An object or an array.
    Json(Json),
}

/// A number of either kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

/// The nearest float; halves are exact, so that only one rounding happens.
pub(crate) fn float_of(value: i64) -> f64 {
    let high = i32::try_from(value >> 32).unwrap_or(0);
    let low = u32::try_from(value & 0xFFFF_FFFF).unwrap_or(0);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// The whole part of a float, if it fits.
pub(crate) fn whole_of(value: f64) -> Option<i64> {
    if value.is_finite() { format!("{:.0}", value.trunc()).parse().ok() } else { None }
}

impl Number {
    pub(crate) fn float(self) -> f64 {
        match self {
            Self::Int(value) => float_of(value),
            Self::Float(value) => value,
        }
    }

    pub(crate) fn value(self) -> Value {
        match self {
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
        }
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }
}

impl Value {
    /// Neither null nor missing.
    pub(crate) fn is_present(&self) -> bool {
        !matches!(self, Self::Missing | Self::Null)
    }

    pub(crate) fn number(&self) -> Result<Number, Fault> {
        match self {
            Self::Int(value) => Ok(Number::Int(*value)),
            Self::Float(value) => Ok(Number::Float(*value)),
            Self::Bool(value) => Ok(Number::Int(i64::from(*value))),
            Self::Text(text) => {
                let trimmed = text.trim();
                if let Ok(value) = trimmed.parse::<i64>() {
                    return Ok(Number::Int(value));
                }
                match trimmed.parse::<f64>() {
                    Ok(value) if value.is_finite() => Ok(Number::Float(value)),
                    _ => Err(Fault::conversion(text, "a number")),
                }
            }
            other => Err(Fault::conversion(&other.text(), "a number")),
        }
    }

    pub(crate) fn whole(&self) -> Result<i64, Fault> {
        match self.number()? {
            Number::Int(value) => Ok(value),
            Number::Float(value) => {
                whole_of(value).ok_or_else(|| Fault::conversion(&self.text(), "INT"))
            }
        }
    }

    pub(crate) fn boolean(&self) -> Result<Option<bool>, Fault> {
        match self {
            Self::Missing | Self::Null => Ok(None),
            Self::Bool(value) => Ok(Some(*value)),
            Self::Int(value) => Ok(Some(*value != 0)),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
            Self::Text(text) if text.trim().eq_ignore_ascii_case("false") => Ok(Some(false)),
            other => Err(Fault::conversion(&other.text(), "BOOLEAN")),
        }
    }

    pub(crate) fn time(&self) -> Result<Moment, Fault> {
        match self {
            Self::Time(moment) => Ok(*moment),
            Self::Text(text) => {
                Moment::parse(text).ok_or_else(|| Fault::conversion(text, "TIMESTAMP"))
            }
            other => Err(Fault::conversion(&other.text(), "TIMESTAMP")),
        }
    }

    /// As text, the way it is shown in CSV.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Missing | Self::Null => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(text) => text.clone(),
            Self::Time(moment) => moment.iso(),
            Self::Json(json) => json.to_string(),
        }
    }

    /// How two values compare; `None` if one of them is null.
    pub(crate) fn compare(&self, other: &Self) -> Result<Option<Ordering>, Fault> {
        if !self.is_present() || !other.is_present() {
            return Ok(None);
        }
        Ok(match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Time(_), _) | (_, Self::Time(_)) => Some(self.time()?.cmp(&other.time()?)),
            (Self::Bool(a), b) | (b, Self::Bool(a)) if !matches!(b, Self::Int(_)) => {
                let b = b.boolean()?;
                let order = Some(*a).cmp(&b);
                Some(if matches!(self, Self::Bool(_)) { order } else { order.reverse() })
            }
            _ => self.number()?.compare(other.number()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for n in [0, 1, -1, 1 << 40, -(1 << 40) + 7, i64::from(i32::MIN)] {
            assert_eq!(format!("{:.0}", float_of(n)), n.to_string());
        }
        assert_eq!(whole_of(-2.9), Some(-2));
        assert_eq!(whole_of(1e30), None);
        assert_eq!(whole_of(f64::NAN), None);
    }

    #[test]
    fn comparisons() {
        let text = |t: &str| Value::Text(t.to_owned());
        for (a, b, want) in [
            (text("9"), text("10"), Ok(Some(Ordering::Greater))),
            (text("9"), Value::Int(10), Ok(Some(Ordering::Less))),
            (Value::Int(10), text("9.5"), Ok(Some(Ordering::Greater))),
            (Value::Null, Value::Int(1), Ok(None)),
            (Value::Bool(true), text("TRUE"), Ok(Some(Ordering::Equal))),
            (text("false"), Value::Bool(true), Ok(Some(Ordering::Less))),
            (text("x"), Value::Int(1), Err(())),
        ] {
            assert_eq!(a.compare(&b).map_err(|_| ()), want, "{a:?} {b:?}");
        }
    }
}
