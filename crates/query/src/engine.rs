//! A running query: pieces of a blob go in, frames of the answer come out.
//!
//! Must never hold more than one record, one frame of results and what an aggregate needs.

use crate::Fault;
use crate::aggregate::Running;
use crate::avro::Frames;
use crate::csv::{CsvFormat, Header};
use crate::dates::Moment;
use crate::evaluate::{Evaluator, Row};
use crate::json::Json;
use crate::limits::{FRAME_BYTES, PROGRESS_BYTES, REPORTED_FAULTS};
pub use crate::output::Output;
use crate::splitter::{Cut, Splitter};
use crate::sql::{Column, Expression, Items, Select, Step, TableStep};
use crate::value::Value;

/// What the blob holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Delimited text.
    Csv(CsvFormat),
    /// JSON documents, one after another.
    Json,
}

/// A query on its way.
#[expect(clippy::struct_excessive_bools, reason = "independent facts about what was sent")]
pub struct Engine {
    select: Select,
    input: Input,
    output: Output,
    frames: Frames,
    now: Moment,
    total: u64,
    splitter: Splitter,
    header: Option<Header>,
    /// The next record is the header.
    expects_header: bool,
    wrote_header: bool,
    aggregates: Vec<Running>,
    /// Results that are not framed yet.
    results: Vec<u8>,
    rows: u64,
    scanned: u64,
    reported: u64,
    faults: usize,
    split_from: u64,
    /// A record was sent.
    spoken: bool,
    done: bool,
}

impl Engine {
    /// A query over a blob of `total` bytes. `now` is what `UTCNOW` says, in microseconds since 1970.
    pub fn new(
        select: Select,
        input: Input,
        output: Output,
        total: u64,
        now: i64,
        frames: Frames,
    ) -> Result<Self, Fault> {
        let is_json = input == Input::Json;
        if !is_json && !select.from.is_empty() {
            return Err(Fault::syntax("Delimited text has no paths behind BlobStorage."));
        }
        if is_json && matches!(select.items, Items::Split(_)) {
            return Err(Fault::syntax("Only delimited text can be split."));
        }
        let (splitter, expects_header) = match &input {
            Input::Csv(format) => (Splitter::csv(format), format.header),
            Input::Json => (Splitter::json(), false),
        };
        let aggregates = match &select.items {
            Items::Aggregates(columns) => {
                columns.iter().map(|column| Running::new(column.aggregate)).collect()
            }
            _ => Vec::new(),
        };
        let done = select.limit == Some(0);
        let now = Moment::at(now);
        Ok(Self {
            select,
            input,
            output,
            frames,
            now,
            total,
            splitter,
            header: None,
            expects_header,
            wrote_header: false,
            aggregates,
            results: Vec::new(),
            rows: 0,
            scanned: 0,
            reported: 0,
            faults: 0,
            split_from: 0,
            spoken: false,
            done,
        })
    }

