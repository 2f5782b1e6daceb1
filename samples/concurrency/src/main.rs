//! How storage keeps concurrent writers from overwriting one another, step by step.
//!
//!     cargo run --manifest-path samples/concurrency/Cargo.toml -- [connection string]
//!
//! Every step prints what is done, what the service answers, and why. Without a connection string (or
//! AZURE_STORAGE_CONNECTION_STRING in the environment) the development account on this machine is used. SMB
//! is spoken with the host of the FileEndpoint, on port 10445 unless ZAFFRE_SMB_PORT names another.

mod account;
mod blobs;
mod queue;
mod rest;
mod share;
mod table;

use account::{Account, Failure};
use azure_core::error::ErrorKind;

/// Says how something was refused that must be refused.
fn refused<T>(status: u16, code: &str, result: azure_core::Result<T>) -> Result<(), Failure> {
    match result {
        Ok(_) => Err(format!("{status} {code} was expected, and nothing was refused").into()),
        Err(error) => match error.kind() {
            ErrorKind::HttpResponse { status: got, error_code: Some(said), .. }
                if u16::from(*got) == status && said == code =>
            {
                println!("   refused: {status} {code}");
                Ok(())
            }
            _ => Err(error.into()),
        },
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let account = Account::given()?;
    let name = format!("sample{}", azure_core::Uuid::new_v4().simple());
    blobs::optimistic(&account, &name).await?;
    blobs::leased(&account, &name).await?;
    table::entity(&account, &name).await?;
    queue::message(&account, &name).await?;
    share::file(&account, &name).await?;
    println!("\nAll five went as they should.");
    Ok(())
}
