//! Upstreams and clients that misbehave: each ends in a clean error, and nothing of one conversation
//! comes into another.

mod world;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use world::{
    PATIENCE, STREAM, World, answer_json, asked, chunk, first_message, piece, request, write_json,
};

const CHAT: &str = "/v1/chat/completions";

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// Whether an answer is an error in the interface's own form, and says this.
fn is_error(answer: &str, expected: &str, says: &str) {
    assert_eq!(status(answer), expected, "{answer}");
    assert!(
        answer.contains(r#""error":{"message":"brr-gateway: "#) && answer.contains(says),
        "{answer}"
    );
}

#[test]
fn an_answer_comes_back_with_the_originals() {
    let world =
        World::new(|stream, body| answer_json(stream, &format!("It was {}!", first_message(body))));
    let answer = world.post(CHAT, "", &asked("qwxzv", false));
    assert!(
        status(&answer) == "200" && answer.contains("It was qwxzv!"),
        "{answer}"
    );
    assert!(answer.contains("x-brr-receipt: words=1; loss="), "{answer}");
    assert!(!world.arrived.lock().unwrap()[0].contains("qwxzv"));
}

#[test]
fn a_surrogate_that_is_cut_across_chunks_is_restored() {
    let world = World::new(|stream, body| {
        let _ = stream.write_all(STREAM.as_bytes());
        for c in format!("It was {}!", first_message(body)).chars() {
            let _ = stream.write_all(piece(&c.to_string()).as_bytes());
        }
        let _ = stream.write_all(format!("{}0\r\n\r\n", chunk("[DONE]")).as_bytes());
    });
    let answer = world.post(CHAT, "", &asked("qwxzv", true));
    let texts = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: {"));
    let texts =
        texts.map(|json| serde_json::from_str::<serde_json::Value>(&format!("{{{json}")).unwrap());
    let said: String = texts
        .map(|event| {
            event["choices"][0]["delta"]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(said, "It was qwxzv!");
    assert!(answer.contains("data: [DONE]"));
}

#[test]
fn an_upstream_that_stalls_is_told() {
    let world = World::new(|_, _| std::thread::sleep(PATIENCE * 4));
    is_error(
        &world.post(CHAT, "", &asked("hi", false)),
        "504",
        "did not answer in time",
    );
    let world = World::new(|stream, _| {
        let _ = stream.write_all(format!("{STREAM}{}", piece("half ")).as_bytes());
        std::thread::sleep(PATIENCE * 4);
    });
    is_error(
        &world.post(CHAT, "", &asked("hi", true)),
        "200",
        "stopped within its answer",
    );
}

#[test]
fn an_upstream_that_breaks_off_is_told() {
    let shut = |stream: &mut TcpStream| stream.shutdown(std::net::Shutdown::Both).unwrap();
    let world = World::new(move |stream, _| shut(stream));
    is_error(&world.post(CHAT, "", &asked("hi", false)), "502", "broke");
    // Within a chunk, within an event, between events, and within a JSON answer.
    let half_chunk = format!("{STREAM}{}ff\r\ndata: {{\"ch", piece("a "));
    let half_event = format!("{STREAM}{}6\r\ndata: \r\n0\r\n\r\n", piece("a "));
    let no_end = format!("{STREAM}{}0\r\n\r\n", piece("a "));
    for (sent, says) in [
        (half_chunk, "broke off"),
        (half_event, "ended within"),
        (no_end, "ended within"),
    ] {
        let world = World::new(move |stream, _| {
            let _ = stream.write_all(sent.as_bytes());
            shut(stream);
        });
        let answer = world.post(CHAT, "", &asked("hi", true));
        is_error(&answer, "200", says);
        assert!(answer.contains("a "), "what came before stays: {answer}");
    }
    let world = World::new(move |stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"");
        shut(stream);
    });
    is_error(
        &world.post(CHAT, "", &asked("hi", false)),
        "502",
        "broke off",
    );
}

#[test]
fn an_upstream_that_talks_nonsense_is_told() {
    for (sent, says) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "not JSON"),
        (
            "HTTP/1.1 500 Oops\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>",
            "answered 500",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
            "compressed",
        ),
        ("SMTP ready\r\n\r\n", "broke"),
    ] {
        let world = World::new(move |stream, _| stream.write_all(sent.as_bytes()).unwrap());
        is_error(&world.post(CHAT, "", &asked("hi", false)), "502", says);
    }
    let world = World::new(|stream, _| {
        let _ = stream.write_all(format!("{STREAM}{}", chunk("nonsense")).as_bytes());
    });
    is_error(&world.post(CHAT, "", &asked("hi", true)), "200", "not JSON");
}

