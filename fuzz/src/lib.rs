//! Fuzz targets as plain functions: they take any bytes, and panic only where the code is wrong.
//!
//! Must never accept a target that checks nothing: each states what must hold for every input.

pub mod access_policies;
pub mod address;
pub mod block_list;
pub mod canonical_string;
pub mod file_service;
mod head;
pub mod multipart;
pub mod mutate;
pub mod query_csv;
pub mod query_sql;
pub mod request_head;
pub mod sas_token;
pub mod security_descriptor;
pub mod small_syntax;
pub mod smb_login;
pub mod smb_message;
pub mod smb_pipe;
pub mod source_url;
pub mod stored_bytes;
pub mod structured_body;
pub mod table_batch;
pub mod table_entity;
pub mod table_filter;
pub mod tag_expression;
pub mod xml_text;

use std::process::ExitCode;

/// A target: panics if the input shows a fault.
pub type Target = fn(&[u8]);

/// All of them by name; the names are those of the files in `fuzz_targets` and `corpus`.
pub const TARGETS: &[(&str, Target)] = &[
    ("access_policies", access_policies::run),
    ("address", address::run),
    ("block_list", block_list::run),
    ("canonical_string", canonical_string::run),
    ("file_service", file_service::run),
    ("multipart", multipart::run),
    ("query_csv", query_csv::run),
    ("query_sql", query_sql::run),
    ("request_head", request_head::run),
    ("sas_token", sas_token::run),
    ("security_descriptor", security_descriptor::run),
    ("small_syntax", small_syntax::run),
    ("smb_login", smb_login::run),
    ("smb_message", smb_message::run),
    ("smb_pipe", smb_pipe::run),
    ("source_url", source_url::run),
    ("stored_bytes", stored_bytes::run),
    ("structured_body", structured_body::run),
    ("table_batch", table_batch::run),
    ("table_entity", table_entity::run),
    ("table_filter", table_filter::run),
    ("tag_expression", tag_expression::run),
    ("xml_text", xml_text::run),
];

/// Runs a target on the files named on the command line.
#[must_use]
pub fn replay(target: Target) -> ExitCode {
    let names: Vec<_> = std::env::args_os().skip(1).collect();
    if names.is_empty() {
        eprintln!("name the files to replay; `cargo +nightly fuzz run` looks for new inputs");
        return ExitCode::FAILURE;
    }
    for name in names {
        match std::fs::read(&name) {
            Ok(input) => target(&input),
            Err(error) => {
                eprintln!("cannot read {}: {error}", name.display());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_its_file_and_its_corpus() {
        let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = std::fs::read_dir(here.join("fuzz_targets"))
            .expect("the folder is there")
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
            .collect();
        files.sort();
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        assert_eq!(files, names);
        for (name, target) in TARGETS {
            let seeds = mutate::corpus(name);
            assert!(seeds.len() >= 3, "{name} has too few seeds");
            for seed in &seeds {
                target(seed);
            }
        }
    }
}
