//! Tables as JSON, at each of the three levels.

use crate::format::Level;
use crate::json::Object;
use zaffre_base::TableName;

/// One table on its own.
pub(crate) fn one(table: &TableName, base: &str, account: &str, level: Level) -> String {
    let mut object = Object::default();
    if level != Level::No {
        object.text("odata.metadata", &format!("{base}/$metadata#Tables/@Element"));
    }
    write(&mut object, table, base, account, level);
    object.finish()
}

/// A page of tables.
pub(crate) fn list(tables: &[TableName], base: &str, account: &str, level: Level) -> String {
    let one = |table: &TableName| {
        let mut object = Object::default();
        write(&mut object, table, base, account, level);
        object.finish()
    };
    let items: Vec<String> = tables.iter().map(one).collect();
    let mut whole = Object::default();
    if level != Level::No {
        whole.text("odata.metadata", &format!("{base}/$metadata#Tables"));
    }
    whole.raw("value", &format!("[{}]", items.join(",")));
    whole.finish()
}

fn write(object: &mut Object, table: &TableName, base: &str, account: &str, level: Level) {
    if level == Level::Full {
        object.text("odata.type", &format!("{account}.Tables"));
        object.text("odata.id", &format!("{base}/Tables('{table}')"));
        object.text("odata.editLink", &format!("Tables('{table}')"));
    }
    object.text("TableName", table.as_str());
}
