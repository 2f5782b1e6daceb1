//! The XML body of Put Block List: which blocks to commit, in order.
//!
//! Must never look a block up.

use zaffre_base::base64;
use zaffre_base::limits::COMMITTED_BLOCKS;
use zaffre_domain::Refusal;
use zaffre_domain::blob::block_list::{check_entries, is_block_id};
use zaffre_domain::blob::{BlockListEntry, BlockSource};
use zaffre_http::ApiError;
use zaffre_http::xml::{Event, Reader};

/// Reads the document; an unknown element or id is an error, nothing is skipped.
pub fn parse(document: &[u8]) -> Result<Vec<BlockListEntry>, ApiError> {
    let mut xml = Reader::new(document)?;
    xml.root("BlockList")?;
    let mut blocks = Vec::new();
    loop {
        let name = match xml.next_tag()? {
            Event::Start(name) => name,
            Event::End => break,
            Event::Text(_) | Event::Eof => return Err(xml.error("The document is not complete.")),
        };
        let source = match name.as_str() {
            "Committed" => BlockSource::Committed,
            "Uncommitted" => BlockSource::Uncommitted,
            "Latest" => BlockSource::Latest,
            _ => return Err(xml.error(format!("The element {name} is not expected here."))),
        };
        if blocks.len() == COMMITTED_BLOCKS {
            return Err(Refusal::BlockListTooLong.into());
        }
        let text = xml.element_text()?;
        let id = base64::decode(text.trim()).filter(|id| is_block_id(id));
        let id = id.ok_or_else(|| ApiError::from(Refusal::InvalidBlockList))?;
        blocks.push(BlockListEntry { source, id });
    }
    xml.finish()?;
    check_entries(&blocks)?;
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `C`, `U` or `L` and the id, for each block.
    fn shown(document: &str) -> Result<String, &'static str> {
        let blocks = parse(document.as_bytes()).map_err(|e| e.code)?;
        let words = blocks.iter().map(|block| {
            let source = match block.source {
                BlockSource::Committed => 'C',
                BlockSource::Uncommitted => 'U',
                BlockSource::Latest => 'L',
            };
            format!("{source}{}", String::from_utf8_lossy(&block.id))
        });
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn documents() {
        let prologue = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
        for (body, want) in [
            ("<BlockList/>", Ok("")),
            ("<BlockList></BlockList>", Ok("")),
            (
                "<BlockList>\n <Latest>YQ==</Latest>\n <Committed>Yg==</Committed>\
                 <Uncommitted> Yw== </Uncommitted></BlockList>",
                Ok("La Cb Uc"),
            ),
            ("<BlockList><Latest>YQ==</Latest><Latest>YQ==</Latest></BlockList>", Ok("La La")),
            (
                "<BlockList><Latest>YQ==</Latest><Committed>YQ==</Committed></BlockList>",
                Err("InvalidBlockList"),
            ),
            ("<BlockList><Latest>?</Latest></BlockList>", Err("InvalidBlockList")),
            ("<BlockList><Latest/></BlockList>", Err("InvalidBlockList")),
            ("<BlockList><Newest>YQ==</Newest></BlockList>", Err("InvalidXmlDocument")),
            ("<BlockList>YQ==</BlockList>", Err("InvalidXmlDocument")),
            ("<BlockList><Latest>YQ==</Latest>", Err("InvalidXmlDocument")),
            ("<BlockList><Latest><a/></Latest></BlockList>", Err("InvalidXmlDocument")),
            ("<Blocks/>", Err("InvalidXmlDocument")),
            ("", Err("InvalidXmlDocument")),
            ("<BlockList/><BlockList/>", Err("InvalidXmlDocument")),
            ("<!DOCTYPE x><BlockList/>", Err("InvalidXmlDocument")),
        ] {
            assert_eq!(shown(body), want.map(str::to_owned), "{body}");
            let bom = format!("\u{FEFF}{prologue}{body}");
            if !body.is_empty() && !body.starts_with("<!") {
                assert_eq!(shown(&bom), want.map(str::to_owned), "{bom}");
            }
        }
    }

    #[test]
    fn no_more_than_fifty_thousand() {
        let list = |n| format!("<BlockList>{}</BlockList>", "<Latest>YQ==</Latest>".repeat(n));
        assert_eq!(parse(list(50_000).as_bytes()).map(|b| b.len()).ok(), Some(50_000));
        assert_eq!(shown(&list(50_001)), Err("BlockListTooLong"));
    }
}
