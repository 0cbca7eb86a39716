//! Requests to a bucket.

use crate::STORE;
use crate::options::{Checksum, Options};
use crate::session::S3Session;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusty_s3::actions::{ListObjectsV2, ListObjectsV2Response};
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use std::time::Duration;
use stowplan_model::{Capabilities, Operation, Settings};
use stowplan_stores::options::Value;
use stowplan_stores::remote::{self, Remote};
use stowplan_stores::{Key, Result, StoreError};
use ureq::Agent;
use ureq::http::Response;
use url::Url;

/// What Cargo.toml asks for, exactly.
const CLIENT_VERSION: &str = "0.11.0";

/// How long a signed request may be used.
const SIGNED: Duration = Duration::from_secs(600);

/// Objects of this prefix name what was made; each holds whose it is.
const MADE: &str = "stowplan-made/";

const CHECKSUM: &str = "x-amz-checksum-crc32c";

/// The longest answer that is not a value.
const LONGEST_LIST: u64 = 16 << 20;

pub(crate) struct Server {
    agent: Agent,
    bucket: Bucket,
    credentials: Credentials,
    pub(crate) options: Options,
    name: String,
    effective: Settings,
}

type Answer = Response<ureq::Body>;

#[cold]
fn failed(action: &str, why: impl Into<String>) -> StoreError {
    StoreError::engine(STORE, action, why)
}

/// The bucket of a URL, and who asks. Nothing of it is told where it is wrong: that could be the secret.
fn bucket_of(text: &str) -> Option<(Bucket, Credentials)> {
    let url = Url::parse(text).ok()?;
    let name = url.path().trim_matches('/').to_owned();
    let region = url.query_pairs().find(|(name, _)| name == "region");
    let region = region.map_or("us-east-1".to_owned(), |(_, region)| region.into_owned());
    let credentials = Credentials::new(url.username(), url.password()?);
    let mut endpoint = url.clone();
    endpoint.set_path("");
    endpoint.set_query(None);
    endpoint.set_username("").ok()?;
    endpoint.set_password(None).ok()?;
    let bucket = Bucket::new(endpoint, UrlStyle::Path, name, region).ok()?;
    Some((bucket, credentials))
}

/// Of these bytes, as the protocol has it.
fn checksum(bytes: &[u8]) -> String {
    STANDARD.encode(crc32c::crc32c(bytes).to_be_bytes())
}

impl Server {
    /// The name of a value's object; names are in the order of keys.
    pub(crate) fn object(&self, key: Key) -> String {
        format!("{}/{:016x}", self.name, key.0)
    }

    /// The answer, if its status is one of these; what the server says of another one.
    fn answered(
        &self,
        action: &str,
        answer: std::result::Result<Answer, ureq::Error>,
        fine: &[u16],
    ) -> Result<Answer> {
        let mut answer = match answer {
            Ok(answer) => answer,
            Err(ureq::Error::Timeout(_)) => {
                let why = format!(
                    "the server did not answer within {} s",
                    self.options.timeout
                );
                return Err(failed(action, why));
            }
            // What it tells of a URL would hold a signature.
            Err(error) => return Err(failed(action, error.to_string().replace('?', " "))),
        };
        let status = answer.status().as_u16();
        if fine.contains(&status) {
            return Ok(answer);
        }
        let said = answer.body_mut().read_to_string().unwrap_or_default();
        let code = said
            .split("<Code>")
            .nth(1)
            .and_then(|rest| rest.split('<').next());
        Err(failed(
            action,
            format!("status {status} {}", code.unwrap_or_default()),
        ))
    }

