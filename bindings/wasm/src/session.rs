//! Spans and sessions for js/brr.js. Offsets are UTF-16 code units there, and bytes in the core.

use std::ops::Range;
use std::sync::Arc;

use brr::{Error, Model, Numbers, PrivatizedSpans, Privatizer, Restorer, Result, Session, Span};

use crate::json::Json;
use crate::{DONE, answer, batch, choices, fail, input, set_answer, share, with_text};

/// A privatizer with lists for spans, from lines: those of [`choices::options`], then for each list its name and
/// what is on it, as a policy's list is written. A scale of 0 leaves numbers as they are.
fn privatizer(
    model: Arc<Model>,
    lines: &str,
    value: f64,
    (low, high, scale): (f64, f64, u32),
) -> Result<Arc<Privatizer>> {
    let options = choices::options(lines, value, &model)?;
    let privatizer = Privatizer::new(model, options)?;
    let lists: Vec<&str> = lines.split('\n').skip(choices::LINES).collect();
    let lists = lists
        .chunks_exact(2)
        .map(|two| (two[0], two[1].replace('\t', "\n")));
    let lists: Vec<(&str, String)> = lists.collect();
    let given = lists.iter().map(|(name, words)| (*name, words.as_str()));
    let privatizer = brr_english::with_lists(privatizer, given)?;
    Ok(Arc::new(match scale {
        0 => privatizer,
        scale => privatizer.with_numbers(Numbers::new(low as i64..=high as i64, scale)?),
    }))
}

/// Begins a session; 0 if that fails. The answer says what is public in it, and for spans without it. Takes the input:
/// the lines of [`privatizer`] and, if the session was exported, its bytes in hexadecimal.
///
/// # Safety
/// As for [`input`]; `model` came from `model_new` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_new(
    model: *const Model,
    pointer: *mut u8,
    len: usize,
    value: f64,
    low: f64,
    high: f64,
    scale: u32,
) -> *mut Session {
    // SAFETY: the caller's promise.
    let (model, mut bytes) = unsafe { (share(model), input(pointer, len)) };
    let texts = batch(&bytes);
    let made =
        privatizer(model, &texts[0], value, (low, high, scale)).and_then(|privatizer| match texts
            .get(1)
        {
            None => Session::new(privatizer),
            Some(exported) => {
                let exported = unhex(exported).ok_or(Error::SessionInvalid)?;
                Session::import(privatizer, &exported)
            }
        });
    drop(texts);
    bytes.fill(0);
    std::hint::black_box(&bytes);
    match made {
        Ok(session) => {
            set_answer(Json::text(|j| {
                j.key("adjacency").string(&session.adjacency().to_string());
                let spans = session.privatizer().spans_adjacency();
                j.key("spans").string(&spans.to_string());
            }));
            Box::into_raw(Box::new(session))
        }
        Err(error) => {
            fail(&error);
            std::ptr::null_mut()
        }
    }
}

/// Lets go of a session, and overwrites what it knows.
///
/// # Safety
/// `session` came from [`session_new`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_free(session: *mut Session) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(session) });
}

/// Privatizes the input, a whole text, in a session.
///
/// # Safety
/// As for [`input`]; `session` came from [`session_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_privatize(
    session: &mut Session,
    pointer: *mut u8,
    len: usize,
) -> u32 {
    let run = |text: &str| {
        let before = session.loss();
        let private = session.privatize(text);
        let added = session.loss() - before;
        answer(private.map(|private| {
            Json::text(|j| {
                j.key("text").string(&private.text);
                j.key("tokens").number(private.tokens as f64);
                j.key("unknown").number(private.unknown as f64);
                j.key("public").number(private.public as f64);
                j.key("loss").number(added);
            })
        }))
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}

/// Privatizes spans, in the session or with its privatizer alone. The input is a batch of two: the text, and a line
/// with start, end and list for each span.
///
/// # Safety
/// As for [`session_privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_spans(
    session: &mut Session,
    pointer: *mut u8,
    len: usize,
    alone: u32,
) -> u32 {
    // SAFETY: the caller's promise.
    let mut bytes = unsafe { input(pointer, len) };
    let texts = batch(&bytes);
    let spans = Units::of(&texts[0]).spans(&texts[1]);
    let private = match alone {
        0 => session.privatize_spans(&texts[0], &spans),
        _ => session.privatizer().privatize_spans(&texts[0], &spans),
    };
    drop(texts);
    bytes.fill(0);
    std::hint::black_box(&bytes);
    answer(private.map(|private| spans_answer(&private)))
}

