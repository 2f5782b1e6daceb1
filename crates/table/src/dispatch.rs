//! From a routed request to its answer: parse, permit, call core, render.
//!
//! Must never have a default arm, and never call core with anything but what `permit` gave.

use crate::authorize::Caller;
use crate::format::{Level, Prefer};
use crate::operation::Kind;
use crate::render::entity::Place;
use crate::render::{self, entity, table};
use crate::target::Target;
use crate::{batch, failure, parse};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{ETAG, LOCATION};
use zaffre_base::TableName;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties, get_service_properties,
    set_service_properties,
};
use zaffre_core::table::op::{
    CreateTable, DeleteTable, GetEntity, GetTableAcl, SetTableAcl, TablePath, WriteEntity,
};
use zaffre_core::table::reply::Wrote;
use zaffre_core::table::{self as service};
use zaffre_core::{Core, Error};
use zaffre_domain::table::etag::etag;
use zaffre_domain::table::{EntityKey, token};
use zaffre_http::{
    ApiError, Asked, BodyStream, Reply, access_policies, header, multipart, service_properties, xml,
};

/// The letters a policy can grant on a table.
const PERMISSIONS: &str = "raud";

/// What every operation needs.
pub(crate) struct Dispatch<'a> {
    pub(crate) core: &'a Core,
    pub(crate) caller: &'a mut Caller<'a>,
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) target: &'a Target,
}

/// What core replied, or the answer to its failure.
pub(crate) fn done<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    result.map_err(|error| failure::api_error(&error))
}

