//! Requests and answers of the gateway: what leaves was privatized or has a pattern.

use std::sync::{Arc, LazyLock, Mutex};

use brr::{Budget, MechanismKind, Options, Privatizer, Session};
use brr_gateway::answer::{self, Stream};
use brr_gateway::policy::{DEFAULT, Policy};
use brr_gateway::reader;
use brr_gateway::refusal::Api;
use brr_gateway::restore::Originals;
use brr_gateway::sse::Events;
use serde_json::Value;

use crate::text::plain_model;

/// A word that no model knows, which stands all over the seeds.
const CANARY: &str = "zqvcanaryvqz";

/// What is public has no other characters, and is not longer.
const PUBLIC: &str = "._:/@-#$";
const LONGEST: usize = 128;

static POLICY: LazyLock<Policy> = LazyLock::new(|| Policy::parse(DEFAULT).expect("a policy"));

/// Words by codes, and words by the tree with numbers as numbers.
static PRIVATIZERS: LazyLock<[Arc<Privatizer>; 2]> = LazyLock::new(|| {
    let options = Options::default()
        .with_mechanism(MechanismKind::Brr)
        .with_budget(Budget::Epsilon(0.4));
    let codes = Privatizer::new(plain_model(), options).expect("a sound budget");
    let tree = "epsilon = 1.0\nnumbers = { low = 0, high = 1000, scale = 50 }";
    let tree = Policy::parse(tree).expect("a policy");
    [Arc::new(codes), tree.load().expect("the built-in model")]
});

/// The first byte chooses the interface, and whether the rest is a request, an answer or a stream,
/// whether answers are JSON, and which privatizer it is.
pub fn prompts(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let api = [Api::OpenAi, Api::Anthropic][usize::from(choice & 1)];
    let json = choice >> 3 & 1 == 1;
    let privatizer = &PRIVATIZERS[usize::from(choice >> 4 & 1)];
    let mut session = Session::new(privatizer.clone()).expect("a session");
    match choice >> 1 & 3 {
        0 => answer_whole(api, rest, originals(session, json)),
        1 => answer_streamed(api, rest, originals(session, json)),
        _ => request(api, rest, &mut session),
    }
}

fn request(api: Api, body: &[u8], session: &mut Session) {
    match reader::read(api, body, &POLICY, session) {
        Err(refusal) => assert!(!refusal.message.contains(CANARY), "text in an error"),
        Ok(prepared) => {
            let kept: Value = serde_json::from_slice(&prepared.body).expect("JSON");
            let given: Value = serde_json::from_slice(body).expect("JSON");
            assert_eq!(prepared.stream, given["stream"] == true);
            check(&kept);
        }
    }
}

/// Wherever the canary is left, there is nothing that a pattern would not let through.
fn check(value: &Value) {
    let public = |text: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || PUBLIC.contains(c);
        !text.contains(CANARY) || text.len() <= LONGEST && text.chars().all(fits)
    };
    match value {
        Value::String(text) => assert!(public(text), "text was forwarded"),
        Value::Array(elements) => elements.iter().for_each(check),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            assert!(public(key), "text was forwarded as a name");
            check(value);
        }),
        _ => {}
    }
}

/// What restores by a session that knows the canary and numbers, so that there is something to restore.
fn originals(mut session: Session, json: bool) -> Originals {
    session
        .privatize(&format!("{CANARY} 47 078-05-1120"))
        .expect("entropy");
    Originals::new(Arc::new(Mutex::new(session)), json)
}

fn answer_whole(api: Api, body: &[u8], originals: Originals) {
    if let Ok(mut answer) = serde_json::from_slice::<Value>(body) {
        answer::whole(api, &mut answer, &originals);
    }
}

/// A stream comes out the same, however its bytes are cut.
fn answer_streamed(api: Api, bytes: &[u8], originals: Originals) {
    let restored = |length: usize| {
        let (mut events, mut stream) = (Events::default(), Stream::new(api, originals.clone()));
        let mut out = String::new();
        for piece in bytes.chunks(length) {
            let Ok(read) = events.push(piece) else {
                return None;
            };
            for event in read {
                let events = stream.event(event).ok()?;
                events.iter().for_each(|event| out.push_str(&event.write()));
            }
        }
        Some((out, stream.is_ended(), stream.restored()))
    };
    assert_eq!(restored(bytes.len().max(1)), restored(7));
}
