//! The XML body of Query Blob Contents: a statement, what the blob holds, what to answer in.
//!
//! Must never guess a format: one that is not served is refused by name.

use crate::refuse;
use zaffre_http::xml::{Event, Reader};
use zaffre_http::{ApiError, codes};
use zaffre_query::{CsvFormat, Input, Output, Select};

/// What to ask of a blob's content.
#[derive(Clone, Debug)]
pub struct Query {
    /// The statement.
    pub select: Select,
    /// What the blob holds.
    pub input: Input,
    /// What to answer in.
    pub output: Output,
}

/// One serialization as sent.
enum Format {
    Csv(CsvFormat),
    Json { record: Vec<u8> },
}

/// Reads the document.
pub fn parse(document: &[u8]) -> Result<Query, ApiError> {
    let mut xml = Reader::new(document)?;
    xml.root("QueryRequest")?;
    let (mut kind, mut expression, mut input, mut output) = (None, None, None, None);
    while let Some(name) = child(&mut xml)? {
        match name.as_str() {
            "QueryType" if kind.is_none() => kind = Some(xml.element_text()?),
            "Expression" if expression.is_none() => expression = Some(xml.element_text()?),
            "InputSerialization" if input.is_none() => input = Some(serialization(&mut xml)?),
            "OutputSerialization" if output.is_none() => output = Some(serialization(&mut xml)?),
            _ => return Err(unexpected(&xml, &name)),
        }
    }
    xml.finish()?;
    match kind.as_deref().map(str::trim) {
        Some(kind) if kind.eq_ignore_ascii_case("SQL") => {}
        Some(kind) => return Err(ApiError::invalid_xml_node("QueryType", kind)),
        None => return Err(xml.error("Element is missing: QueryType.")),
    }
    let expression = expression.ok_or_else(|| xml.error("Element is missing: Expression."))?;
    let select = zaffre_query::parse(&expression).map_err(|fault| refusal(&fault))?;
    let input = input.flatten().unwrap_or(Format::Csv(CsvFormat::default()));
    let (input, like_input) = match input {
        Format::Csv(format) => (Input::Csv(format.clone()), Output::Csv(format)),
        Format::Json { record } => (Input::Json, Output::Json { record }),
    };
    let output = match output.flatten() {
        None => like_input,
        Some(Format::Csv(format)) => Output::Csv(format),
        Some(Format::Json { record }) => Output::Json { record },
    };
    Ok(Query { select, input, output })
}

/// The answer to a statement that cannot be read or does not fit the data.
pub fn refusal(fault: &zaffre_query::Fault) -> ApiError {
    ApiError::from(codes::INVALID_INPUT).saying(fault.description.clone())
}

fn serialization(xml: &mut Reader<'_>) -> Result<Option<Format>, ApiError> {
    let mut found = None;
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "Format" if found.is_none() => found = Some(format(xml)?),
            _ => return Err(unexpected(xml, &name)),
        }
    }
    Ok(found)
}

fn format(xml: &mut Reader<'_>) -> Result<Format, ApiError> {
    let (mut kind, mut csv, mut record) = (None, CsvFormat::default(), b"\n".to_vec());
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "Type" if kind.is_none() => kind = Some(xml.element_text()?),
            "DelimitedTextConfiguration" => csv = delimited(xml)?,
            "JsonTextConfiguration" => {
                while let Some(name) = child(xml)? {
                    match name.as_str() {
                        "RecordSeparator" => {
                            let text = xml.element_text()?;
                            if !text.is_empty() {
                                record = text.into_bytes();
                            }
                        }
                        _ => return Err(unexpected(xml, &name)),
                    }
                }
            }
            "ArrowConfiguration" | "ParquetTextConfiguration" => xml.skip()?,
            _ => return Err(unexpected(xml, &name)),
        }
    }
    match kind.as_deref().map(str::trim).unwrap_or_default().to_ascii_lowercase().as_str() {
        "delimited" if csv.is_sound() => Ok(Format::Csv(csv)),
        "delimited" => Err(ApiError::invalid_xml_node("DelimitedTextConfiguration", "")),
        "json" => Ok(Format::Json { record }),
        "arrow" => Err(refuse::unserved("The format arrow")),
        "parquet" => Err(refuse::unserved("The format parquet")),
        other => Err(ApiError::invalid_xml_node("Type", other)),
    }
}

