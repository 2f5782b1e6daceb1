//! The closed list of what the Table service can be asked.
//!
//! Must never have a default arm: a new operation does not compile until every match handles it.

use zaffre_auth::action::Action;

/// Which operation a request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Kind {
    /// Get Service Properties
    GetServiceProperties,
    /// Set Service Properties
    SetServiceProperties,
    /// Get Service Stats
    GetServiceStats,
    /// Query Tables, also for one table by name
    QueryTables,
    /// Create Table
    CreateTable,
    /// Delete Table
    DeleteTable,
    /// Get Table ACL
    GetTableAcl,
    /// Set Table ACL
    SetTableAcl,
    /// Query Entities
    QueryEntities,
    /// Get one entity
    GetEntity,
    /// Insert Entity
    InsertEntity,
    /// Update Entity, with If-Match
    UpdateEntity,
    /// Merge Entity, with If-Match
    MergeEntity,
    /// Insert Or Replace Entity
    InsertOrReplaceEntity,
    /// Insert Or Merge Entity
    InsertOrMergeEntity,
    /// Delete Entity
    DeleteEntity,
    /// An entity group transaction
    Batch,
}

impl Kind {
    /// Its name, for the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::GetServiceProperties => "GetServiceProperties",
            Self::SetServiceProperties => "SetServiceProperties",
            Self::GetServiceStats => "GetServiceStats",
            Self::QueryTables => "QueryTables",
            Self::CreateTable => "CreateTable",
            Self::DeleteTable => "DeleteTable",
            Self::GetTableAcl => "GetTableAcl",
            Self::SetTableAcl => "SetTableAcl",
            Self::QueryEntities => "QueryEntities",
            Self::GetEntity => "GetEntity",
            Self::InsertEntity => "InsertEntity",
            Self::UpdateEntity => "UpdateEntity",
            Self::MergeEntity => "MergeEntity",
            Self::InsertOrReplaceEntity => "InsertOrReplaceEntity",
            Self::InsertOrMergeEntity => "InsertOrMergeEntity",
            Self::DeleteEntity => "DeleteEntity",
            Self::Batch => "EntityGroupTransaction",
        }
    }

    /// The row of the permission table; `None` where only the body tells what is touched: each
    /// entity is permitted on its own once it is known.
    pub fn action(self) -> Option<Action> {
        Some(match self {
            Self::GetServiceProperties => Action::GetServiceProperties,
            Self::SetServiceProperties => Action::SetServiceProperties,
            Self::GetServiceStats => Action::GetServiceStats,
            Self::QueryTables => Action::QueryTables,
            Self::CreateTable | Self::InsertEntity | Self::Batch => return None,
            Self::DeleteTable => Action::DeleteTable,
            Self::GetTableAcl => Action::GetTableAcl,
            Self::SetTableAcl => Action::SetTableAcl,
            Self::QueryEntities => Action::QueryEntities,
            Self::GetEntity => Action::GetEntity,
            Self::UpdateEntity => Action::UpdateEntity,
            Self::MergeEntity => Action::MergeEntity,
            Self::InsertOrReplaceEntity => Action::InsertOrReplaceEntity,
            Self::InsertOrMergeEntity => Action::InsertOrMergeEntity,
            Self::DeleteEntity => Action::DeleteEntity,
        })
    }

    /// Whether its errors are XML, because its bodies are.
    pub fn speaks_xml(self) -> bool {
        matches!(
            self,
            Self::GetServiceProperties
                | Self::SetServiceProperties
                | Self::GetServiceStats
                | Self::GetTableAcl
                | Self::SetTableAcl
        )
    }
}
