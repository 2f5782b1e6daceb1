//! The tables of docs/configuration.md, made from the flags, subcommands and settings themselves.
//!
//! Must never be edited by hand over there: `ZAFFRE_WRITE_DOCS=1 cargo test -p zaffre reference`
//! writes them, and without the variable the test fails when they are stale.

use crate::args::Args;
use crate::settings;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");

/// Text inside a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn spelled(arg: &Arg) -> String {
    let mut text = String::new();
    if let Some(short) = arg.get_short() {
        let _ = write!(text, "`-{short}`, ");
    }
    let _ = write!(text, "`--{}", arg.get_long().unwrap_or_default());
    if arg.get_action().takes_values() {
        for name in arg.get_value_names().unwrap_or_default() {
            let _ = write!(text, " <{name}>");
        }
    }
    text.push('`');
    text
}

fn default(arg: &Arg) -> String {
    let values: Vec<_> = arg.get_default_values().iter().filter_map(|v| v.to_str()).collect();
    if values.is_empty() || !arg.get_action().takes_values() {
        return String::new();
    }
    format!("`{}`", values.join(","))
}

fn flags() -> String {
    let command = Args::command();
    let mut text = String::new();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in command.get_arguments() {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        if let Some(heading) = heading {
            let _ = writeln!(text, "\n### {heading}\n");
        }
        text += "| flag | default | environment | what it does |\n|---|---|---|---|\n";
        let under = |arg: &&Arg| arg.get_help_heading() == heading && !arg.is_hide_set();
        for arg in command.get_arguments().filter(under) {
            let variable = arg.get_env().and_then(|name| name.to_str());
            let variable = variable.map(|name| format!("`{name}`")).unwrap_or_default();
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let (flag, default) = (spelled(arg), default(arg));
            let _ =
                writeln!(text, "| {} | {default} | {variable} | {} |", cell(&flag), cell(&help));
        }
    }
    text
}

fn commands() -> String {
    let mut text = "| command | what it does |\n|---|---|\n".to_owned();
    for command in Args::command().get_subcommands() {
        let words = command
            .get_positionals()
            .map(|arg| format!(" <{}>", arg.get_id().as_str().to_ascii_uppercase()));
        let words: String = words.collect();
        let below: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let below =
            if below.is_empty() { String::new() } else { format!(" {}", below.join("\\|")) };
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_name();
        let _ = writeln!(text, "| `zaffre {name}{below}{words}` | {} |", cell(&about));
    }
    text
}

fn chosen() -> String {
    let mut text = "| setting | values | default | what it does |\n|---|---|---|---|\n".to_owned();
    for row in settings::TABLE {
        let (name, values, default, help) = (row.name, row.values, row.default, row.help);
        let _ = writeln!(text, "| `{name}` | {} | `{default}` | {} |", cell(values), cell(help));
    }
    text
}

/// The page with what stands between the marks replaced.
fn renewed(page: &str, mark: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let (before, rest) = page.split_once(&begin).expect("the page has the mark");
    let (_, after) = rest.split_once(&end).expect("the page has the end of the mark");
    format!("{before}{begin}\n{}\n\n{end}{after}", table.trim())
}

#[test]
fn the_reference_says_what_the_code_does() {
    let page = std::fs::read_to_string(PAGE).expect("docs/configuration.md");
    let mut fresh = page.clone();
    for (mark, table) in [("flags", flags()), ("commands", commands()), ("settings", chosen())] {
        fresh = renewed(&fresh, mark, &table);
    }
    if std::env::var_os("ZAFFRE_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &fresh).expect("docs/configuration.md");
        return;
    }
    let stale = "run ZAFFRE_WRITE_DOCS=1 cargo test -p zaffre reference";
    assert!(page == fresh, "docs/configuration.md is stale: {stale}");
}

#[test]
fn defaults_of_settings_are_what_holds_without_them() {
    let account = zaffre_base::AccountName::parse("acct").expect("legal");
    let nothing = settings::Choices::default().settings(&account);
    for row in settings::TABLE.iter().filter(|row| row.default != "none") {
        let line = format!("{}={}", row.name, row.default);
        let line = settings::Line::parse(&line).expect("a default is a value");
        let choices = settings::Choices(vec![line]);
        assert_eq!(choices.settings(&account), nothing, "{}", row.name);
    }
}
