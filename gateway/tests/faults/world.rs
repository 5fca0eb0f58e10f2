//! A gateway in this process, an upstream on loopback that does as it is told, and a client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brr_gateway::conversations::Conversations;
use brr_gateway::guard::Guard;
use brr_gateway::policy::{DEFAULT, Policy};
use brr_gateway::receipt::Today;
use brr_gateway::serve::{Gateway, serve};
use brr_gateway::upstream::{Base, Upstream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

/// How long the gateway waits for a byte in these tests.
pub const PATIENCE: Duration = Duration::from_millis(700);

/// What an upstream does with a connection whose request it has read.
type Behaviour = Arc<dyn Fn(&mut TcpStream, &str) + Send + Sync>;

pub struct World {
    _runtime: Runtime,
    pub address: SocketAddr,
    /// The bodies that arrived upstream.
    pub arrived: Arc<Mutex<Vec<String>>>,
    /// What the upstream found when its behaviour had ended.
    pub ended: Receiver<()>,
}

impl World {
    pub fn new(behave: impl Fn(&mut TcpStream, &str) + Send + Sync + 'static) -> World {
        World::with_policy(DEFAULT, behave)
    }

    pub fn with_policy(
        policy: &str,
        behave: impl Fn(&mut TcpStream, &str) + Send + Sync + 'static,
    ) -> World {
        let arrived = Arc::new(Mutex::new(Vec::new()));
        let (upstream, ended) = upstream(Arc::new(behave), arrived.clone());
        let base = Base::parse(&format!("http://{upstream}")).unwrap();
        let policy = Policy::parse(policy).unwrap();
        let runtime = Runtime::new().unwrap();
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let gateway = Gateway {
            guard: Guard::new(address, false, None, &[]).unwrap(),
            privatizer: policy.load(),
            conversations: Conversations::new(policy.limits().into()).unwrap(),
            policy,
            upstream: Upstream::new([Some(base.clone()), Some(base)], PATIENCE).unwrap(),
            today: Today::default(),
            patience: PATIENCE,
            turns: Semaphore::new(2),
        };
        runtime.spawn(serve(listener, Arc::new(gateway)));
        World {
            _runtime: runtime,
            address,
            arrived,
            ended,
        }
    }

    /// Sends bytes; all that comes back until the gateway closes the connection.
    pub fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // A gateway that has heard enough may close early.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// Posts a body of OpenAI's interface.
    pub fn post(&self, path: &str, headers: &str, body: &str) -> String {
        self.send(request(path, headers, body).as_bytes())
    }

    pub fn count(&self) -> usize {
        self.arrived.lock().unwrap().len()
    }
}

pub fn request(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer sk-test\r\n\
         content-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A message of OpenAI's interface.
pub fn asked(text: &str, stream: bool) -> String {
    serde_json::json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": text}]}).to_string()
}

fn upstream(behave: Behaviour, arrived: Arc<Mutex<Vec<String>>>) -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (ended, receiver) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (behave, arrived, ended) = (behave.clone(), arrived.clone(), ended.clone());
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                while let Some(body) = read_request(&mut stream) {
                    arrived.lock().unwrap().push(body.clone());
                    behave(&mut stream, &body);
                    let _ = ended.send(());
                }
            });
        }
    });
    (address, receiver)
}

/// The body of the next request on a connection.
fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        bytes.push(byte[0]);
    }
    let head = String::from_utf8(bytes).ok()?.to_ascii_lowercase();
    let length = head
        .split("content-length: ")
        .nth(1)?
        .split("\r\n")
        .next()?
        .parse()
        .ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

/// What the first message of a body says.
pub fn first_message(body: &str) -> String {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    body["messages"][0]["content"].as_str().unwrap().to_owned()
}

pub fn answer_json(stream: &mut TcpStream, text: &str) {
    let message = serde_json::json!({"role": "assistant", "content": text});
    let choices = serde_json::json!([{"index": 0, "message": message, "finish_reason": "stop"}]);
    write_json(stream, &serde_json::json!({"id": "x", "choices": choices}));
}

pub fn write_json(stream: &mut TcpStream, body: &serde_json::Value) {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

pub const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// An event in a chunk of its own.
pub fn chunk(data: &str) -> String {
    let event = format!("data: {data}\n\n");
    format!("{:x}\r\n{event}\r\n", event.len())
}

/// A piece of an answer.
pub fn piece(text: &str) -> String {
    let data = serde_json::json!({"id": "x", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
    chunk(&data.to_string())
}
