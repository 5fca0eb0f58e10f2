//! Released text and the manifest that it is read by: do they belong together?

use std::path::Path;

use brr_corpus::{Fingerprint, Input, RecordProblem, Watch, Written};

use crate::failure::Result;
use crate::input;

/// What was released, opened, and what the manifest says that it is.
pub struct Released {
    recorded: Option<Fingerprint>,
    watch: Watch,
    name: String,
}

impl Released {
    /// An input, which is the file `from` or standard input.
    pub fn open(
        written: &Written,
        source: Input,
        from: Option<&Path>,
        manifest: &Path,
    ) -> std::result::Result<(Input, Released), RecordProblem> {
        let recorded = written.fingerprint(from)?;
        let (input, watch) = source.watched();
        let name = match &watch {
            Watch::File(path) => path.display().to_string(),
            Watch::Stream(_) => input::STANDARD.to_owned(),
        };
        let name = format!(
            "{name} is not, byte for byte, what the run of {}",
            input::called(manifest)
        );
        let released = Released {
            recorded,
            watch,
            name,
        };
        Ok((input, released))
    }

    /// Says so if it is not what was recorded: of a file before it is `read`, of a stream after that.
    pub fn tell_if_other(&self, read: bool) -> Result {
        let is_stream = matches!(self.watch, Watch::Stream(_));
        if let Some(recorded) = &self.recorded
            && read == is_stream
            && *recorded != self.watch.fingerprint()?
        {
            tell!(
                "warning: {} wrote: if it was not just packed, unpacked, sorted or cut since, the manifest is of another file and the result means nothing",
                self.name
            );
        }
        Ok(())
    }
}
