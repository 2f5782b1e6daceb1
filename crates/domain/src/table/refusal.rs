//! Why the Table service refuses, named after what the caller can do about it.

use super::filter::FilterError;
use alloc::string::String;

/// A refusal of the Table service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableRefusal {
    /// An operation inside a table that does not exist.
    TableNotFound,
    /// The table that was asked for by name does not exist.
    NoSuchTable,
    /// The table exists already.
    TableAlreadyExists,
    /// The table is being deleted.
    TableBeingDeleted,
    /// The name is one that the service keeps for itself.
    ReservedName,
    /// The entity exists already.
    EntityAlreadyExists,
    /// The entity does not exist.
    EntityNotFound,
    /// The entity has changed since the caller read it.
    UpdateConditionNotSatisfied,

    /// More than 1 MiB of names and values.
    EntityTooLarge,
    /// More than 252 properties.
    TooManyProperties,
    /// A name of more than 255 characters.
    PropertyNameTooLong,
    /// A name that is no identifier.
    PropertyNameInvalid {
        /// The name.
        name: String,
    },
    /// A value of more than 64 KiB.
    PropertyValueTooLarge,
    /// A property is given twice.
    DuplicateProperty,
    /// A value that is not of its type, or a type that does not exist.
    InvalidValue,
    /// A value outside what its type can hold.
    OutOfRange {
        /// The property.
        name: String,
        /// What was sent.
        value: String,
    },
    /// A key of more than 512 UTF-16 units.
    KeyTooLarge,
    /// A key is missing.
    KeyMissing,
    /// A key that is not a string.
    KeyNotText {
        /// `PartitionKey` or `RowKey`.
        name: &'static str,
    },
    /// The keys in the body are not those of the URL.
    KeysDiffer,

    /// A batch of more than 100 operations.
    TooManyOperations,
    /// A batch whose entities are too much for one commit.
    BatchTooLarge,
    /// A batch that touches more than one partition or table.
    DifferentPartitions,
    /// A batch that names an entity twice.
    DuplicateRow,

    /// The filter makes no sense.
    Filter(FilterError),
    /// A continuation token that we did not make.
    InvalidToken,
}

impl From<FilterError> for TableRefusal {
    fn from(error: FilterError) -> Self {
        Self::Filter(error)
    }
}