impl Dispatch<'_> {
    /// Performs what was asked; the rest of it, if there is any, is in `body`.
    pub(crate) async fn perform(self, kind: Kind, body: BodyStream) -> Result<Reply, ApiError> {
        match kind {
            Kind::GetServiceProperties => self.get_service_properties().await,
            Kind::SetServiceProperties => self.set_service_properties(body).await,
            Kind::GetServiceStats => self.get_service_stats(),
            Kind::QueryTables => self.query_tables().await,
            Kind::CreateTable => self.create_table(body).await,
            Kind::DeleteTable => self.delete_table().await,
            Kind::GetTableAcl => self.get_table_acl().await,
            Kind::SetTableAcl => self.set_table_acl(body).await,
            Kind::QueryEntities => self.query_entities().await,
            Kind::GetEntity => self.get_entity().await,
            Kind::InsertEntity
            | Kind::UpdateEntity
            | Kind::MergeEntity
            | Kind::InsertOrReplaceEntity
            | Kind::InsertOrMergeEntity
            | Kind::DeleteEntity => self.write_entity(kind, body).await,
            Kind::Batch => batch::perform(self, body).await,
        }
    }

    pub(crate) fn base(&self) -> String {
        let mut base = self.asked.endpoint();
        base.truncate(base.trim_end_matches('/').len());
        base
    }

    fn account(&self) -> &str {
        self.asked.to.account.as_str()
    }

    fn empty(&self, status: StatusCode) -> Reply {
        Reply::new(status, self.asked.version)
    }

    fn table(&self) -> Result<TablePath, ApiError> {
        self.target.table().cloned().ok_or_else(ApiError::invalid_uri)
    }

    async fn small(&self, body: BodyStream) -> Result<Bytes, ApiError> {
        multipart::collect(body, self.asked.content_length).await
    }

    async fn get_service_properties(self) -> Result<Reply, ApiError> {
        let service = zaffre_auth::Service::Table;
        let op = GetServiceProperties { account: self.asked.to.account.clone(), service };
        let properties = get_service_properties(self.core, self.caller.permit(op)?).await;
        let properties = done(properties)?;
        let document = service_properties::document(&properties, service, self.asked.version);
        Ok(self.empty(StatusCode::OK).with_body("application/xml", document))
    }

    async fn set_service_properties(self, body: BodyStream) -> Result<Reply, ApiError> {
        let service = zaffre_auth::Service::Table;
        let document = xml::collect(body, self.asked.content_length).await?;
        let update = service_properties::parse(&document, service, self.asked.version)?;
        let op = SetServiceProperties { account: self.asked.to.account.clone(), service, update };
        done(set_service_properties(self.core, self.caller.permit(op)?).await)?;
        Ok(self.empty(StatusCode::ACCEPTED))
    }

    fn get_service_stats(self) -> Result<Reply, ApiError> {
        self.caller.permit(GetServiceStats { account: self.asked.to.account.clone() })?;
        let now = self.core.store().clock.now();
        service_properties::stats(self.asked.to.secondary, self.asked.version, now)
    }

    async fn query_tables(self) -> Result<Reply, ApiError> {
        let level = parse::level(self.asked)?;
        let op = parse::query_tables(self.asked, self.target)?;
        let alone = op.only.is_some();
        let page = done(service::query_tables(self.core, self.caller.permit(op)?).await)?;
        let (base, account) = (self.base(), self.account());
        let body = match page.tables.first() {
            Some(found) if alone => table::one(found, &base, account, level),
            _ => table::list(&page.tables, &base, account, level),
        };
        let reply = render::json(StatusCode::OK, level, body, self.asked.version);
        let next = page.next.map(|next| token::make(&next));
        Ok(reply.with_some(header!("x-ms-continuation-nexttablename"), next))
    }

    async fn create_table(self, body: BodyStream) -> Result<Reply, ApiError> {
        let level = parse::level(self.asked)?;
        let prefer = Prefer::parse(self.asked.header("prefer")?);
        let at = parse::new_table(&self.small(body).await?, &self.asked.to.account)?;
        let op = self.caller.permit(CreateTable { at: at.clone() })?;
        done(service::create_table(self.core, op).await)?;
        let base = self.base();
        let location = format!("{base}/Tables('{}')", at.table);
        let made = || table::one(&at.table, &base, self.account(), level);
        Ok(self.made(level, prefer, location, made))
    }

    /// The answer to what made something: with it, or only with its address.
    fn made(
        &self,
        level: Level,
        prefer: Prefer,
        location: String,
        body: impl FnOnce() -> String,
    ) -> Reply {
        let version = self.asked.version;
        let location = Bytes::from(location);
        let reply = match prefer {
            Prefer::NoContent => render::plain(StatusCode::NO_CONTENT, version)
                .with_shared(header!("dataserviceid"), location.clone()),
            Prefer::Unsaid | Prefer::Content => {
                render::json(StatusCode::CREATED, level, body(), version)
            }
        };
        let reply = reply.with_shared(LOCATION, location);
        match prefer.applied() {
            Some(applied) => reply.with_text(header!("preference-applied"), applied),
            None => reply,
        }
    }

    async fn delete_table(self) -> Result<Reply, ApiError> {
        let op = self.caller.permit(DeleteTable { at: self.table()? })?;
        done(service::delete_table(self.core, op).await)?;
        Ok(render::plain(StatusCode::NO_CONTENT, self.asked.version))
    }

    async fn get_table_acl(self) -> Result<Reply, ApiError> {
        let op = self.caller.permit(GetTableAcl { at: self.table()? })?;
        let policies = done(service::get_table_acl(self.core, op).await)?;
        let document = access_policies::document(&policies);
        Ok(self.empty(StatusCode::OK).with_body("application/xml", document))
    }

    async fn set_table_acl(self, body: BodyStream) -> Result<Reply, ApiError> {
        let document = xml::collect(body, self.asked.content_length).await?;
        let policies = access_policies::parse(&document, PERMISSIONS)?;
        let op = self.caller.permit(SetTableAcl { at: self.table()?, policies })?;
        done(service::set_table_acl(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    fn place<'b>(
        &'b self,
        base: &'b str,
        table: &'b TableName,
        level: Level,
        select: &'b [String],
    ) -> Place<'b> {
        Place { base, account: self.account(), table, level, select }
    }

    async fn query_entities(self) -> Result<Reply, ApiError> {
        let level = parse::level(self.asked)?;
        let select = parse::select(self.asked)?;
        let at = self.table()?;
        let op = self.caller.permit(parse::query_entities(self.asked, &at)?)?;
        let page = done(service::query_entities(self.core, op).await)?;
        let base = self.base();
        let body = entity::list(&page.entities, self.place(&base, &at.table, level, &select));
        let reply = render::json(StatusCode::OK, level, body, self.asked.version);
        let Some(next) = page.next else { return Ok(reply) };
        Ok(reply
            .with(header!("x-ms-continuation-nextpartitionkey"), token::make(next.partition()))
            .with(header!("x-ms-continuation-nextrowkey"), token::make(next.row())))
    }

    async fn get_entity(self) -> Result<Reply, ApiError> {
        let Target::Entity { at, partition, row } = self.target else {
            return Err(ApiError::invalid_uri());
        };
        let level = parse::level(self.asked)?;
        let select = parse::select(self.asked)?;
        let key = EntityKey::new(partition, row)
            .map_err(|refusal| ApiError::from(zaffre_domain::Refusal::from(refusal)))?;
        let op = self.caller.permit(GetEntity { at: at.clone(), key })?;
        let found = done(service::get_entity(self.core, op).await)?;
        let base = self.base();
        let body = entity::one(&found, self.place(&base, &at.table, level, &select));
        let reply = render::json(StatusCode::OK, level, body, self.asked.version);
        Ok(reply.with_shared(ETAG, etag(found.written).into()))
    }

    async fn write_entity(self, kind: Kind, body: BodyStream) -> Result<Reply, ApiError> {
        let level = parse::level(self.asked)?;
        let prefer = Prefer::parse(self.asked.header("prefer")?);
        let body = self.small(body).await?;
        let if_none_match = self.asked.header("if-none-match")?;
        let conditions =
            parse::Conditions { if_none_match, if_match: self.asked.header("if-match")? };
        let op = parse::write(kind, self.target, conditions, &body)?;
        let at = op.at.clone();
        let op = self.caller.permit(op)?;
        let wrote = done(service::write_entity(self.core, op).await)?;
        let version = self.asked.version;
        Ok(match wrote {
            Wrote::Gone => render::plain(StatusCode::NO_CONTENT, version),
            Wrote::Entity(found) if kind == Kind::InsertEntity => {
                let base = self.base();
                let place = self.place(&base, &at.table, level, &[]);
                let mut location = base.clone();
                location.push('/');
                place.push_link(&mut location, &found.key);
                let reply = self.made(level, prefer, location, || entity::one(&found, place));
                reply.with_shared(ETAG, etag(found.written).into())
            }
            Wrote::Entity(found) => {
                let tag = etag(found.written).into();
                render::plain(StatusCode::NO_CONTENT, version).with_shared(ETAG, tag)
            }
        })
    }

    /// Lets one write of a batch through, with the ACL of its table.
    pub(crate) fn permit_write(
        &self,
        op: WriteEntity,
    ) -> Result<zaffre_auth::Authorized<WriteEntity>, ApiError> {
        self.caller.permit(op)
    }
}
