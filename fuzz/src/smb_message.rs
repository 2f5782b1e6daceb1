//! SMB messages: chains are cut within their bounds, and no request holds more than it came with.

use zaffre_smb::wire::context::{parse_chain, write_chain};
use zaffre_smb::wire::header::{self, TransformHeader, elements};
use zaffre_smb::wire::negotiate::{numbers, preauth_hashes, upgrade};
use zaffre_smb::wire::{Command, Header, Request};

/// The target.
pub fn run(input: &[u8]) {
    let _ = (header::kind(input), upgrade(input), numbers(input), preauth_hashes(input));
    if let Ok(header) = TransformHeader::parse(input) {
        assert_eq!(header.write(), input[..header::TRANSFORM_BYTES].to_vec().tap_zero());
    }
    if let Ok(contexts) = parse_chain(input) {
        assert_eq!(parse_chain(&write_chain(&contexts)).as_ref(), Ok(&contexts));
    }
    let Ok(elements) = elements(input) else { return };
    assert_eq!(elements.iter().map(|element| element.len()).sum::<usize>(), input.len());
    for element in elements {
        let header = Header::parse(element).expect("an element has a header");
        let own = Command::of(header.command);
        for number in 0..=u16::from(u8::MAX) {
            let Some(command) = Command::of(number) else { break };
            if let Ok(request) = Request::parse(command, element) {
                within(&request, element.len());
                assert!(own.is_some() || header.command > 0x12);
            }
        }
    }
}

/// The two bytes before the flags mean nothing and are written as zeros.
trait TapZero {
    fn tap_zero(self) -> Self;
}

impl TapZero for Vec<u8> {
    fn tap_zero(mut self) -> Self {
        self[40..42].fill(0);
        self
    }
}

fn within(request: &Request, bytes: usize) {
    let carried = match request {
        Request::Write(write) => write.data.len(),
        Request::Ioctl(ioctl) => ioctl.input.len(),
        Request::SetInfo(set) => set.data.len(),
        Request::QueryInfo(query) => query.input.len(),
        Request::SessionSetup(setup) => setup.token.len(),
        Request::TreeConnect(path) => path.len() * 2,
        Request::QueryDirectory(query) => query.pattern.len() * 2,
        Request::Lock(lock) => lock.elements.len() * 24,
        Request::Create(create) => create.name.len() * 2,
        Request::Negotiate(negotiate) => negotiate.dialects.len() * 2,
        Request::Logoff
        | Request::TreeDisconnect
        | Request::Close(_)
        | Request::Flush(_)
        | Request::Read(_)
        | Request::Cancel
        | Request::Echo
        | Request::ChangeNotify(_)
        | Request::OplockBreak(_) => 0,
    };
    assert!(carried <= bytes, "{carried} of {bytes}");
}