/// What is not sent has its default; an empty quote or escape is none.
fn delimited(xml: &mut Reader<'_>) -> Result<CsvFormat, ApiError> {
    let mut csv = CsvFormat::default();
    while let Some(name) = child(xml)? {
        let text = xml.element_text()?;
        match name.as_str() {
            "ColumnSeparator" if !text.is_empty() => csv.column = text.into_bytes(),
            "RecordSeparator" if !text.is_empty() => csv.record = text.into_bytes(),
            "ColumnSeparator" | "RecordSeparator" => {}
            "FieldQuote" => csv.quote = byte("FieldQuote", &text)?,
            "EscapeChar" => csv.escape = byte("EscapeChar", &text)?,
            "HasHeaders" | "HeadersPresent" => {
                csv.header = match text.trim() {
                    text if text.eq_ignore_ascii_case("true") => true,
                    text if text.eq_ignore_ascii_case("false") || text.is_empty() => false,
                    text => return Err(ApiError::invalid_xml_node("HasHeaders", text)),
                };
            }
            _ => return Err(unexpected(xml, &name)),
        }
    }
    Ok(csv)
}

fn byte(name: &str, text: &str) -> Result<Option<u8>, ApiError> {
    match text.as_bytes() {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        _ => Err(ApiError::invalid_xml_node(name, text)),
    }
}

/// The name of the next element inside the one entered last; `None` when that ends.
fn child(xml: &mut Reader<'_>) -> Result<Option<String>, ApiError> {
    match xml.next_tag()? {
        Event::Start(name) => Ok(Some(name)),
        Event::End => Ok(None),
        Event::Text(_) | Event::Eof => Err(xml.error("The document is not complete.")),
    }
}

fn unexpected(xml: &Reader<'_>, name: &str) -> ApiError {
    xml.error(format!("The element {name} is not expected here."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(input: &str, output: &str) -> String {
        let part = |name: &str, format: &str| match format {
            "" => String::new(),
            format => format!("<{name}><Format>{format}</Format></{name}>"),
        };
        format!(
            "<QueryRequest><QueryType>SQL</QueryType>\
             <Expression>SELECT * FROM BlobStorage</Expression>{}{}</QueryRequest>",
            part("InputSerialization", input),
            part("OutputSerialization", output)
        )
    }

    #[test]
    fn formats() {
        let csv = "<Type>delimited</Type><DelimitedTextConfiguration>\
            <ColumnSeparator>;</ColumnSeparator><FieldQuote>'</FieldQuote>\
            <RecordSeparator>\n</RecordSeparator><EscapeChar>\\</EscapeChar>\
            <HasHeaders>true</HasHeaders></DelimitedTextConfiguration>";
        let json = "<Type>json</Type><JsonTextConfiguration>\
            <RecordSeparator>|</RecordSeparator></JsonTextConfiguration>";
        let query = parse(document(csv, json).as_bytes()).expect("legal");
        let want = CsvFormat {
            column: b";".to_vec(),
            quote: Some(b'\''),
            record: b"\n".to_vec(),
            escape: Some(b'\\'),
            header: true,
        };
        assert_eq!(query.input, Input::Csv(want.clone()));
        assert_eq!(query.output, Output::Json { record: b"|".to_vec() });
        let query = parse(document(csv, "").as_bytes()).expect("legal");
        assert_eq!(query.output, Output::Csv(want), "as the input is");
        let query = parse(document("", "").as_bytes()).expect("legal");
        assert_eq!(query.input, Input::Csv(CsvFormat::default()));
        let query = parse(document("<Type>json</Type>", "").as_bytes()).expect("legal");
        assert_eq!(query.input, Input::Json);
    }

    #[test]
    fn refusals() {
        let sql = |text: &str| {
            format!(
                "<QueryRequest><QueryType>SQL</QueryType><Expression>{text}</Expression>\
                 </QueryRequest>"
            )
        };
        let same = "<Type>delimited</Type><DelimitedTextConfiguration>\
            <ColumnSeparator>\n</ColumnSeparator></DelimitedTextConfiguration>";
        for (document, want) in [
            (document("<Type>parquet</Type>", ""), "APINotImplemented"),
            (document("", "<Type>arrow</Type>"), "APINotImplemented"),
            (document("<Type>other</Type>", ""), "InvalidXmlNodeValue"),
            (document(same, ""), "InvalidXmlNodeValue"),
            (document("<Other/>", ""), "InvalidXmlDocument"),
            (sql("SELECT"), "InvalidInput"),
            ("<QueryRequest/>".to_owned(), "InvalidXmlDocument"),
            (sql("x").replace("SQL", "KQL"), "InvalidXmlNodeValue"),
            (String::new(), "InvalidXmlDocument"),
        ] {
            let got = parse(document.as_bytes()).map(|_| ()).map_err(|e| e.code);
            assert_eq!(got, Err(want), "{document}");
        }
    }
}