    /// Whether it needs no more of the blob.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Takes the next piece of the blob; appends the frames that are ready.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.done {
            return;
        }
        self.splitter.push(bytes);
        self.scanned += u64::try_from(bytes.len()).unwrap_or(0);
        self.work(false, out);
        if self.scanned - self.reported >= PROGRESS_BYTES {
            self.flush(out);
            self.reported = self.scanned;
            self.frames.progress(out, self.scanned, self.total);
        }
    }

    /// The blob is over, or no more of it is needed; appends the rest of the answer.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.work(true, out);
        self.done = true;
        match self.select.items {
            Items::Aggregates(_) => self.finish_aggregates(),
            Items::Split(_) => self.split_here(self.splitter.next_position()),
            _ => {}
        }
        self.flush(out);
        self.frames.progress(out, self.scanned, self.total);
        self.frames.end(out, self.total);
    }

    /// The bytes could not be read: says so as the last thing.
    pub fn fail(&mut self, out: &mut Vec<u8>, fault: &Fault) {
        self.done = true;
        self.fault(out, true, fault, self.scanned);
    }

    fn work(&mut self, ended: bool, out: &mut Vec<u8>) {
        while !self.done {
            match self.splitter.next(ended) {
                Ok(Some(cut)) => self.record(&cut, out),
                Ok(None) => return,
                Err(fault) => {
                    self.fault(out, true, &fault, self.splitter.next_position());
                    self.done = true;
                }
            }
            if self.results.len() >= FRAME_BYTES {
                self.flush(out);
            }
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if !self.results.is_empty() {
            self.frames.data(out, &self.results);
            self.results.clear();
            self.spoken = true;
        }
    }

    /// Reports a fault behind the results so far. It is never the first record of an answer: there
    /// are clients that look at the first one before they can handle a fault.
    fn fault(&mut self, out: &mut Vec<u8>, fatal: bool, fault: &Fault, position: u64) {
        self.flush(out);
        if !std::mem::replace(&mut self.spoken, true) {
            self.frames.progress(out, 0, self.total);
        }
        self.frames.fault(out, fatal, fault, position);
    }

    fn record(&mut self, cut: &Cut, out: &mut Vec<u8>) {
        let position = self.splitter.position(cut);
        let bytes = self.splitter.bytes(cut);
        let is_csv = matches!(self.input, Input::Csv(_));
        let blank = if is_csv { bytes.is_empty() } else { bytes.trim_ascii().is_empty() };
        if let Items::Split(size) = self.select.items {
            let here = self.splitter.next_position();
            if here - self.split_from >= size {
                self.split_here(here);
            }
            return;
        }
        if blank {
            return;
        }
        let done = match &self.input {
            Input::Csv(format) => {
                let fields = format.fields(bytes);
                if std::mem::take(&mut self.expects_header) {
                    self.header = Some(Header::new(&fields));
                    return;
                }
                let header = self.header.take();
                let row = Row::Csv { fields: &fields, header: header.as_ref() };
                let done = self.row(row);
                self.header = header;
                done
            }
            Input::Json => match Json::parse(bytes) {
                Ok(json) => self.document(&json),
                Err(fault) => {
                    self.fault(out, true, &fault, position);
                    self.done = true;
                    return;
                }
            },
        };
        if let Err(fault) = done {
            self.faults += 1;
            if self.faults <= REPORTED_FAULTS {
                self.fault(out, false, &fault, position);
            }
        }
    }

    /// Every row that the table descriptor finds in a document.
    fn document(&mut self, json: &Json) -> Result<(), Fault> {
        let from = self.select.from.clone();
        let mut rows = vec![json];
        for step in &from {
            rows = rows.into_iter().flat_map(|row| follow(row, step)).collect();
        }
        rows.into_iter().try_for_each(|row| self.row(Row::Json(row)))
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        if self.done {
            return Ok(());
        }
        let evaluator = Evaluator { row, now: self.now };
        if let Some(filter) = &self.select.filter
            && !evaluator.passes(filter)?
        {
            return Ok(());
        }
        match &self.select.items {
            Items::All => {
                if !std::mem::replace(&mut self.wrote_header, true)
                    && let Row::Csv { header: Some(header), .. } = row
                {
                    self.output.header(&mut self.results, header.names());
                }
                self.output.row(&mut self.results, row);
            }
            Items::Columns(columns) => {
                let values = columns.iter().map(|column| evaluator.value(&column.expression));
                let values = values.collect::<Result<Vec<_>, _>>()?;
                let names = columns.iter().enumerate().map(|(at, column)| name_of(column, at));
                let record: Vec<(String, Value)> = names.zip(values).collect();
                if !std::mem::replace(&mut self.wrote_header, true) {
                    let names = record.iter().map(|(name, _)| name.as_str());
                    self.output.header(&mut self.results, names);
                }
                self.output.values(&mut self.results, record);
            }
            Items::Aggregates(columns) => {
                let values = columns.iter().map(|column| match &column.of {
                    Some(of) => evaluator.value(of).map(Some),
                    None => Ok(None),
                });
                let values = values.collect::<Result<Vec<_>, _>>()?;
                for (running, value) in self.aggregates.iter_mut().zip(values) {
                    match value {
                        Some(value) => running.add(value)?,
                        None => running.count(),
                    }
                }
                return Ok(());
            }
            Items::Split(_) => return Ok(()),
        }
        self.rows += 1;
        self.done = self.select.limit.is_some_and(|limit| self.rows >= limit);
        Ok(())
    }

    fn finish_aggregates(&mut self) {
        let Items::Aggregates(columns) = &self.select.items else { return };
        if self.select.limit == Some(0) {
            return;
        }
        let names = columns
            .iter()
            .enumerate()
            .map(|(at, column)| column.name.clone().unwrap_or_else(|| format!("_{}", at + 1)));
        let values = std::mem::take(&mut self.aggregates).into_iter().map(Running::finish);
        let record: Vec<(String, Value)> = names.zip(values).collect();
        self.output.header(&mut self.results, record.iter().map(|(name, _)| name.as_str()));
        self.output.values(&mut self.results, record);
    }

    fn split_here(&mut self, here: u64) {
        let size = here - self.split_from;
        if size > 0 {
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            self.output.values(&mut self.results, vec![("_1".to_owned(), Value::Int(size))]);
        }
        self.split_from = here;
    }
}

fn follow<'a>(row: &'a Json, step: &TableStep) -> Vec<&'a Json> {
    match (step, row) {
        (TableStep::Member { name, exact }, row) => row.get(name, *exact).into_iter().collect(),
        (TableStep::Index(at), Json::Array(items)) => items.get(*at).into_iter().collect(),
        (TableStep::Each, Json::Array(items)) => items.iter().collect(),
        (TableStep::Each | TableStep::Index(_), _) => Vec::new(),
    }
}

/// The alias, the last name of a field, or the column's number.
fn name_of(column: &Column, at: usize) -> String {
    if let Some(name) = &column.name {
        return name.clone();
    }
    if let Expression::Field(path) = &column.expression
        && let Some(Step::Member { name, .. }) = path.last()
    {
        return name.clone();
    }
    format!("_{}", at + 1)
}