#[test]
fn bodies_that_are_long_slow_or_broken_never_leave() {
    let world = World::new(|stream, _| answer_json(stream, "no"));
    let long = asked(&"word ".repeat(20_000_000), false);
    is_error(&world.post(CHAT, "", &long), "413", "limits.body");
    // The same without its length at the beginning.
    let chunked = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                   connection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let parts = format!("100000\r\n{}\r\n", "x".repeat(1 << 20)).repeat(100);
    is_error(
        &world.send(format!("{chunked}{parts}0\r\n\r\n").as_bytes()),
        "413",
        "limits.body",
    );
    // A client that stops within its body.
    let whole = request(CHAT, "", &asked("hi there", false));
    is_error(
        &world.send(&whole.as_bytes()[..whole.len() - 5]),
        "408",
        "in time",
    );
    // One that stops within its headers is hung up on.
    assert!(
        !world
            .send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: loc")
            .contains("200 OK")
    );
    assert_eq!(world.count(), 0);
}

/// A client that takes nothing: the gateway lets go of the upstream, instead of holding all of the answer.
#[test]
fn a_client_that_takes_nothing_is_hung_up_on() {
    let world = World::new(|stream, _| {
        stream
            .set_write_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let _ = stream.write_all(STREAM.as_bytes());
        let piece = piece(&"word ".repeat(2000));
        // Ends when the gateway hangs up; 60 MB would be all of it.
        for _ in 0..6000 {
            if stream.write_all(piece.as_bytes()).is_err() {
                return;
            }
        }
        panic!("the gateway took all of it");
    });
    let mut client = TcpStream::connect(world.address).unwrap();
    client
        .write_all(request(CHAT, "", &asked("hi", true)).as_bytes())
        .unwrap();
    world
        .ended
        .recv_timeout(Duration::from_secs(60))
        .expect("the upstream was let go");
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
}

