//! Requests to a bucket.

use crate::STORE;
use crate::options::{Checksum, Options};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use rusty_s3::actions::list_objects_v2::ListObjectsContent;
use rusty_s3::actions::{DeleteObjectsResponse, ListObjectsV2, ObjectIdentifier};
use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use std::time::Duration;
use stowplan_model::{Capabilities, Operation, Settings};
use stowplan_stores::kv::{Rows, Visit, shown};
use stowplan_stores::options::Value;
use stowplan_stores::remote::{self, Remote};
use stowplan_stores::{Found, Key, Result, StoreError};
use ureq::http::{Request, Response};
use ureq::{Agent, AsSendBody};
use url::Url;

/// How long a signed request may be used.
const SIGNED: Duration = Duration::from_secs(600);

/// Objects of this prefix name what was made; each holds whose it is.
const MADE: &str = "stowplan-made/";

const CHECKSUM: &str = "x-amz-checksum-crc32c";

/// Objects that one request lists or deletes: the most that the protocol allows.
const AT_ONCE: usize = 1_000;

/// The longest answer that is not a value.
const LONGEST_LIST: u64 = 16 << 20;

pub(crate) struct Server {
    agent: Agent,
    bucket: Bucket,
    credentials: Credentials,
    options: Options,
    name: String,
}

type Answer = Response<ureq::Body>;

#[cold]
fn failed(action: &str, why: impl Into<String>) -> StoreError {
    StoreError::engine(action, why)
}

