//! `zaffre health`, `clock` and `fault`: what a running server's console is asked.
//!
//! Must never know more than the console's own API offers to everybody.

use super::ask::ask;
use crate::failure::Failure;
use crate::terminal::say;
use serde_json::{Value, json};

/// Where the server is.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Remote {
    /// The console of the server
    #[arg(long, env = "ZAFFRE_CONSOLE", value_name = "URL")]
    #[arg(default_value = "http://127.0.0.1:10080", global = true)]
    console: String,
}

/// What to do with the clock.
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum ClockCommand {
    /// Show the server's time
    Show,
    /// Stop the clock where it is
    Freeze,
    /// Turn the clock forward, and do what has become due
    Advance {
        /// How far: 15s, 250ms, 2m, 12h, 7d
        by: String,
    },
    /// Let the clock go on from where it stands
    Resume,
}

/// What to do with faults.
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum FaultCommand {
    /// Make matching requests fail; prints the rule with its id
    Add(Box<NewFault>),
    /// Show all rules, and how often each was met
    List,
    /// Remove one rule
    Remove {
        /// Its id
        id: u64,
    },
    /// Remove all rules
    Clear,
}

/// A rule.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct NewFault {
    /// What happens: 503, 500, 412, a reset of the connection, or a delay
    action: FaultAction,
    /// blob, queue, table or file; any if not given
    #[arg(long)]
    service: Option<String>,
    /// The operation, such as PutBlob
    #[arg(long)]
    operation: Option<String>,
    /// The container, queue, table or share
    #[arg(long)]
    container: Option<String>,
    /// The first matching request that is hit
    #[arg(long, default_value_t = 1)]
    nth: u64,
    /// How many are hit from there on; 0 = all
    #[arg(long, default_value_t = 1)]
    times: u64,
    /// Perform the operation first, and lose its answer
    #[arg(long)]
    after: bool,
    /// Milliseconds of a delay
    #[arg(long = "delay-ms", value_name = "MS", required_if_eq("action", "delay"))]
    delay_ms: Option<u64>,
}

/// What can happen to a request.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum FaultAction {
    /// 503 ServerBusy
    Busy,
    /// 500 InternalError
    Internal,
    /// 412 ConditionNotMet
    Condition,
    /// The connection is reset
    Reset,
    /// The request is held up
    Delay,
}

/// Asks whether a server is ready; one that is not makes the program fail.
pub(crate) fn health(remote: &Remote) -> Result<bool, Failure> {
    say(&ask(&remote.console, "GET", "/readyz", "")?);
    Ok(true)
}

/// Turns the clock of a server.
pub(crate) fn clock(remote: &Remote, command: &ClockCommand) -> Result<bool, Failure> {
    let turn = |asked: Value| ask(&remote.console, "POST", "/test/clock", &asked.to_string());
    say(&match command {
        ClockCommand::Show => ask(&remote.console, "GET", "/test/clock", ""),
        ClockCommand::Freeze => turn(json!({ "action": "freeze" })),
        ClockCommand::Resume => turn(json!({ "action": "resume" })),
        ClockCommand::Advance { by } => turn(json!({ "action": "advance", "by": by })),
    }?);
    Ok(true)
}

/// Changes the faults of a server.
pub(crate) fn fault(remote: &Remote, command: &FaultCommand) -> Result<bool, Failure> {
    const ALL: &str = "/test/faults";
    let console = &remote.console;
    say(&match command {
        FaultCommand::Add(new) => ask(console, "POST", ALL, &new.asked().to_string()),
        FaultCommand::List => ask(console, "GET", ALL, ""),
        FaultCommand::Remove { id } => ask(console, "DELETE", &format!("{ALL}/{id}"), ""),
        FaultCommand::Clear => ask(console, "DELETE", ALL, ""),
    }?);
    Ok(true)
}

impl NewFault {
    fn asked(&self) -> Value {
        let action = match self.action {
            FaultAction::Busy => "busy",
            FaultAction::Internal => "internal",
            FaultAction::Condition => "condition",
            FaultAction::Reset => "reset",
            FaultAction::Delay => "delay",
        };
        json!({
            "action": action,
            "service": self.service,
            "operation": self.operation,
            "container": self.container,
            "nth": self.nth,
            "times": self.times,
            "when": if self.after { "after" } else { "before" },
            "delay_ms": self.delay_ms,
        })
    }
}
