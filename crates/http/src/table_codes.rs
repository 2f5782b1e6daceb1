//! The error codes that only the Table service sends.
//!
//! Data only, as in `codes`. The texts of KeyValueTooLarge, PropertyNameInvalid,
//! PrimaryKeyPropertyIsInvalidType and the XMethod codes are our own because Azure's are not known.

use crate::codes::Code;
use hyper::StatusCode;

macro_rules! codes {
    ($($constant:ident = $status:ident $name:literal: $message:literal)+) => {
        $(
            #[doc = concat!($name, ": ", $message)]
            pub const $constant: Code =
                Code { status: StatusCode::$status, name: $name, message: $message };
        )+

        /// All of them.
        pub const ALL: &[Code] = &[$($constant),+];
    };
}

codes! {
    ATOM_FORMAT_NOT_SUPPORTED = UNSUPPORTED_MEDIA_TYPE "AtomFormatNotSupported":
        "Atom format is not supported."
    COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS = BAD_REQUEST
        "CommandsInBatchActOnDifferentPartitions":
        "All commands in a batch must operate on same entity group."
    DUPLICATE_PROPERTIES_SPECIFIED = BAD_REQUEST "DuplicatePropertiesSpecified":
        "A property is specified more than one time."
    ENTITY_ALREADY_EXISTS = CONFLICT "EntityAlreadyExists":
        "The specified entity already exists."
    ENTITY_TOO_LARGE = BAD_REQUEST "EntityTooLarge":
        "The entity is larger than the maximum allowed size (1MB)."
    INVALID_DUPLICATE_ROW = BAD_REQUEST "InvalidDuplicateRow":
        "The batch request contains multiple changes with same row key. An entity can appear only \
         once in a batch request."
    JSON_VERBOSE_FORMAT_NOT_SUPPORTED = UNSUPPORTED_MEDIA_TYPE "JsonVerboseFormatNotSupported":
        "JSON Verbose format is not supported."
    KEY_VALUE_TOO_LARGE = BAD_REQUEST "KeyValueTooLarge":
        "The key is larger than the maximum allowed size (1KB)."
    MEDIA_TYPE_NOT_SUPPORTED = UNSUPPORTED_MEDIA_TYPE "MediaTypeNotSupported":
        "None of the provided media types are supported"
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED "MethodNotAllowed":
        "The requested method is not allowed on the specified resource."
    NOT_IMPLEMENTED = NOT_IMPLEMENTED "NotImplemented":
        "The requested operation is not implemented on the specified resource."
    PRIMARY_KEY_PROPERTY_IS_INVALID_TYPE = BAD_REQUEST "PrimaryKeyPropertyIsInvalidType":
        "The values of PartitionKey and RowKey must be strings."
    PROPERTIES_NEED_VALUE = BAD_REQUEST "PropertiesNeedValue":
        "The values are not specified for all properties in the entity."
    PROPERTY_NAME_INVALID = BAD_REQUEST "PropertyNameInvalid":
        "The property name is invalid."
    PROPERTY_NAME_TOO_LONG = BAD_REQUEST "PropertyNameTooLong":
        "The property name exceeds the maximum allowed length (255)."
    PROPERTY_VALUE_TOO_LARGE = BAD_REQUEST "PropertyValueTooLarge":
        "The property value exceeds the maximum allowed size (64KB). If the property value is a \
         string, it is UTF-16 encoded and the maximum number of characters should be 32K or less."
    TABLE_ALREADY_EXISTS = CONFLICT "TableAlreadyExists":
        "The table specified already exists."
    TABLE_BEING_DELETED = CONFLICT "TableBeingDeleted":
        "The specified table is being deleted. Try operation later."
    TABLE_NOT_FOUND = NOT_FOUND "TableNotFound":
        "The table specified does not exist."
    TOO_MANY_PROPERTIES = BAD_REQUEST "TooManyProperties":
        "The entity contains more properties than allowed. Each entity can include up to 252 \
         properties to store data. Each entity also has 3 system properties."
    UPDATE_CONDITION_NOT_SATISFIED = PRECONDITION_FAILED "UpdateConditionNotSatisfied":
        "The update condition specified in the request was not satisfied."
    X_METHOD_INCORRECT_COUNT = BAD_REQUEST "XMethodIncorrectCount":
        "The X-HTTP-Method header is specified more than once."
    X_METHOD_INCORRECT_VALUE = BAD_REQUEST "XMethodIncorrectValue":
        "The value of the X-HTTP-Method header is not valid."
    X_METHOD_NOT_USING_POST = BAD_REQUEST "XMethodNotUsingPost":
        "The X-HTTP-Method header can be used with POST only."
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_not_those_of_all_services() {
        let shared = crate::codes::ALL.iter().map(|code| code.name);
        let names: BTreeSet<_> = ALL.iter().map(|code| code.name).chain(shared).collect();
        assert_eq!(names.len(), ALL.len() + crate::codes::ALL.len());
        assert!(ALL.iter().all(|code| !code.message.is_empty() && code.message.is_ascii()));
    }
}
