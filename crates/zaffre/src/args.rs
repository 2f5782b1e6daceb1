//! The command line: Azurite's flags under Azurite's names, and ours.
//!
//! Must never look at the environment or the disk beyond what clap does.

use crate::access_log::AccessArgs;
use crate::console::{ClockCommand, ConsoleArgs, FaultCommand, Remote};
use crate::endpoints::Wanted;
use crate::import::ImportCommand;
use crate::oauth::OauthArgs;
use crate::settings::{self, Line};
use crate::smb::SmbArgs;
use crate::sources;
use clap::Parser;
use clap_complete::Shell;
use std::fmt::Write;
use std::path::PathBuf;

/// Version, commit and machine.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("ZAFFRE_COMMIT"),
    ", ",
    env!("ZAFFRE_TARGET"),
    ")"
);

const AFTER_HELP: &str = "\
Environment:
  AZURITE_ACCOUNTS            name:key1[:key2];... instead of the development account
  ZAFFRE_DEVELOPMENT_ACCOUNT  `true` is the same as --developmentAccount
  ZAFFRE_LOG                  what to log, such as `info` or `warn,access=info`

The file given with --config has one account per line, `name = key1` or `name = key1, key2`, with
keys in Base64; empty lines and lines that start with `#` are skipped. It is read again every
minute, so keys can be rotated without a restart. Keep it readable by its owner alone.

Settings, for one account or for all, are lines `account.name = value` or `*.name = value` of that
file, or --setting on the command line, which wins:
";

/// What stands below the flags, with every setting.
fn after_help() -> String {
    let mut text = AFTER_HELP.to_owned();
    for row in settings::TABLE {
        let (name, help, default) = (row.name, row.help, row.default);
        let _ = writeln!(text, "  {name:<25} {help} [{default}]");
    }
    text + "More in docs/configuration.md."
}

/// A storage server that speaks Azure's REST protocols.
#[derive(Parser, Clone, Debug)]
#[command(name = "zaffre", version = VERSION, disable_version_flag = true, after_help = after_help())]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[expect(clippy::struct_excessive_bools, reason = "flags are what a command line has")]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Address the Blob service listens on
    #[arg(long = "blobHost", value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) blob_host: String,

    /// Port of the Blob service; 0 lets the system choose
    #[arg(long = "blobPort", value_name = "PORT", default_value_t = 10_000)]
    pub(crate) blob_port: u16,

    /// Seconds an idle connection is kept
    #[arg(long = "blobKeepAliveTimeout", value_name = "SECONDS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) blob_keep_alive: u64,

    /// Address the Queue service listens on
    #[arg(long = "queueHost", value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) queue_host: String,

    /// Port of the Queue service; 0 lets the system choose
    #[arg(long = "queuePort", value_name = "PORT", default_value_t = 10_001)]
    pub(crate) queue_port: u16,

    /// Seconds an idle connection is kept
    #[arg(long = "queueKeepAliveTimeout", value_name = "SECONDS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) queue_keep_alive: u64,

    /// Address the Table service listens on
    #[arg(long = "tableHost", value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) table_host: String,

    /// Port of the Table service; 0 lets the system choose
    #[arg(long = "tablePort", value_name = "PORT", default_value_t = 10_002)]
    pub(crate) table_port: u16,

    /// Seconds an idle connection is kept
    #[arg(long = "tableKeepAliveTimeout", value_name = "SECONDS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) table_keep_alive: u64,

    /// Address the File service listens on
    #[arg(long = "fileHost", value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) file_host: String,

    /// Port of the File service; 0 lets the system choose
    #[arg(long = "filePort", value_name = "PORT", default_value_t = 10_003)]
    pub(crate) file_port: u16,

    /// Seconds an idle connection is kept
    #[arg(long = "fileKeepAliveTimeout", value_name = "SECONDS", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) file_keep_alive: u64,

    /// Address the SMB server listens on
    #[arg(long = "smbHost", value_name = "HOST", default_value = "127.0.0.1")]
    pub(crate) smb_host: String,

    /// Port of the SMB server; 0 lets the system choose
    #[arg(long = "smbPort", value_name = "PORT", default_value_t = 10_445)]
    pub(crate) smb_port: u16,

    /// Do not serve SMB
    #[arg(long = "skipSmb")]
    pub(crate) skip_smb: bool,

    #[command(flatten)]
    pub(crate) smb: SmbArgs,

    /// Where data is kept
    #[arg(short, long, value_name = "DIR", default_value = "./zaffre-data")]
    pub(crate) location: PathBuf,

    /// Print nothing but what tools wait for
    #[arg(short, long)]
    pub(crate) silent: bool,

    /// Write a detailed log to this file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) debug: Option<PathBuf>,

    /// Certificate for HTTPS: a PEM file with --key, or a PFX file with --pwd
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,

    /// Private key of a PEM certificate
    #[arg(long, value_name = "FILE", requires = "cert", conflicts_with = "pwd")]
    pub(crate) key: Option<PathBuf>,

    /// Password of a PFX certificate
    #[arg(long, value_name = "PASSWORD", requires = "cert")]
    pub(crate) pwd: Option<String>,

    /// Keep everything in memory; all is gone when the program ends
    #[arg(long = "inMemoryPersistence", conflicts_with = "location")]
    pub(crate) in_memory: bool,

    /// Most memory, in MB, that --inMemoryPersistence uses for data
    #[arg(long = "extentMemoryLimit", value_name = "MB", requires = "in_memory")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) extent_memory_limit: Option<u64>,

    /// Encrypt everything in --location with the 32-byte key in this file (raw, Base64 or hex)
    #[arg(long = "encryption-key-file", value_name = "FILE", conflicts_with = "in_memory")]
    pub(crate) encryption_key_file: Option<PathBuf>,

    /// How fast a copy goes on after its answer, in bytes per second; unset = as fast as it can
    #[arg(long = "copy-bytes-per-second", value_name = "BYTES")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) copy_bytes_per_second: Option<u64>,

    /// Copies may come from this server too: a name, *.domain or an address, and a port if it
    /// matters; may be given several times
    #[arg(long = "copy-source-host", value_name = "HOST[:PORT]", value_parser = sources::host)]
    pub(crate) copy_source_hosts: Vec<String>,

    /// Requests worked on at once; more wait for a second, then get 503 ServerBusy
    #[arg(long = "requests-in-flight", value_name = "REQUESTS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) requests_in_flight: Option<u32>,

    /// Take the account from the path whatever the host name is
    #[arg(long = "disableProductStyleUrl")]
    pub(crate) disable_product_style_url: bool,

    /// Serve the well-known development account on any address: anybody knows its key
    #[arg(long = "developmentAccount", env = "ZAFFRE_DEVELOPMENT_ACCOUNT")]
    pub(crate) development_account: bool,

    /// Accounts and keys, one per line, and settings; see below
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// What Azure keeps in its management plane, such as versioning=true; see below
    #[arg(long = "setting", value_name = "[ACCOUNT.]NAME=VALUE", value_parser = Line::parse)]
    pub(crate) settings: Vec<Line>,

    /// Seconds the name of a deleted container stays blocked; 30 or more on Azure
    #[arg(long = "containerDeleteDelay", value_name = "SECONDS", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u64).range(..=86_400))]
    pub(crate) container_delete_delay: u64,

    /// Print version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,

    #[command(flatten)]
    pub(crate) tokens: OauthArgs,

    #[command(flatten)]
    pub(crate) access: AccessArgs,

    #[command(flatten)]
    pub(crate) console: ConsoleArgs,

    #[command(flatten)]
    pub(crate) compatible: Compatible,
}

