//! Coverage-guided runs of `zaffre_fuzz::stored_bytes`; without cargo-fuzz, replays files by name.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| zaffre_fuzz::stored_bytes::run(input));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    zaffre_fuzz::replay(zaffre_fuzz::stored_bytes::run)
}
