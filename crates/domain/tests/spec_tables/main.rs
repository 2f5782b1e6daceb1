//! Runs every cell of the tables in `spec/` against the rules.
//!
//! Must never skip a row: each table has a floor for the number of cells it runs.

mod conditions;
mod files;
mod leases;
mod ranges;
mod table;
