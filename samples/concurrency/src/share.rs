//! A file of a share: REST by requests, SMB with the crate `smb2`.

use crate::account::{Account, Failure};
use crate::rest::{good, refused, send};
use azure_core::http::Url;
use reqwest::{Method, Response};
use smb2::msg::close::CloseRequest;
use smb2::msg::create::{
    CreateDisposition, CreateRequest, CreateResponse, ImpersonationLevel, ShareAccess,
};
use smb2::msg::lock::{
    LockElement, LockRequest, SMB2_LOCKFLAG_EXCLUSIVE_LOCK, SMB2_LOCKFLAG_FAIL_IMMEDIATELY,
    SMB2_LOCKFLAG_UNLOCK,
};
use smb2::pack::{Pack, ReadCursor, Unpack};
use smb2::types::flags::FileAccessMask;
use smb2::types::{Command, FileId, OplockLevel};
use smb2::{ClientConfig, SmbClient, Tree};

/// One file over SMB. The crate's own readers and writers share as they see fit, so the requests that
/// matter here are sent as messages.
struct SmbFile {
    client: SmbClient,
    tree: Tree,
    name: String,
}

impl SmbFile {
    async fn connect(account: &Account, share: &str, name: &str) -> Result<Self, Failure> {
        let endpoint = Url::parse(account.endpoint("File")?)?;
        let host = endpoint.host_str().ok_or("a FileEndpoint without a host")?;
        let port = std::env::var("ZAFFRE_SMB_PORT").unwrap_or_else(|_| "10445".to_owned());
        let config = ClientConfig {
            addr: format!("{host}:{port}"),
            username: account.name.clone(),
            password: account.key.clone(),
            ..ClientConfig::default()
        };
        let mut client = SmbClient::connect(config).await?;
        let tree = client.connect_share(share).await?;
        Ok(Self { client, tree, name: name.to_owned() })
    }

    async fn send(&self, command: Command, body: &dyn Pack) -> Result<Vec<u8>, Failure> {
        let frame =
            self.client.connection().execute(command, body, Some(self.tree.tree_id)).await?;
        if frame.header.status.is_error() {
            return Err(format!("{command:?}: {:?}", frame.header.status).into());
        }
        Ok(frame.body)
    }

    async fn open(&self, share_access: u32) -> Result<FileId, Failure> {
        let access = FileAccessMask::FILE_READ_DATA | FileAccessMask::FILE_WRITE_DATA;
        let request = CreateRequest {
            requested_oplock_level: OplockLevel::None,
            impersonation_level: ImpersonationLevel::Impersonation,
            desired_access: FileAccessMask(access),
            file_attributes: 0,
            share_access: ShareAccess(share_access),
            create_disposition: CreateDisposition::FileOpen,
            create_options: 0,
            name: self.name.clone(),
            create_contexts: Vec::new(),
        };
        let answer = self.send(Command::Create, &request).await?;
        Ok(CreateResponse::unpack(&mut ReadCursor::new(&answer))?.file_id)
    }

    async fn lock(&self, file_id: FileId, length: u64, flags: u32) -> Result<(), Failure> {
        let locks = vec![LockElement { offset: 0, length, flags }];
        let request = LockRequest { lock_sequence: 0, file_id, locks };
        self.send(Command::Lock, &request).await.map(|_| ())
    }

    async fn close(&self, file_id: FileId) -> Result<(), Failure> {
        self.send(Command::Close, &CloseRequest { flags: 0, file_id }).await.map(|_| ())
    }
}

/// Put Range.
async fn put(account: &Account, path: &str, at: usize, text: &str) -> Result<Response, Failure> {
    let range = format!("bytes={at}-{}", at + text.len() - 1);
    let headers = [("x-ms-write", "update"), ("x-ms-range", range.as_str())];
    send(account, ("File", Method::PUT, path, "comp=range"), &headers, text.into()).await
}

async fn get(account: &Account, path: &str, headers: &[(&str, &str)]) -> Result<Response, Failure> {
    send(account, ("File", Method::GET, path, ""), headers, Vec::new()).await
}

pub async fn file(account: &Account, name: &str) -> Result<(), Failure> {
    println!("\n== A file of a share: what SMB clients have open or locked, REST respects");
    let share = |method| ("File", method, name, "restype=share");
    good(send(account, share(Method::PUT), &[], Vec::new()).await?).await?;
    let path = &format!("{name}/plan.txt");
    let headers = [("x-ms-type", "file"), ("x-ms-content-length", "11")];
    good(send(account, ("File", Method::PUT, path, ""), &headers, Vec::new()).await?).await?;
    good(put(account, path, 0, "version one").await?).await?;
    let smb = SmbFile::connect(account, name, "plan.txt").await?;
    let handle = smb.open(0).await?;
    println!("1. An SMB client opens the file and shares it with nobody.");
    println!("2. REST wants to read it:");
    refused(409, "SharingViolation", get(account, path, &[]).await?).await?;
    smb.close(handle).await?;
    let handle = smb.open(ShareAccess::FILE_SHARE_READ | ShareAccess::FILE_SHARE_WRITE).await?;
    let beside = [("x-ms-range", "bytes=8-10")];
    let exclusive = SMB2_LOCKFLAG_EXCLUSIVE_LOCK | SMB2_LOCKFLAG_FAIL_IMMEDIATELY;
    smb.lock(handle, 7, exclusive).await?;
    println!("3. It opens the file again, shares it, and locks bytes 0 to 6.");
    println!("4. REST writes, if only beside them; it needs a file without any lock:");
    refused(409, "FileLockConflict", put(account, path, 8, "two").await?).await?;
    assert_eq!(good(get(account, path, &beside).await?).await?.text().await?, "one");
    println!("5. REST reads beside them, which the lock allows.");
    smb.lock(handle, 7, SMB2_LOCKFLAG_UNLOCK).await?;
    good(put(account, path, 8, "two").await?).await?;
    smb.close(handle).await?;
    println!("6. The SMB client unlocks; REST writes what it wanted.");
    assert_eq!(good(get(account, path, &[]).await?).await?.text().await?, "version two");
    good(send(account, share(Method::DELETE), &[], Vec::new()).await?).await?;
    Ok(())
}
