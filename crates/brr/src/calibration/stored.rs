//! The table behind `keep` in a file: epsilon and the two shares of each point.

use super::{Calibration, CalibrationPoint};
use crate::error::Result;
use crate::frame::Fields;
use crate::frequency::Keep;

pub fn read(bytes: &[u8]) -> Result<Calibration> {
    let mut fields = Fields::new("calibration", bytes);
    read_points(&mut fields, usize::MAX)
}

/// At most this many points, up to the end.
pub fn read_points(fields: &mut Fields<'_>, most: usize) -> Result<Calibration> {
    let mut points: Vec<CalibrationPoint> = Vec::new();
    while !fields.is_empty() && points.len() < most {
        let point = CalibrationPoint {
            epsilon: fields.number()?,
            keep: read_keep(fields)?,
        };
        let falls = |before: &CalibrationPoint| {
            point.epsilon <= before.epsilon || point.keep.weighted < before.keep.weighted
        };
        if points.last().is_some_and(falls) {
            return Err(fields.invalid("its points are not in ascending order"));
        }
        points.push(point);
    }
    Ok(Calibration::new(points))
}

pub fn write(calibration: &Calibration) -> Vec<u8> {
    let mut out = Vec::new();
    for point in calibration.points() {
        out.extend(point.epsilon.to_le_bytes());
        write_keep(point.keep, &mut out);
    }
    out
}

pub fn read_keep(fields: &mut Fields<'_>) -> Result<Keep> {
    let keep = Keep {
        weighted: fields.number()?,
        plain: fields.number()?,
    };
    if keep.weighted > 1.0 || keep.plain > 1.0 {
        return Err(fields.invalid("a share is above 1"));
    }
    Ok(keep)
}

pub fn write_keep(keep: Keep, out: &mut Vec<u8>) {
    out.extend(keep.weighted.to_le_bytes());
    out.extend(keep.plain.to_le_bytes());
}
