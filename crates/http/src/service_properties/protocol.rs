//! `ProtocolSettings` of the File service: how shares are reached over SMB.
//!
//! Must never take a setting that would not be kept to: what this server cannot do is refused.

use super::reader::{child, unexpected};
use crate::codes;
use crate::error::ApiError;
use crate::xml::{Reader, Writer};
use zaffre_domain::service::SmbProtocol;

/// Reads the element just entered.
pub(super) fn settings(xml: &mut Reader<'_>) -> Result<SmbProtocol, ApiError> {
    let mut smb = SmbProtocol::default();
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "SMB" | "Smb" => of_smb(xml, &mut smb)?,
            // There are no shares over NFS.
            "NFS" | "Nfs" => return Err(unsupported(&name)),
            _ => return Err(unexpected(xml, &name)),
        }
    }
    Ok(smb)
}

fn of_smb(xml: &mut Reader<'_>, smb: &mut SmbProtocol) -> Result<(), ApiError> {
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "Multichannel" => {
                if flag(xml, "Enabled")? {
                    return Err(ApiError::invalid_xml_node("Enabled", "true"));
                }
            }
            "EncryptionInTransit" => smb.encryption_required = flag(xml, "Required")?,
            // Which dialects, ciphers and ways to authenticate there are is not the owner's choice.
            "Versions"
            | "AuthenticationMethods"
            | "KerberosTicketEncryption"
            | "ChannelEncryption" => return Err(unsupported(&name)),
            _ => return Err(unexpected(xml, &name)),
        }
    }
    Ok(())
}

/// The one child, called `name`, of the element just entered.
fn flag(xml: &mut Reader<'_>, name: &str) -> Result<bool, ApiError> {
    let mut found = false;
    while let Some(child) = child(xml)? {
        if child != name {
            return Err(unexpected(xml, &child));
        }
        let text = xml.element_text()?;
        found = match text.trim() {
            text if text.eq_ignore_ascii_case("true") => true,
            text if text.eq_ignore_ascii_case("false") => false,
            text => return Err(ApiError::invalid_xml_node(name, text)),
        };
    }
    Ok(found)
}

fn unsupported(name: &str) -> ApiError {
    ApiError::from(codes::UNSUPPORTED_XML_NODE).detail("XmlNodeName", name)
}

/// Writes the element.
pub(super) fn document(xml: &mut Writer, smb: SmbProtocol) {
    xml.open("ProtocolSettings").open("SMB");
    xml.open("Multichannel").element("Enabled", false).close("Multichannel");
    xml.open("EncryptionInTransit").element("Required", smb.encryption_required);
    xml.close("EncryptionInTransit").close("SMB").close("ProtocolSettings");
}
