//! Server-sent events, as both interfaces stream their answers: read from bytes that are cut
//! anywhere, and written.

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

impl Event {
    /// As it is sent.
    pub fn write(&self) -> String {
        let mut out = String::with_capacity(self.data.len() + 32);
        if let Some(name) = &self.name {
            out.push_str(&format!("event: {name}\n"));
        }
        for line in self.data.split('\n') {
            out.push_str("data: ");
            out.push_str(line);
            out.push('\n');
        }
        out.push('\n');
        out
    }
}

/// Why a stream cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// An event longer than [`Events::LONGEST`].
    Long,
    /// Not UTF-8.
    Encoding,
}

/// Reads events.
#[derive(Default)]
pub struct Events {
    /// Bytes of a line whose end was not seen.
    line: Vec<u8>,
    /// Whether the last line ended in a carriage return, to which a line feed would belong.
    returned: bool,
    event: Event,
    has_data: bool,
}

impl Events {
    /// Bytes of the longest event.
    pub const LONGEST: usize = 4 << 20;

    /// The next bytes; the events that end in them.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Broken> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_return = std::mem::take(&mut self.returned);
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    self.returned = byte == b'\r';
                    events.extend(self.end_of_line()?);
                }
                byte => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > Self::LONGEST {
                return Err(Broken::Long);
            }
        }
        Ok(events)
    }

    /// Whether the bytes so far end within an event.
    pub fn is_within(&self) -> bool {
        !self.line.is_empty() || self.has_data || self.event.name.is_some()
    }

    fn end_of_line(&mut self) -> Result<Option<Event>, Broken> {
        let line = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(&line).map_err(|_| Broken::Encoding)?;
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "event" => self.event.name = Some(value.to_owned()),
            // Comments keep a connection alive; ids and times to wait are of no use here.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(parts: &[&[u8]]) -> Vec<Event> {
        let mut events = Events::default();
        parts
            .iter()
            .flat_map(|part| events.push(part).unwrap())
            .collect()
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let stream = "\u{feff}: hi\r\nevent: a\r\ndata: é1\r\ndata:2\r\n\r\ndata: x\n\n\ndata\n\n"
            .as_bytes();
        let whole = all(&[stream]);
        assert_eq!(whole.len(), 3);
        assert_eq!(
            (whole[0].name.as_deref(), &*whole[0].data),
            (Some("a"), "é1\n2")
        );
        assert_eq!(whole[0].write(), "event: a\ndata: é1\ndata: 2\n\n");
        for cut in 0..=stream.len() {
            assert_eq!(all(&[&stream[..cut], &stream[cut..]]), whole);
        }
    }

    #[test]
    fn what_is_no_event_is_an_error() {
        let mut events = Events::default();
        assert_eq!(events.push(b"data: \xff\n"), Err(Broken::Encoding));
        let mut events = Events::default();
        assert_eq!(
            events.push(&vec![b'x'; Events::LONGEST + 1]),
            Err(Broken::Long)
        );
        let mut events = Events::default();
        events.push(b"data: half").unwrap();
        assert!(events.is_within());
    }
}
