//! Whether an entity passes a filter.

use super::super::Value;
use super::{Expression, Operator};
use core::cmp::Ordering;

/// Where the properties of one entity are found, system properties included.
pub trait Lookup {
    /// Whether `operator` holds between the property and `value`; `None` if it is not there.
    fn compare(&self, property: &str, operator: Operator, value: &Value) -> Option<bool>;

    /// Whether the property is the Boolean true.
    fn is_true(&self, property: &str) -> bool;
}

/// Whether what `entity` holds passes. A comparison with a property that is not there is false.
pub fn matches(expression: &Expression, entity: &impl Lookup) -> bool {
    match expression {
        Expression::Or(all) => all.iter().any(|one| matches(one, entity)),
        Expression::And(all) => all.iter().all(|one| matches(one, entity)),
        Expression::Not(inner) => !matches(inner, entity),
        Expression::Compare { property, operator, value } => {
            entity.compare(property, *operator, value).unwrap_or(false)
        }
        Expression::Property(name) => entity.is_true(name),
        Expression::Constant(value) => *value,
    }
}

impl Value {
    /// Whether `operator` holds between this value of a property and a constant. An integer
    /// constant is widened to the property's type; values of other different types are unequal,
    /// and the property counts as the smaller.
    pub fn compares(&self, operator: Operator, constant: &Value) -> bool {
        let order = match (self, constant) {
            (Self::String(a), Self::String(b)) => return text_compares(a, operator, b),
            (Self::Int32(a), Self::Int32(b)) => a.cmp(b),
            (Self::Int64(a), Self::Int64(b)) => a.cmp(b),
            (Self::Int64(a), Self::Int32(b)) => a.cmp(&i64::from(*b)),
            (Self::Double(a), Self::Double(b)) => return numbers(*a, operator, *b),
            (Self::Double(a), Self::Int32(b)) => return numbers(*a, operator, f64::from(*b)),
            (Self::Double(a), Self::Int64(b)) => return numbers(*a, operator, to_double(*b)),
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::DateTime(a), Self::DateTime(b)) => a.cmp(b),
            (Self::Guid(a), Self::Guid(b)) => a.cmp(b),
            (Self::Binary(a), Self::Binary(b)) => a.cmp(b),
            _ => Ordering::Less,
        };
        operator.holds(order)
    }
}

/// Whether `operator` holds between a text and a constant: by UTF-16 units, as keys are ordered.
pub(super) fn text_compares(text: &str, operator: Operator, constant: &str) -> bool {
    operator.holds(text.encode_utf16().cmp(constant.encode_utf16()))
}

/// NaN is unequal to everything and neither smaller nor greater.
fn numbers(a: f64, operator: Operator, b: f64) -> bool {
    match a.partial_cmp(&b) {
        Some(order) => operator.holds(order),
        None => operator == Operator::Ne,
    }
}

/// The nearest floating point number.
fn to_double(value: i64) -> f64 {
    let high = i32::try_from(value >> 32).unwrap_or_default();
    let low = u32::try_from(value & 0xFFFF_FFFF).unwrap_or_default();
    // The first product is exact, so that only the sum rounds.
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use zaffre_base::{Guid, Timestamp};

    fn text(t: &str) -> Value {
        Value::String(t.to_string())
    }

    /// Which of eq ne gt ge lt le hold.
    fn row(a: &Value, b: &Value) -> String {
        let holding = Operator::ALL.into_iter().filter(|operator| a.compares(*operator, b));
        holding.map(Operator::name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comparisons() {
        const EQUAL: &str = "eq ge le";
        const LESS: &str = "ne lt le";
        const GREATER: &str = "ne gt ge";
        for (a, b, want) in [
            (text("a"), text("a"), EQUAL),
            (text("B"), text("a"), LESS),
            (text("\u{10000}"), text("\u{FFFD}"), LESS),
            (Value::Int32(2), Value::Int32(1), GREATER),
            (Value::Int64(2), Value::Int32(2), EQUAL),
            (Value::Int64(2), Value::Int64(2), EQUAL),
            (Value::Int64(3), Value::Int64(2), GREATER),
            (Value::Int64(i64::MAX), Value::Int32(2), GREATER),
            (Value::Double(2.0), Value::Int32(2), EQUAL),
            (Value::Double(2.5), Value::Int64(2), GREATER),
            (Value::Int32(5), Value::Int64(1), LESS),
            (Value::Int32(5), Value::Double(1.0), LESS),
            (Value::Int64(5), Value::Double(1.0), LESS),
            (text("5"), Value::Int32(5), LESS),
            (Value::Int32(5), text("1"), LESS),
            (Value::Boolean(true), Value::Boolean(false), GREATER),
            (Value::DateTime(Timestamp(5)), Value::DateTime(Timestamp(6)), LESS),
            (Value::Guid(Guid(1 << 127)), Value::Guid(Guid(1)), GREATER),
            (Value::Binary(Vec::from([1])), Value::Binary(Vec::from([1, 0])), LESS),
            (Value::Binary(Vec::from([2])), Value::Binary(Vec::from([1, 0])), GREATER),
            (Value::Binary(Vec::from([2])), Value::Binary(Vec::from([2])), EQUAL),
            (Value::Double(f64::NAN), Value::Double(f64::NAN), "ne"),
        ] {
            assert_eq!(row(&a, &b), want, "{a:?} {b:?}");
        }
    }

    #[test]
    fn integers_become_the_nearest_double() {
        for (value, want) in [
            (0, 0.0),
            (-1, -1.0),
            (i64::MAX, 9_223_372_036_854_775_807.0),
            (i64::MIN, -9_223_372_036_854_775_808.0),
            ((1 << 53) + 1, 9_007_199_254_740_992.0),
            (-(1 << 32) - 5, -4_294_967_301.0),
        ] {
            assert!((to_double(value) - want).abs() < f64::EPSILON, "{value}");
        }
    }
}