    /// Puts an object; with `new`, only where there is none: whether it did.
    pub(crate) fn put(&self, object: &str, value: &[u8], new: bool) -> Result<bool> {
        let mut action = self.bucket.put_object(Some(&self.credentials), object);
        let sum = checksum(value);
        let check = self.options.checksum == Checksum::Crc32c;
        if check {
            action.headers_mut().insert(CHECKSUM, sum.as_str());
        }
        let mut request = self.agent.put(action.sign(SIGNED).as_str());
        if check {
            request = request.header(CHECKSUM, &sum);
        }
        if new {
            request = request.header("if-none-match", "*");
        }
        let mut answer = self.answered("put", request.send(value), &[200, 412])?;
        // Only a connection whose answer was read is used again.
        let _ = answer.body_mut().read_to_vec();
        Ok(answer.status() == 200)
    }

    /// Appends an object, or a range of it, to `value`; the bytes that the whole has, if it is there.
    fn get_part(
        &self,
        object: &str,
        range: Option<(u64, u64)>,
        value: &mut Vec<u8>,
    ) -> Result<Option<u64>> {
        let mut action = self.bucket.get_object(Some(&self.credentials), object);
        let check = self.options.checksum == Checksum::Crc32c && range.is_none();
        if check {
            action
                .headers_mut()
                .insert("x-amz-checksum-mode", "ENABLED");
        }
        let mut request = self.agent.get(action.sign(SIGNED).as_str());
        if check {
            request = request.header("x-amz-checksum-mode", "ENABLED");
        }
        if let Some((from, to)) = range {
            request = request.header("range", format!("bytes={from}-{to}"));
        }
        let mut answer = self.answered("get", request.call(), &[200, 206, 404, 416])?;
        let whole = answer.headers().get("content-range");
        let whole = whole.and_then(|text| text.to_str().ok()?.rsplit('/').next()?.parse().ok());
        let sum = answer.headers().get(CHECKSUM).cloned();
        let read = answer
            .body_mut()
            .with_config()
            .limit(u64::MAX)
            .read_to_vec();
        let bytes = read.map_err(|error| failed("get", error.to_string()))?;
        match answer.status().as_u16() {
            404 => return Ok(None),
            // An empty object has no range.
            416 => return Ok(Some(0)),
            _ => {}
        }
        if check && sum.is_none_or(|sum| sum.as_bytes() != checksum(&bytes).as_bytes()) {
            let why = format!("{object} came with another checksum than it was put with, or none");
            return Err(failed("get", why));
        }
        let whole = whole.unwrap_or(bytes.len() as u64);
        value.extend(bytes);
        Ok(Some(whole))
    }

    /// The value of an object, if it is there.
    pub(crate) fn get(&self, object: &str) -> Result<Option<Vec<u8>>> {
        let (mut value, step) = (Vec::new(), self.options.range);
        if step == 0 {
            return Ok(self.get_part(object, None, &mut value)?.map(|_| value));
        }
        loop {
            let from = value.len() as u64;
            match self.get_part(object, Some((from, from + step - 1)), &mut value)? {
                None => return Ok(None),
                Some(whole) if value.len() as u64 >= whole => return Ok(Some(value)),
                Some(_) if value.len() as u64 == from => {
                    return Err(failed("get", format!("{object} ends early")));
                }
                Some(_) => {}
            }
        }
    }

    pub(crate) fn delete(&self, object: &str) -> Result<()> {
        let action = self.bucket.delete_object(Some(&self.credentials), object);
        let answer = self.agent.delete(action.sign(SIGNED).as_str()).call();
        self.answered("delete", answer, &[200, 204, 404]).map(drop)
    }

    /// Names and sizes of objects of a prefix behind a name: as many as one answer has, up to `most`.
    pub(crate) fn list(
        &self,
        prefix: &str,
        after: &str,
        most: usize,
    ) -> Result<Vec<(String, u64)>> {
        let mut action: ListObjectsV2<'_> = self.bucket.list_objects_v2(Some(&self.credentials));
        action.with_prefix(prefix);
        action.with_max_keys(most.min(1_000));
        if !after.is_empty() {
            action.with_start_after(after);
        }
        let answer = self.agent.get(action.sign(SIGNED).as_str()).call();
        let mut answer = self.answered("list", answer, &[200])?;
        let text = answer
            .body_mut()
            .with_config()
            .limit(LONGEST_LIST)
            .read_to_string();
        let text = text.map_err(|error| failed("list", error.to_string()))?;
        let list: ListObjectsV2Response = ListObjectsV2::parse_response(&text)
            .map_err(|error| failed("list", error.to_string()))?;
        let objects = list.contents.into_iter();
        Ok(objects
            .map(|object| (object.key, object.size.unwrap_or(0)))
            .collect())
    }