fn spans_answer(private: &PrivatizedSpans) -> String {
    let units = Units::of(&private.text);
    Json::text(|j| {
        j.key("text").string(&private.text);
        j.key("spans").array(|j| {
            for range in &private.spans {
                j.object(|j| {
                    j.key("start").number(units.unit(range.start) as f64);
                    j.key("end").number(units.unit(range.end) as f64);
                });
            }
        });
        j.key("tokens").array(|j| {
            private
                .tokens
                .iter()
                .for_each(|&tokens| j.number(tokens as f64));
        });
        j.key("loss").number(private.loss);
    })
}

/// Where in bytes each UTF-16 code unit of a text begins, and where the text ends. The second unit of a pair lies within
/// a character, where no span can begin or end.
struct Units(Vec<usize>);

impl Units {
    fn of(text: &str) -> Units {
        let starts = |(at, c): (usize, char)| at..at + c.len_utf16();
        let starts = text.char_indices().flat_map(starts);
        Units(starts.chain([text.len()]).collect())
    }

    /// A byte that no text has, if there is no such unit.
    fn byte(&self, unit: &str) -> usize {
        let found = unit.parse().ok().and_then(|unit: usize| self.0.get(unit));
        found.copied().unwrap_or(usize::MAX)
    }

    fn unit(&self, byte: usize) -> usize {
        self.0.partition_point(|&at| at < byte)
    }

    fn spans(&self, lines: &str) -> Vec<Span> {
        let span = |line: &str| {
            let mut fields = line.splitn(3, ' ');
            let mut next = || fields.next().unwrap_or_default();
            let range: Range<usize> = self.byte(next())..self.byte(next());
            match next() {
                "" => Span::new(range),
                list => Span::of(range, list),
            }
        };
        lines.lines().map(span).collect()
    }
}

/// Text that leaves in clear beside what the session privatizes.
///
/// # Safety
/// As for [`session_privatize`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn session_public(
    session: &mut Session,
    pointer: *mut u8,
    len: usize,
) -> u32 {
    let run = |text: &str| {
        session.add_public(text);
        DONE
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}

/// What a session has spent.
#[unsafe(no_mangle)]
pub extern "C" fn session_state(session: &Session) -> u32 {
    answer(Ok(Json::text(|j| {
        j.key("loss").number(session.loss());
        j.key("words").number(session.words() as f64);
        j.key("collisions").number(session.collisions() as f64);
    })))
}

/// The session's bytes, in hexadecimal.
#[unsafe(no_mangle)]
pub extern "C" fn session_export(session: &Session) -> u32 {
    let bytes = session.export();
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    answer(Ok(text))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let half = |digit: u8| char::from(digit).to_digit(16).map(|half| half as u8);
    let byte = |pair: &[u8; 2]| Some(half(pair[0])? << 4 | half(pair[1])?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// Restores a text that comes in parts, with what the session knows now.
#[unsafe(no_mangle)]
pub extern "C" fn restorer_new(session: &Session) -> *mut Restorer {
    Box::into_raw(Box::new(session.restorer()))
}

/// Lets go of a restorer.
///
/// # Safety
/// `restorer` came from [`restorer_new`] and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restorer_free(restorer: *mut Restorer) {
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(restorer) });
}

/// The next part of a text, which is the input; `last` if it ends there.
///
/// # Safety
/// As for [`input`]; `restorer` came from [`restorer_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restorer_push(
    restorer: &mut Restorer,
    pointer: *mut u8,
    len: usize,
    last: u32,
) -> u32 {
    let run = |part: &str| {
        let mut text = restorer.push(part);
        if last != 0 {
            text.push_str(&restorer.finish());
        }
        answer(Ok(Json::text(|j| {
            j.key("text").string(&text);
            j.key("restored").number(restorer.restored() as f64);
            j.key("ambiguous").number(restorer.ambiguous() as f64);
        })))
    };
    // SAFETY: the caller's promise.
    unsafe { with_text(pointer, len, run) }
}
