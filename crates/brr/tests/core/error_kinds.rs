//! Kinds of errors: the names that every binding derives its own from.

use brr::{Budget, Error, ErrorKind};

#[test]
fn kinds_have_names_of_their_own() {
    let names: Vec<&str> = ErrorKind::ALL.iter().map(|kind| kind.name()).collect();
    for (place, name) in names.iter().enumerate() {
        assert!(!names[..place].contains(name), "{name}");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
    }
}

#[test]
fn errors_say_what_kind_they_are() {
    assert_eq!(Error::UnknownWord.kind(), ErrorKind::Input);
    assert_eq!(Error::UncheckedModel.kind(), ErrorKind::UncheckedModel);
    assert_eq!(Error::ModelChecksum.kind(), ErrorKind::Model);
    let missing = brr::Model::open("no/such/model.brr").err().unwrap();
    assert_eq!(missing.kind(), ErrorKind::File);
    for name in Budget::NAMES {
        let wrong = Budget::named(name, -1.0).unwrap();
        assert_eq!(wrong.validate().unwrap_err().kind(), ErrorKind::Budget);
        assert_eq!(Budget::NAMES[wrong.parts().0], name);
    }
    assert_eq!(Budget::named("secret", 1.0), None);
}