    /// Shows every object of a prefix.
    fn every(&self, prefix: &str, show: &mut dyn FnMut(&str, u64) -> Result<()>) -> Result<()> {
        let mut last = String::new();
        loop {
            let some = self.list(prefix, &last, 1_000)?;
            let Some((name, _)) = some.last() else {
                return Ok(());
            };
            last.clone_from(name);
            some.iter().try_for_each(|(name, size)| show(name, *size))?;
        }
    }
}

impl Remote for Server {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "objects of a bucket behind the S3 protocol, by a connection for each thread";
    type Options = Options;
    type Session<'c> = S3Session<'c>;

    fn client() -> (&'static str, String) {
        ("rusty-s3", CLIENT_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        use Operation::{Delete, Insert, Overwrite, Read, Scan};
        Capabilities {
            operations: vec![Read, Overwrite, Insert, Delete, Scan],
            durability: options.durability(),
            // Of one request.
            largest_value: Some(5_000_000_000),
            ..remote::capabilities()
        }
    }

    fn connect(options: &Options, name: &str) -> Result<Self> {
        let text = remote::secret(STORE, options.url)?;
        let (bucket, credentials) = bucket_of(&text).ok_or_else(|| {
            failed(
                "find its server",
                format!("{} holds no URL of a bucket", options.url),
            )
        })?;
        let limit = Duration::from_secs(options.timeout);
        let config = Agent::config_builder().timeout_global(Some(limit));
        let config = config.http_status_as_error(false).max_idle_connections(1);
        let server = Self {
            agent: config.build().into(),
            bucket,
            credentials,
            options: *options,
            name: name.to_owned(),
            effective: Settings::default(),
        };
        let head = server.bucket.head_bucket(Some(&server.credentials));
        let answer = server.agent.head(head.sign(SIGNED).as_str()).call();
        let answer = server.answered("find the bucket", answer, &[200, 404])?;
        let said = answer.headers().get("server");
        let said = said
            .and_then(|said| said.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        if answer.status() == 404 {
            let make = server.bucket.create_bucket(&server.credentials);
            let made = server.agent.put(make.sign(SIGNED).as_str()).send_empty();
            server.answered("make the bucket", made, &[200, 409])?;
        }
        let mut server = server;
        server.effective.set("server", Value::Word(said));
        Ok(server)
    }

    fn make(&mut self, owner: &str) -> Result<()> {
        let note = format!("{MADE}{}", self.name);
        self.put(&note, owner.as_bytes(), true).map(drop)
    }

    fn made(&mut self) -> Result<Vec<(String, String)>> {
        let mut names = Vec::new();
        self.every(MADE, &mut |note, _| {
            names.push(note.trim_start_matches(MADE).to_owned());
            Ok(())
        })?;
        let mut made = Vec::new();
        for name in names {
            if let Some(owner) = self.get(&format!("{MADE}{name}"))? {
                made.push((name, String::from_utf8_lossy(&owner).into_owned()));
            }
        }
        Ok(made)
    }

    fn remove(&mut self, name: &str) -> Result<()> {
        self.every(&format!("{name}/"), &mut |object, _| self.delete(object))?;
        self.delete(&format!("{MADE}{name}"))
    }

    fn bytes(&mut self) -> Result<u64> {
        let mut bytes = 0;
        self.every(&format!("{}/", self.name), &mut |_, size| {
            bytes += size;
            Ok(())
        })?;
        Ok(bytes)
    }

    fn effective_settings(&self) -> Settings {
        self.effective.clone()
    }

    fn session(&mut self) -> Result<S3Session<'_>> {
        Ok(S3Session(self))
    }
}
