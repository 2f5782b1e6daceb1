//! Coverage-guided runs of `zaffre_fuzz::smb_login`; without cargo-fuzz, replays files by name.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| zaffre_fuzz::smb_login::run(input));

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    zaffre_fuzz::replay(zaffre_fuzz::smb_login::run)
}
