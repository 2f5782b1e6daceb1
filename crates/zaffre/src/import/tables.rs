//! Tables with their entities, each property with its type.
//!
//! Must never guess a type: what Azurite wrote beside a value decides.

use super::loki::{Database, text};
use super::send::{Body, Call};
use super::{Mover, policies};
use hyper::Method;
use serde_json::{Map, Value, json};
use zaffre_auth::Service::Table;
use zaffre_base::{AccountName, Guid, base64};

const TYPE: &str = "@odata.type";

/// Moves everything of the Table service.
pub(super) async fn run(mover: &mut Mover, database: &Database) {
    for row in database.rows("$TABLES_COLLECTION$") {
        let (account, name) = match (super::account(row, "account"), text(row, "table")) {
            (Ok(account), Some(name)) => (account, name),
            (Err(said), _) => return mover.done("tables", Err(said)),
            _ => return mover.done("tables", Err("a table has no name".to_owned())),
        };
        let outcome = table(mover, row, &account, name).await;
        mover.done("tables", outcome);
        for entity in database.rows(&format!("{account}${name}")) {
            let body = Body::Text(document(entity).to_string());
            let call = Call::new(Table, Method::POST, &account, name)
                .header("accept", "application/json;odata=nometadata")
                .header("prefer", "return-no-content");
            let outcome = mover.send(call.body(body)).await;
            let key = || [text(entity, "PartitionKey"), text(entity, "RowKey")];
            mover.done("entities", outcome.map_err(|said| format!("{said} {:?}", key())));
        }
    }
}

/// How many rows [`run`] will report.
pub(super) fn count(database: &Database) -> u64 {
    let tables = database.rows("$TABLES_COLLECTION$");
    let inside = tables.iter().map(|row| {
        let (account, name) = (text(row, "account"), text(row, "table"));
        let name = format!("{}${}", account.unwrap_or_default(), name.unwrap_or_default());
        database.rows(&name).len() + 1
    });
    u64::try_from(inside.sum::<usize>()).unwrap_or(u64::MAX)
}

async fn table(
    mover: &Mover,
    row: &Value,
    account: &AccountName,
    name: &str,
) -> Result<(), String> {
    let create = Call::new(Table, Method::POST, account, "Tables")
        .header("accept", "application/json;odata=nometadata")
        .header("prefer", "return-no-content");
    let body = json!({ "TableName": name }).to_string();
    mover.send(create.body(Body::Text(body))).await?;
    match policies(row.get("tableAcl")) {
        None => Ok(()),
        Some(document) => {
            let acl = Call::new(Table, Method::PUT, account, name).query("comp", "acl");
            mover.send(acl.body(Body::Text(document))).await
        }
    }
}

/// The entity as clients write it.
fn document(row: &Value) -> Value {
    let mut fields = Map::new();
    let stored = row.get("properties").and_then(Value::as_object);
    for (name, value) in stored.into_iter().flatten() {
        let plain = name.strip_suffix(TYPE).unwrap_or(name);
        if plain == "Timestamp" || plain.starts_with("odata.") || value.is_null() {
            continue;
        }
        let kind = stored.and_then(|all| all.get(&format!("{name}{TYPE}"))?.as_str());
        fields.insert(name.clone(), plain_value(value, kind));
    }
    for key in ["PartitionKey", "RowKey"] {
        fields.insert(key.to_owned(), row.get(key).cloned().unwrap_or_default());
    }
    Value::Object(fields)
}

/// Azurite keeps a GUID as the Base64 of its text.
fn plain_value(value: &Value, kind: Option<&str>) -> Value {
    let Some(text) = value.as_str().filter(|_| kind == Some("Edm.Guid")) else {
        return value.clone();
    };
    if Guid::parse(text).is_some() {
        return value.clone();
    }
    let read = base64::decode(text).and_then(|bytes| String::from_utf8(bytes).ok());
    read.filter(|text| Guid::parse(text).is_some()).map_or_else(|| value.clone(), Value::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities() {
        let row = json!({
            "PartitionKey": "p", "RowKey": "",
            "properties": {
                "PartitionKey": "p", "RowKey": "",
                "L": "5", "L@odata.type": "Edm.Int64", "Nothing": null,
                "G": "MDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDA5", "G@odata.type": "Edm.Guid",
                "Timestamp": "2026", "Timestamp@odata.type": "Edm.DateTime",
            },
        });
        assert_eq!(
            document(&row),
            json!({
                "PartitionKey": "p", "RowKey": "", "L": "5", "L@odata.type": "Edm.Int64",
                "G": "00000000-0000-0000-0000-000000000009", "G@odata.type": "Edm.Guid",
            })
        );
    }
}