impl Args {
    /// Where the Blob service is wanted.
    pub(crate) fn blob(&self) -> Wanted<'_> {
        let (host, port) = (self.blob_host.as_str(), self.blob_port);
        Wanted { name: "Blob", flags: "blob", host, port, keep_alive: self.blob_keep_alive }
    }

    /// Where the Queue service is wanted.
    pub(crate) fn queue(&self) -> Wanted<'_> {
        let (host, port) = (self.queue_host.as_str(), self.queue_port);
        Wanted { name: "Queue", flags: "queue", host, port, keep_alive: self.queue_keep_alive }
    }

    /// Where the Table service is wanted.
    pub(crate) fn table(&self) -> Wanted<'_> {
        let (host, port) = (self.table_host.as_str(), self.table_port);
        Wanted { name: "Table", flags: "table", host, port, keep_alive: self.table_keep_alive }
    }

    /// Where the File service is wanted.
    pub(crate) fn file(&self) -> Wanted<'_> {
        let (host, port) = (self.file_host.as_str(), self.file_port);
        Wanted { name: "File", flags: "file", host, port, keep_alive: self.file_keep_alive }
    }
}

/// What else the program does besides serving.
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum Command {
    /// Verify every checksum and every reference of a data directory; changes nothing
    Check {
        /// The data directory; no server may be using it
        dir: PathBuf,
        /// The key file of an encrypted data directory
        #[arg(long = "encryption-key-file", value_name = "FILE")]
        key_file: Option<PathBuf>,
    },
    /// Move the data of another program in
    Import {
        #[command(subcommand)]
        command: ImportCommand,
    },
    /// Print what makes a shell complete the flags
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page
    Man,
    /// Ask a running server's console whether it is ready; for health checks
    Health {
        #[command(flatten)]
        remote: Remote,
    },
    /// Turn the clock of a running server that has --test-controls
    Clock {
        #[command(flatten)]
        remote: Remote,
        #[command(subcommand)]
        command: ClockCommand,
    },
    /// Make requests to a running server fail, if it has --test-controls
    Fault {
        #[command(flatten)]
        remote: Remote,
        #[command(subcommand)]
        command: FaultCommand,
    },
}

