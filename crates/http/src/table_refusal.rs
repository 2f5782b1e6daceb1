//! What the Table service refuses, as the client is told: one row per refusal.
//!
//! Must never decide anything, as in `refusal`.

use crate::codes::{self, Code};
use crate::error::ApiError;
use crate::table_codes;
use zaffre_domain::table::TableRefusal as T;
use zaffre_domain::table::filter::FilterError;

/// The code of a refusal.
pub(crate) fn code(refusal: &T) -> Code {
    match refusal {
        T::TableNotFound => table_codes::TABLE_NOT_FOUND,
        T::NoSuchTable | T::EntityNotFound => codes::RESOURCE_NOT_FOUND,
        T::TableAlreadyExists => table_codes::TABLE_ALREADY_EXISTS,
        T::TableBeingDeleted => table_codes::TABLE_BEING_DELETED,
        T::BatchTooLarge => codes::REQUEST_BODY_TOO_LARGE,
        T::EntityAlreadyExists => table_codes::ENTITY_ALREADY_EXISTS,
        T::UpdateConditionNotSatisfied => table_codes::UPDATE_CONDITION_NOT_SATISFIED,
        T::EntityTooLarge => table_codes::ENTITY_TOO_LARGE,
        T::TooManyProperties => table_codes::TOO_MANY_PROPERTIES,
        T::PropertyNameTooLong => table_codes::PROPERTY_NAME_TOO_LONG,
        T::PropertyNameInvalid { .. } => table_codes::PROPERTY_NAME_INVALID,
        T::PropertyValueTooLarge => table_codes::PROPERTY_VALUE_TOO_LARGE,
        T::DuplicateProperty => table_codes::DUPLICATE_PROPERTIES_SPECIFIED,
        T::OutOfRange { .. } => codes::OUT_OF_RANGE_INPUT,
        T::KeyTooLarge => table_codes::KEY_VALUE_TOO_LARGE,
        T::KeyMissing => table_codes::PROPERTIES_NEED_VALUE,
        T::KeyNotText { .. } => table_codes::PRIMARY_KEY_PROPERTY_IS_INVALID_TYPE,
        T::DifferentPartitions => table_codes::COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS,
        T::DuplicateRow => table_codes::INVALID_DUPLICATE_ROW,
        T::Filter(FilterError::NotImplemented) => table_codes::NOT_IMPLEMENTED,
        T::ReservedName
        | T::InvalidValue
        | T::KeysDiffer
        | T::TooManyOperations
        | T::InvalidToken
        | T::Filter(_) => codes::INVALID_INPUT,
    }
}

/// The same error with what only this refusal has to say.
pub(crate) fn describe(error: ApiError, refusal: &T) -> ApiError {
    match refusal {
        T::OutOfRange { name, value } => {
            error.saying(format!("The '{name}' parameter of value '{value}' is out of range."))
        }
        T::PropertyNameInvalid { name } => {
            error.saying(format!("The property name '{name}' is invalid."))
        }
        T::InvalidValue => error.saying("An error occurred while processing this request."),
        T::TooManyOperations => error
            .saying("The batch request operation exceeds the maximum 100 changes per change set."),
        T::Filter(FilterError::Syntax { position, text }) => {
            error.saying(format!("Syntax error at position {position} in '{text}'."))
        }
        T::Filter(FilterError::Incompatible { left, right, operator }) => error.saying(format!(
            "A binary operator with incompatible types was detected. Found operand types \
                 '{left}' and '{right}' for operator kind '{operator}'."
        )),
        T::Filter(FilterError::TooDeep) => error.saying("The filter is nested too deeply."),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_domain::Refusal;
    use zaffre_domain::table::filter::parse;

    fn shown(refusal: T) -> (u16, &'static str, String) {
        let error = ApiError::from(Refusal::Table(refusal));
        (error.status.as_u16(), error.code, error.message)
    }

    #[test]
    fn rows() {
        let range = T::OutOfRange { name: "RowKey".to_owned(), value: "a/b".to_owned() };
        let filter = |text: &str| T::Filter(parse(text).expect_err("a bad filter"));
        for (refusal, status, code, message) in [
            (T::EntityNotFound, 404, "ResourceNotFound", "The specified resource does not exist."),
            (T::TableNotFound, 404, "TableNotFound", "The table specified does not exist."),
            (
                T::UpdateConditionNotSatisfied,
                412,
                "UpdateConditionNotSatisfied",
                "The update condition specified in the request was not satisfied.",
            ),
            (
                range,
                400,
                "OutOfRangeInput",
                "The 'RowKey' parameter of value 'a/b' is out of range.",
            ),
            (
                filter("aaa bbb ccc"),
                400,
                "InvalidInput",
                "Syntax error at position 7 in 'aaa bbb ccc'.",
            ),
            (
                filter("length(a) eq 1"),
                501,
                "NotImplemented",
                "The requested operation is not implemented on the specified resource.",
            ),
        ] {
            assert_eq!(shown(refusal), (status, code, message.to_owned()));
        }
    }
}
