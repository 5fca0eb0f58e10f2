//! Nothing that ships to a device lets a caller choose the noise: no binding, and
//! no crate that a binding stands on, enables the core's feature `test-seam`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The dependencies of a package's own code; those of its tests do not ship.
fn dependencies(folder: &Path) -> Table {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: Table = manifest.parse().unwrap();
    let table = |value: Option<&Value>| value.and_then(Value::as_table).cloned();
    let mut all = table(manifest.get("dependencies")).unwrap_or_default();
    for target in table(manifest.get("target")).unwrap_or_default().values() {
        all.extend(table(target.get("dependencies")).unwrap_or_default());
    }
    all
}

/// Whether `folder`, or a crate of this repository that it stands on, asks for
/// the seam. Crates that were looked at are added to `seen`.
fn is_open(folder: &Path, seen: &mut BTreeSet<String>) -> bool {
    dependencies(folder).iter().any(|(name, wanted)| {
        if name != "brr" && !name.starts_with("brr-") {
            return false;
        }
        let features = wanted.get("features").and_then(Value::as_array);
        let opens = features.is_some_and(|f| f.iter().any(|f| f.as_str() == Some("test-seam")));
        let is_new = seen.insert(name.clone());
        opens || is_new && is_open(&root().join("crates").join(name), seen)
    })
}

#[test]
fn no_binding_can_seed_its_noise() {
    for binding in ["c", "python", "uniffi", "wasm"] {
        let mut seen = BTreeSet::new();
        let folder = root().join("bindings").join(binding);
        assert!(!is_open(&folder, &mut seen), "bindings/{binding}: {seen:?}");
        assert!(seen.contains("brr"), "bindings/{binding}");
    }
    // The check sees what there is to see: the evaluation is seeded.
    assert!(is_open(
        &root().join("crates/brr-eval"),
        &mut BTreeSet::new()
    ));
}

#[test]
fn the_seam_is_not_a_default_feature() {
    let manifest = std::fs::read_to_string(root().join("crates/brr/Cargo.toml")).unwrap();
    let manifest: Table = manifest.parse().unwrap();
    assert_eq!(manifest["features"].get("default"), None);
}