/// Azurite's flags that change nothing here.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Accepted for compatibility")]
pub(crate) struct Compatible {
    /// Nothing is ever ignored silently, loose or not
    #[arg(short = 'L', long)]
    loose: bool,
    /// Every well-formed API version is accepted
    #[arg(long = "skipApiVersionCheck")]
    skip_api_version_check: bool,
    /// No telemetry is ever sent
    #[arg(long = "disableTelemetry")]
    disable_telemetry: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_flag_of_azurite_is_taken() {
        let line = "zaffre --blobHost 0.0.0.0 --queueHost h --tableHost h --blobPort 0 --queuePort \
                    1 --tablePort 2 --blobKeepAliveTimeout 6 --queueKeepAliveTimeout 5 \
                    --tableKeepAliveTimeout 5 -l dir -s -d log -L --cert c --key k --oauth basic \
                    --skipApiVersionCheck --disableProductStyleUrl --disableTelemetry --filePort 3 \
                    --smbPort 4 --consolePort 5 --containerDeleteDelay 30 --config f";
        let args = Args::try_parse_from(line.split_whitespace()).expect("taken");
        assert_eq!((args.blob_host.as_str(), args.blob_port), ("0.0.0.0", 0));
        assert_eq!((args.queue_host.as_str(), args.queue_port), ("h", 1));
        assert_eq!((args.table_host.as_str(), args.table_port), ("h", 2));
        assert_eq!((args.file_host.as_str(), args.file_port), ("127.0.0.1", 3));
        assert_eq!((args.smb_host.as_str(), args.smb_port, args.skip_smb), ("127.0.0.1", 4, false));
    }

    #[test]
    fn lines() {
        for (line, taken) in [
            ("", true),
            ("--inMemoryPersistence", true),
            ("--inMemoryPersistence --location x", false),
            ("--inMemoryPersistence --extentMemoryLimit 100", true),
            ("--extentMemoryLimit 100", false),
            ("--key k", false),
            ("--cert c --pwd p", true),
            ("--cert c --key k --pwd p", false),
            ("--blobPort 65536", false),
            ("--blobKeepAliveTimeout 0", false),
            ("--oauth full", false),
            ("--oauth basic", false),
            ("--cert c --key k --oauth basic", true),
            ("--cert c --key k --oauth verify", false),
            ("--cert c --key k --oauth verify --oauth-issuer i", true),
            ("--cert c --key k --oauth verify --oauth-issuer i --oauth-keys f", true),
            ("--cert c --key k --oauth-issuer i", false),
            ("--cert c --key k --oauth basic --oauth-keys f", false),
            ("--blobport 1", false),
            ("--queueKeepAliveTimeout 0", false),
            ("--smbHost h --smbPort 0 --skipSmb", true),
            ("--smbStreams --smbSparse --smbDescriptors enforce", true),
            ("--smbDescriptors store", true),
            ("--smbDescriptors both", false),
            ("--smbHideUnreadable a-b,cde", true),
            ("--smbHideUnreadable A", false),
            ("--location x", true),
            ("surplus", false),
            ("check dir", true),
            ("check dir --encryption-key-file f", true),
            ("--encryption-key-file f", true),
            ("--encryption-key-file f --inMemoryPersistence", false),
            ("check", false),
            ("--skipConsole", true),
            ("--skipConsole --consolePort 1", true),
            ("--skipConsole --test-controls", false),
            ("--consoleHost 0.0.0.0 --consolePort 1 --test-controls", true),
            ("--test-controls-anywhere", false),
            ("--test-controls --test-controls-anywhere", true),
            ("--accessLog f --accessLogFormat json", true),
            ("--accessLogFormat json", false),
            ("import azurite dir --location d", true),
            ("import azurite", false),
            ("completions bash", true),
            ("completions tcsh", false),
            ("man", true),
            ("health", true),
            ("health --console http://127.0.0.1:1", true),
            ("health now", false),
            ("clock advance 15s", true),
            ("clock advance", false),
            ("clock show --console http://127.0.0.1:1", true),
            ("fault add busy --service blob --operation PutBlob --nth 2 --times 0", true),
            ("fault add delay", false),
            ("fault add delay --delay-ms 5 --after", true),
            ("fault remove 1", true),
            ("fault remove", false),
            ("--silent check dir", false),
        ] {
            let words = std::iter::once("zaffre").chain(line.split_whitespace());
            assert_eq!(Args::try_parse_from(words).is_ok(), taken, "{line}");
        }
    }
}