/// The bucket of a URL, and who asks. Nothing of it is told where it is wrong: that could be the secret.
fn bucket_of(text: &str) -> Option<(Bucket, Credentials)> {
    let url = Url::parse(text).ok()?;
    let name = url.path().trim_matches('/').to_owned();
    let region = url.query_pairs().find(|(name, _)| name == "region");
    let region = region.map_or("us-east-1".to_owned(), |(_, region)| region.into_owned());
    let decoded = |text| percent_decode_str(text).decode_utf8().ok();
    let (user, password) = (decoded(url.username())?, decoded(url.password()?)?);
    let credentials = Credentials::new(user, password);
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
    fn object(&self, key: Key) -> String {
        format!("{}/{:016x}", self.name, key.0)
    }

    /// The answer to an action, if its status is one of these; what the server says of another one. All
    /// headers are signed.
    fn ask<'a, A: S3Action<'a>>(
        &self,
        name: &str,
        mut action: A,
        headers: &[(&'static str, String)],
        body: impl AsSendBody,
        fine: &[u16],
    ) -> Result<Answer> {
        for (header, value) in headers {
            action.headers_mut().insert(*header, value.clone());
        }
        let request = Request::builder().method(A::METHOD.to_str());
        let request = request.uri(action.sign(SIGNED).as_str());
        let request = headers.iter().fold(request, |request, (header, value)| {
            request.header(*header, value)
        });
        let request = request.body(body).map_err(ureq::Error::from);
        let mut answer = match request.and_then(|request| self.agent.run(request)) {
            Ok(answer) => answer,
            Err(ureq::Error::Timeout(_)) => {
                return Err(remote::no_answer(name, self.options.timeout));
            }
            Err(error) => return Err(failed(name, without_query(&error.to_string()))),
        };
        let status = answer.status().as_u16();
        if fine.contains(&status) {
            return Ok(answer);
        }
        let said = answer.body_mut().read_to_string().unwrap_or_default();
        let code = said.split("<Code>").nth(1);
        let code = code.and_then(|rest| rest.split('<').next());
        let why = format!("status {status} {}", code.unwrap_or("and no word why"));
        Err(failed(name, why))
    }

    /// Puts an object; with `new`, only where there is none: whether it did.
    fn put_object(&self, object: &str, value: &[u8], new: bool) -> Result<bool> {
        let action = self.bucket.put_object(Some(&self.credentials), object);
        let mut headers = Vec::new();
        if self.options.checksum == Checksum::Crc32c {
            headers.push((CHECKSUM, checksum(value)));
        }
        if new {
            headers.push(("if-none-match", "*".to_owned()));
        }
        let mut answer = self.ask("put", action, &headers, value, &[200, 412])?;
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
        let action = self.bucket.get_object(Some(&self.credentials), object);
        let check = self.options.checksum == Checksum::Crc32c && range.is_none();
        let mut headers = Vec::new();
        if check {
            headers.push(("x-amz-checksum-mode", "ENABLED".to_owned()));
        }
        if let Some((from, to)) = range {
            headers.push(("range", format!("bytes={from}-{to}")));
        }
        let mut answer = self.ask("get", action, &headers, (), &[200, 206, 404, 416])?;
        let whole = answer.headers().get("content-range");
        let whole = whole.and_then(|text| text.to_str().ok()?.rsplit('/').next()?.parse().ok());
        let sum = answer.headers().get(CHECKSUM).cloned();
        let body = answer.body_mut().with_config().limit(u64::MAX);
        let bytes = body.read_to_vec();
        let bytes = bytes.map_err(|error| failed("get", error.to_string()))?;
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
    fn whole(&self, object: &str) -> Result<Option<Vec<u8>>> {
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

    fn delete(&self, object: &str) -> Result<()> {
        let action = self.bucket.delete_object(Some(&self.credentials), object);
        let gone = self.ask("delete", action, &[], (), &[200, 204, 404]);
        gone.map(drop)
    }

    fn delete_all(&self, objects: Vec<ListObjectsContent>) -> Result<()> {
        let named = |object: ListObjectsContent| ObjectIdentifier::new(object.key);
        let objects: Vec<_> = objects.into_iter().map(named).collect();
        let credentials = Some(&self.credentials);
        let mut action = self.bucket.delete_objects(credentials, objects.iter());
        action.set_quiet(true);
        let (body, digest) = action.clone().body_with_md5();
        let digest = [("content-md5", digest)];
        let mut answer = self.ask("delete", action, &digest, body.as_bytes(), &[200])?;
        let wrong = |error: String| failed("delete", error);
        let text = answer.body_mut().read_to_string();
        let text = text.map_err(|error| wrong(error.to_string()))?;
        let told = DeleteObjectsResponse::parse(&text).map_err(|error| wrong(error.to_string()))?;
        match told.errors.first() {
            Some(left) => Err(wrong(format!(
                "{}: {} {}",
                left.key, left.code, left.message
            ))),
            None => Ok(()),
        }
    }

    /// Shows the objects of a prefix behind a name, up to `most`: those of one answer at a time.
    fn pages(
        &self,
        prefix: &str,
        after: &str,
        most: usize,
        show: &mut dyn FnMut(Vec<ListObjectsContent>) -> Result<()>,
    ) -> Result<()> {
        let (mut last, mut left) = (after.to_owned(), most);
        while left > 0 {
            let mut action: ListObjectsV2<'_> =
                self.bucket.list_objects_v2(Some(&self.credentials));
            action.with_prefix(prefix);
            action.with_max_keys(left.min(AT_ONCE));
            if !last.is_empty() {
                action.with_start_after(last.clone());
            }
            let wrong = |error: String| failed("list", error);
            let mut answer = self.ask("list", action, &[], (), &[200])?;
            let body = answer.body_mut().with_config().limit(LONGEST_LIST);
            let text = body.read_to_string();
            let text = text.map_err(|error| wrong(error.to_string()))?;
            let some = ListObjectsV2::parse_response(&text);
            let some = some.map_err(|error| wrong(error.to_string()))?;
            let Some(end) = some.contents.last() else {
                break;
            };
            last.clone_from(&end.key);
            left = left.saturating_sub(some.contents.len());
            show(some.contents)?;
            if some.next_continuation_token.is_none() {
                break;
            }
        }
        Ok(())
    }
}

/// A message without what stands behind the `?` of a URL: the signature.
fn without_query(message: &str) -> String {
    let words = message.split(' ').map(|word| word.split('?').next());
    words.flatten().collect::<Vec<_>>().join(" ")
}

impl Remote for Server {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "objects of a bucket behind the S3 protocol, by a connection for each thread";
    /// The version that Cargo.toml asks for, exactly.
    const CLIENT: (&'static str, &'static str) = ("rusty-s3", "0.11.0");
    type Options = Options;

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

    fn connect(options: &Options, name: &str, effective: &mut Settings) -> Result<Self> {
        let (bucket, credentials) = remote::address(options.url, "a bucket", bucket_of)?;
        let limit = Duration::from_secs(options.timeout);
        // The environment's proxy would be measured as well.
        let config = Agent::config_builder()
            .timeout_global(Some(limit))
            .proxy(None);
        let config = config.http_status_as_error(false).max_idle_connections(1);
        let server = Self {
            agent: config.build().into(),
            bucket,
            credentials,
            options: *options,
            name: name.to_owned(),
        };
        let head = server.bucket.head_bucket(Some(&server.credentials));
        let answer = server.ask("find the bucket", head, &[], (), &[200, 404])?;
        let said = answer.headers().get("server");
        let said = said.and_then(|said| said.to_str().ok()).unwrap_or_default();
        effective.set("server", Value::Word(said.to_owned()));
        if answer.status() == 404 {
            let make = server.bucket.create_bucket(&server.credentials);
            server.ask("make the bucket", make, &[], &[][..], &[200, 409])?;
        }
        Ok(server)
    }

    fn make(&mut self, owner: &str) -> Result<()> {
        let note = format!("{MADE}{}", self.name);
        self.put_object(&note, owner.as_bytes(), true).map(drop)
    }

    fn made(&mut self) -> Result<Vec<(String, String)>> {
        let mut made = Vec::new();
        self.pages(MADE, "", usize::MAX, &mut |notes| {
            for note in notes {
                if let Some(owner) = self.whole(&note.key)? {
                    let owner = String::from_utf8_lossy(&owner).into_owned();
                    made.push((note.key.trim_start_matches(MADE).to_owned(), owner));
                }
            }
            Ok(())
        })?;
        Ok(made)
    }

    fn remove_store(&mut self, name: &str) -> Result<()> {
        self.pages(&format!("{name}/"), "", usize::MAX, &mut |objects| {
            self.delete_all(objects)
        })?;
        self.delete(&format!("{MADE}{name}"))
    }

    fn bytes(&mut self) -> Result<u64> {
        let mut bytes = 0;
        self.pages(&format!("{}/", self.name), "", usize::MAX, &mut |objects| {
            let sizes = objects.iter().filter_map(|object| object.size);
            bytes += sizes.sum::<u64>();
            Ok(())
        })?;
        Ok(bytes)
    }
}

impl Rows for Server {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        shown(self.whole(&self.object(key))?.as_deref(), show)
    }

    /// A list of names, and a request for each value.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let before = self.object(Key(from.0.saturating_sub(1)));
        let (prefix, mut scanned) = (format!("{}/", self.name), 0);
        self.pages(&prefix, &before, limit, &mut |objects| {
            for object in &objects {
                let number = object.key.strip_prefix(&prefix).unwrap_or_default();
                let number = u64::from_str_radix(number, 16);
                let (Ok(number), Some(value)) = (number, self.whole(&object.key)?) else {
                    return Err(failed("scan", format!("{} is no value", object.key)));
                };
                visit(Key(number), &value);
            }
            scanned += objects.len();
            Ok(())
        })?;
        Ok(scanned)
    }

    /// The protocol has no replacing of what must be there: one that is not is made.
    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.put_object(&self.object(key), value, !there)
    }

    /// The protocol does not tell whether it was there.
    fn remove(&mut self, key: Key) -> Result<bool> {
        self.delete(&self.object(key)).map(|()| true)
    }
}
