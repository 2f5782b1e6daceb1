//! The rules of the Table service: values, entities, keys, ETags, filters, batches.
//!
//! Must never know JSON, HTTP or the store: text forms here are those of single values.

pub mod batch;
pub mod entity;
pub mod etag;
pub mod filter;
pub mod key;
pub mod plan;
pub mod refusal;
pub mod token;
pub mod value;
pub mod view;
pub mod write;

pub use entity::Properties;
pub use etag::IfMatch;
pub use key::EntityKey;
pub use refusal::TableRefusal;
pub use value::{EdmType, Value};
pub use view::Entity;
pub use write::Write;