#[test]
fn a_client_that_goes_away_lets_the_upstream_go() {
    let world = World::new(|stream, _| {
        let _ = stream.write_all(STREAM.as_bytes());
        while stream.write_all(piece("word ").as_bytes()).is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut client = TcpStream::connect(world.address).unwrap();
    client
        .write_all(request(CHAT, "", &asked("hi", true)).as_bytes())
        .unwrap();
    client.read_exact(&mut [0; 20]).unwrap();
    drop(client);
    world
        .ended
        .recv_timeout(Duration::from_secs(60))
        .expect("the upstream was let go");
}

/// Two conversations at once, of which one breaks off: the other gets its own words alone.
#[test]
fn nothing_comes_into_another_conversation() {
    let world =
        World::new(|stream, body| answer_json(stream, &format!("It was {}.", first_message(body))));
    let begin = |who: &str| {
        world.post(
            CHAT,
            &format!("x-brr-conversation: {who}\r\n"),
            &asked(who, false),
        )
    };
    assert!(begin("alfa").contains("It was alfa."));
    assert!(begin("bravo").contains("It was bravo."));
    // What alfa's surrogate was says nothing in bravo's conversation, nor in one without a name.
    let surrogate = first_message(&world.arrived.lock().unwrap()[0]);
    let told = World::new(move |stream, _| answer_json(stream, &surrogate));
    assert!(
        !told
            .post(CHAT, "x-brr-conversation: bravo\r\n", &asked("x", false))
            .contains("alfa")
    );
    // The same name under another credential is another conversation.
    let other = request(CHAT, "x-brr-conversation: alfa\r\n", &asked("so", false))
        .replace("sk-test", "sk-other");
    assert!(world.send(other.as_bytes()).contains("conversation=new"));
    assert!(
        world
            .post(CHAT, "x-brr-conversation: alfa\r\n", &asked("alfa", false))
            .contains("loss=0.0; ")
    );
    let nobody = request(CHAT, "x-brr-conversation: alfa\r\n", &asked("alfa", false));
    let nobody = nobody.replace("authorization: Bearer sk-test\r\n", "");
    is_error(&world.send(nobody.as_bytes()), "400", "needs a credential");
}

#[test]
fn what_cannot_be_privatized_never_leaves() {
    let world = World::new(|stream, _| answer_json(stream, "no"));
    for (body, says) in [
        (r#"{"model": "m", "messages": ["#, "not JSON"),
        (r#"[1]"#, "has to be an object"),
        (r#"{"model": "my secret", "messages": []}"#, "request.model"),
        (
            r#"{"messages": [{"role": "qwxzv", "content": "a"}]}"#,
            "messages[0]: needs the role",
        ),
        (
            r#"{"messages": [{"role": "user", "content": "a", "qwxzv": "b"}]}"#,
            "messages[0]: has 1 field(s)",
        ),
        (
            r#"{"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "qwxzv"}}]}]}"#,
            "content[0]: is not text",
        ),
        (
            r#"{"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "qwxzv"}}]}]}"#,
            "not text",
        ),
        (
            r#"{"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_data": "qwxzv"}}]}]}"#,
            "not text",
        ),
        (
            r#"{"messages": [], "qwxzv": null}"#,
            "request: has 1 field(s)",
        ),
        (
            r#"{"messages": [], "metadata": {"a": "qwxzv"}}"#,
            "request.metadata",
        ),
        (
            r#"{"messages": [], "tools": [{"type": "web_search", "qwxzv": 1}]}"#,
            "tools[0]",
        ),
        (
            r#"{"messages": [], "tools": [{"type": "function", "function": {"name": "a b"}}]}"#,
            "tools[0].function.name",
        ),
        (
            r#"{"messages": [], "response_format": {"type": "json_schema", "json_schema": {"schema": {"pattern": "qwxzv"}}}}"#,
            "regular expression",
        ),
    ] {
        let answer = world.post(CHAT, "", body);
        is_error(&answer, "400", says);
        assert!(
            !answer.contains("qwxzv") && answer.contains("x-should-retry: false"),
            "{answer}"
        );
    }
    for (headers, expected) in [
        ("content-encoding: gzip\r\n", "400"),
        ("x-brr-conversation: a b\r\n", "400"),
        ("origin: http://evil.example\r\n", "403"),
    ] {
        is_error(
            &world.post(CHAT, headers, &asked("hi", false)),
            expected,
            "",
        );
    }
    is_error(
        &world.post("/v1/chat/completions?q=qwxzv", "", &asked("hi", false)),
        "400",
        "query",
    );
    is_error(
        &world.post("/v1/responses", "", &asked("hi", false)),
        "404",
        "passed on",
    );
    let rebound =
        request(CHAT, "", &asked("hi", false)).replace("host: localhost", "host: evil.example");
    is_error(&world.send(rebound.as_bytes()), "403", "Host");
    let text = request(CHAT, "", &asked("hi", false)).replace("application/json", "text/plain");
    is_error(&world.send(text.as_bytes()), "400", "application/json");
    assert_eq!(world.count(), 0);
}

#[test]
fn a_gateway_without_a_model_refuses() {
    let policy = "epsilon = 1.0\nmodel = '/nowhere/model.brr'";
    let world = World::with_policy(policy, |stream, _| answer_json(stream, "no"));
    is_error(
        &world.post(CHAT, "", &asked("hi", false)),
        "503",
        "nothing can be privatized",
    );
    let anthropic = world.post("/v1/messages", "", r#"{"messages": []}"#);
    assert!(
        status(&anthropic) == "503"
            && anthropic.contains(r#"{"type":"error","error":{"type":"api_error""#),
        "{anthropic}"
    );
    assert_eq!(world.count(), 0);
}

#[test]
fn the_policys_limits_hold() {
    let policy = "epsilon = 1.0\n[limits]\nloss = 40.0";
    let world = World::with_policy(policy, |stream, _| answer_json(stream, "fine"));
    let ask = |text: &str| world.post(CHAT, "x-brr-conversation: a\r\n", &asked(text, false));
    assert_eq!(status(&ask("one")), "200");
    assert_eq!(status(&ask("one one one")), "200");
    is_error(
        &ask("one two three four five six seven"),
        "403",
        "limit of the policy",
    );
    assert_eq!(world.count(), 2);
}

/// What was refused was not sent, so it is charged when it is.
#[test]
fn words_of_a_refused_request_are_charged_when_they_are_sent() {
    let world = World::new(|stream, _| answer_json(stream, "fine"));
    let ask = |body: &str| world.post(CHAT, "x-brr-conversation: a\r\n", body);
    let image = r#"{"model": "m", "messages": [{"role": "user", "content": "qwxzv"}, {"role": "user", "content": [{"type": "image_url"}]}]}"#;
    is_error(&ask(image), "400", "not text");
    let sent = ask(&asked("qwxzv", false));
    assert!(
        sent.contains("words=1; loss=15.0; session-loss=15.0; "),
        "{sent}"
    );
}

/// A refused request neither begins a conversation nor makes another go.
#[test]
fn refused_requests_leave_conversations_as_they_are() {
    let policy = "epsilon = 1.0\n[limits]\nconversations = 1";
    let world = World::with_policy(policy, |stream, _| answer_json(stream, "fine"));
    let ask = |name: &str, text: &str| {
        let body = asked(text, false);
        let body = match text {
            "" => body.replace("\"messages\"", "\"audio\": {}, \"messages\""),
            _ => body,
        };
        world.post(CHAT, &format!("x-brr-conversation: {name}\r\n"), &body)
    };
    assert!(ask("a", "qwxzv").contains("conversation=new"));
    assert_eq!(status(&ask("b", "")), "400");
    let sent = ask("a", "qwxzv");
    assert!(
        sent.contains("loss=0.0") && sent.contains("conversation=continued"),
        "{sent}"
    );
    assert_eq!(status(&ask("c", "")), "400");
    assert!(ask("c", "qwxzv").contains("conversation=new"));
}

/// Clients put the blocks of an answer together, and go on after a choice was said to have ended: an address
/// that begins in one piece takes nothing in the next.
#[test]
fn no_address_is_put_together_of_an_answers_pieces() {
    let link = "![a](https://evil.example/?q=";
    let world = World::new(move |stream, body| {
        let surrogate = first_message(body);
        let data = |delta: &str, reason: &str| {
            chunk(&format!(
                r#"{{"choices": [{{"index": 0, "delta": {{"content": "{delta}"}}, "finish_reason": {reason}}}]}}"#
            ))
        };
        let (begin, end) = (
            data(link, "\"stop\""),
            data(&format!("{surrogate})"), "null"),
        );
        let _ = stream
            .write_all(format!("{STREAM}{begin}{end}{}0\r\n\r\n", chunk("[DONE]")).as_bytes());
    });
    let answer = world.post(CHAT, "", &asked("qwxzv", true));
    assert!(
        answer.contains("goes on with something that it said had ended")
            && !answer.contains("qwxzv"),
        "{answer}"
    );

    let whole = World::new(move |stream, body| {
        let surrogate = first_message(body);
        let blocks = [link.to_owned(), format!("{surrogate})")];
        let content = blocks.map(|text| serde_json::json!({"type": "text", "text": text}));
        write_json(stream, &serde_json::json!({"content": content}));
    });
    let answer = whole.post("/v1/messages", "", &asked("qwxzv", false));
    assert!(
        status(&answer) == "200" && !answer.contains("qwxzv"),
        "{answer}"
    );

    let streamed = World::new(move |stream, body| {
        let surrogate = first_message(body);
        let _ = stream.write_all(STREAM.as_bytes());
        for (i, text) in [link.to_owned(), format!("{surrogate}) {surrogate}")]
            .iter()
            .enumerate()
        {
            let delta = serde_json::json!({"type": "content_block_delta", "index": i, "delta": {"type": "text_delta", "text": text}});
            let stop = serde_json::json!({"type": "content_block_stop", "index": i});
            let _ = stream
                .write_all((chunk(&delta.to_string()) + &chunk(&stop.to_string())).as_bytes());
        }
        let _ = stream
            .write_all(format!("{}0\r\n\r\n", chunk(r#"{"type": "message_stop"}"#)).as_bytes());
    });
    let answer = streamed.post("/v1/messages", "", &asked("qwxzv", true));
    assert_eq!(answer.matches("qwxzv").count(), 1, "{answer}");
    assert!(
        answer.contains(r#""index":1,"delta":{"type":"text_delta","text":"qwxzv"}"#),
        "{answer}"
    );
}

/// What touches a surrogate may stand in the next block: the end of a block waits for it, and all comes in order.
#[test]
fn the_end_of_a_block_waits_for_the_next() {
    let ask = |texts: fn(&str) -> [String; 3], streamed: bool| {
        let world = World::new(move |stream, body| {
            let texts = texts(&first_message(body));
            if !streamed {
                let content = texts.map(|text| serde_json::json!({"type": "text", "text": text}));
                return write_json(stream, &serde_json::json!({"content": content}));
            }
            let _ = stream.write_all(STREAM.as_bytes());
            for (i, text) in texts.iter().enumerate() {
                let block = serde_json::json!({"type": "text", "text": ""});
                for event in [
                    serde_json::json!({"type": "content_block_start", "index": i, "content_block": block}),
                    serde_json::json!({"type": "content_block_delta", "index": i, "delta": {"type": "text_delta", "text": text}}),
                    serde_json::json!({"type": "content_block_stop", "index": i}),
                ] {
                    let _ = stream.write_all(chunk(&event.to_string()).as_bytes());
                }
            }
            let _ = stream
                .write_all(format!("{}0\r\n\r\n", chunk(r#"{"type": "message_stop"}"#)).as_bytes());
        });
        world.post("/v1/messages", "", &asked("qwxzv", streamed))
    };
    let joined: fn(&str) -> [String; 3] =
        |surrogate| [surrogate.into(), ".evil".into(), ".com".into()];
    let apart: fn(&str) -> [String; 3] =
        |surrogate| [format!("It is {surrogate}"), ", ".into(), surrogate.into()];
    for streamed in [false, true] {
        let answer = ask(joined, streamed);
        assert!(
            answer.contains(".com") && !answer.contains("qwxzv"),
            "{answer}"
        );
        let answer = ask(apart, streamed);
        assert_eq!(answer.matches("qwxzv").count(), 2, "{answer}");
    }
    let answer = ask(apart, true);
    let events = answer
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<serde_json::Value> = events
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    let mut texts = [(); 3].map(|_| String::new());
    let mut open = None;
    for event in &events {
        let number = event["index"].as_u64();
        match event["type"].as_str().unwrap() {
            "content_block_start" => open = number,
            "content_block_delta" => {
                assert_eq!(open, number);
                texts[number.unwrap() as usize] += event["delta"]["text"].as_str().unwrap();
            }
            "content_block_stop" => assert_eq!(open.take(), number),
            _ => {}
        }
    }
    assert_eq!(texts, ["It is qwxzv", ", ", "qwxzv"]);
}

/// Some upstreams send all of a field with the reason why it ended.
#[test]
fn what_comes_with_the_end_of_a_choice_stays_in_order() {
    let world = World::new(|stream, body| {
        let said = format!("It was not {}", first_message(body));
        let data = format!(
            r#"{{"choices": [{{"index": 0, "delta": {{"refusal": "{said}"}}, "finish_reason": "stop"}}]}}"#
        );
        let _ = stream.write_all(format!("{STREAM}{}0\r\n\r\n", chunk(&data)).as_bytes());
    });
    let answer = world.post(CHAT, "", &asked("qwxzv", true));
    assert!(
        answer.contains(r#""refusal":"It was not qwxzv""#),
        "{answer}"
    );
}

#[test]
fn the_page_is_for_this_machine_and_keeps_nothing() {
    let world = World::new(|stream, _| answer_json(stream, "fine"));
    let get = |path: &str, host: &str| {
        world.send(
            format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").as_bytes(),
        )
    };
    let page = get("/", "localhost");
    assert!(
        page.contains("content-security-policy: default-src 'none'; script-src 'self'"),
        "{page}"
    );
    for part in [
        &page,
        &get("/page.js", "localhost"),
        &get("/page.css", "localhost"),
    ] {
        assert!(
            part.starts_with("HTTP/1.1 200")
                && !part.contains("http://")
                && !part.contains("https://")
        );
    }
    assert_eq!(status(&get("/", "evil.example")), "403");
    assert_eq!(
        status(&world.post(CHAT, "", &asked("qwxzv qwxzv", false))),
        "200"
    );
    assert_eq!(status(&world.post(CHAT, "", "{")), "400");
    let tried = world.post("/try", "", r#"{"text": "qwxzv is here"}"#);
    assert!(
        status(&tried) == "200" && !tried.contains("qwxzv"),
        "{tried}"
    );
    let today = get("/today", "localhost");
    assert!(
        today.contains(r#""interface":"openai","requests":1,"refused":1,"failed":0,"words":2"#),
        "{today}"
    );
    assert!(
        today.contains(r#""status":400,"conversation":null,"words":null,"loss":null"#)
            && today.contains(r#""status":200,"conversation":"none","words":2,"loss":15.0"#),
        "{today}"
    );
    assert!(!today.contains("qwxzv"));
    assert_eq!(world.count(), 1);
}
