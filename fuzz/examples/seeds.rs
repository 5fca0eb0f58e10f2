//! Writes the seeds again: one small sound input of each kind, for every target.
//!
//!     cargo run --manifest-path fuzz/Cargo.toml --no-default-features --example seeds
//!
//! Inputs that once failed lie beside them, named `found-*`; they are not made here.

use std::io::Write;
use std::path::Path;

use brr::parts::calibration::{Calibration, CalibrationPoint};
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::code_distances;
use brr::parts::epsilon::Epsilon;
use brr::parts::language::LanguageParts;
use brr::parts::model::ModelParts;
use brr::parts::tree::WordTree;
use brr::parts::vocabulary::Vocabulary;
use brr::{Keep, Model, Orthography};
use parquet::basic::{Compression, Repetition};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use zip::write::SimpleFileOptions;

fn put(target: &str, name: &str, content: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    std::fs::create_dir_all(&folder).expect("a folder for seeds");
    std::fs::write(folder.join(name), content).expect("room for a seed");
}

fn main() {
    models();
    for (name, words) in [
        ("few", &["the", "film", "was", "good", "bad"][..]),
        ("prefixes", &["a", "ab", "abc", "abcd", "été", "日本"]),
        ("one", &["solo"]),
    ] {
        let mut seed = (words.len() as u16).to_le_bytes().to_vec();
        seed.extend(Vocabulary::pack(words).expect("sound words"));
        put("vocabulary", name, &seed);
    }
    languages();
    texts();
    prompts();
    corpora();
    vectors();
}

/// Requests, answers and streams of the gateway: the first byte chooses, as the target says.
fn prompts() {
    let canary = "zqvcanaryvqz";
    let schema = format!(
        r##"{{"type":"object","title":"{canary}","properties":{{"city":{{"type":"string","enum":["{canary}"]}},"at":{{"$ref":"#/$defs/p"}}}},"$defs":{{"p":{{"anyOf":[{{"const":"{canary}"}}]}}}},"required":["city"]}}"##
    );
    let inner = format!(r#"{{\"city\":\"{canary}\",\"{canary}\":[1.5,null,\"a\"]}}"#);
    let openai = format!(
        r#"{{"model":"gpt-x","stream":true,"stop":"{canary}","user":"{canary}","tools":[{{"type":"function","function":{{"name":"w","description":"{canary}","parameters":{schema}}}}}],"messages":[{{"role":"system","content":"{canary}"}},{{"role":"user","name":"{canary}","content":[{{"type":"text","text":"the {canary}"}}]}},{{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"w","arguments":"{inner}"}}}}]}},{{"role":"tool","tool_call_id":"c1","content":"{inner}"}}]}}"#
    );
    let anthropic = format!(
        r#"{{"model":"claude-x","max_tokens":9,"system":[{{"type":"text","text":"{canary}","cache_control":{{"type":"ephemeral"}}}}],"metadata":{{"user_id":"{canary}"}},"tools":[{{"name":"w","input_schema":{schema}}}],"messages":[{{"role":"user","content":"{canary}"}},{{"role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"w","input":{{"city":"{canary}","x":[7,true]}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{inner}"}}]}}]}}"#
    );
    let whole = format!(
        r#"{{"id":"x","choices":[{{"index":0,"message":{{"content":"the film","tool_calls":[{{"function":{{"arguments":"{inner}"}}}}]}},"finish_reason":"stop"}}]}}"#
    );
    let blocks = r#"{"content":[{"type":"text","text":"the film"},{"type":"tool_use","input":{"a":["bad"]}}]}"#;
    let chunks = concat!(
        "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"the fi\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lm\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":1,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"[\\\"bad\\\"]\"}}]}}]}\n\n",
        "data: [DONE]\n\n"
    );
    let steps = concat!(
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "event: x\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"good\"}}\n\n",
        "event: x\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"partial_json\":\"{\\\"a\\\":\\\"bad\"}}\n\n",
        "event: x\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: x\ndata: {\"type\":\"message_stop\"}\n\n"
    );
    for (name, choice, content) in [
        ("openai", 4, openai.as_str()),
        ("anthropic", 5, &anthropic),
        ("openai-answer", 0, &whole),
        ("anthropic-answer", 1, blocks),
        ("openai-stream", 2, chunks),
        ("anthropic-stream", 3, steps),
    ] {
        put("prompts", name, &[&[choice], content.as_bytes()].concat());
    }
}

fn languages() {
    let words = ["the", "film", "was", "good", "bad"];
    let pack = Vocabulary::pack(&words).expect("sound words");
    let vocabulary = Vocabulary::unpack(&pack, words.len()).expect("sound words");
    let pairs = vec![
        (0, 1, 0.6),
        (1, 2, 0.5),
        (2, 3, 0.3),
        (2, 4, 0.2),
        (5, 0, 0.7),
        (6, 2, 0.1),
    ];
    for (name, pairs) in [("pairs", pairs), ("none", Vec::new())] {
        let parts = LanguageParts {
            vocabulary: &vocabulary,
            unigrams: vec![1.0 / 7.0; 7],
            pairs,
            decoded: Vec::new(),
            meta: vec![("name".into(), "seed".into())],
        };
        put(
            "language",
            name,
            &parts.write().expect("a sound language model"),
        );
    }
}

fn models() {
    let point = |epsilon, keep| CalibrationPoint {
        epsilon,
        keep: Keep {
            weighted: keep,
            plain: keep,
        },
    };
    for (name, bits, certificates) in [("64", 64, 2), ("128", 128, 0)] {
        let bits = CodeBits::new(bits).expect("a code length");
        let words: Vec<String> = ["the", "film", "was", "good", "bad"]
            .map(String::from)
            .into();
        let mut rows = CodeRows::zeros(bits, words.len());
        (1..words.len()).for_each(|i| rows.row_mut(i)[0] = 0xff << (8 * i));
        let blocks = to_blocks(&rows);
        let table = CodeBlocks::new(bits, words.len(), &blocks).expect("codes");
        let parts = ModelParts {
            words: &words,
            codes: &rows,
            lowercase: true,
            distances: code_distances(table, 1, &|_| {}),
            calibration: Calibration::new(vec![point(0.1, 0.2), point(1.0, 0.6), point(9.0, 0.99)]),
            meta: vec![("name".into(), "seed".into())],
            orthography: None,
        };
        let model: Model = parts.write().expect("a sound model");
        let certifier = model.certifier(1, &|_| {});
        // One that is stored without its weights, and one with them.
        let asked = [(0.1, None), (0.5, Some(20))];
        let made: Vec<_> = asked[..certificates]
            .iter()
            .map(|&(e, radius)| certifier.certify(Epsilon::new(e).expect("positive"), radius))
            .collect();
        let model = model
            .with_certificates(&made)
            .expect("its own certificates");
        put("model", name, model.bytes());
        // A place with two words, and an empty one.
        let tree = WordTree::new(2, vec![0, 1, 2, 0, 1]).expect("a tree");
        let model = model.with_tree(&tree).expect("as many words");
        put("model", &format!("{name}-tree"), model.bytes());
        let lines = "orthography 1\nlanguage fr French\nscript Latn\nwords lattice\nfold dotless\n\
                     form compatible\nmarks „「\nelision l' le\nending 'da da\nstem ca can\nfunction-words the\n";
        let parts = ModelParts {
            orthography: Some(Orthography::parse(lines).expect("a table")),
            ..parts
        };
        let model = parts.write().expect("a sound model");
        put("model", &format!("{name}-table"), model.bytes());
    }
}

fn texts() {
    let texts = [
        "The film, sadly, wasn't good. Don't we’re he's l'homme rock'n'roll!",
        "one<br /><BR>two <br/> <brx> x.y@z.org (http://a.b/c?d=e).",
        "日本 الكتاب، مرحبا 😀👍🏽 1\u{fe0f}\u{20e3} cafe\u{301}\u{a0}\u{2003}\u{200b}\u{7}",
        "「日本語のガラス」はｶﾞﾗｽ日\u{200b}本鎌倉鎌倉の日本l'の ・日本ท",
        "\tfilm\r\nthe  film\n\n$100 50% C++ 3.14 10/10",
    ];
    for (i, text) in texts.iter().enumerate() {
        for choice in [0u8, 1, 2, 4, 8, 12, 16, 18, 32, 34, 40] {
            if (usize::from(choice) + i) % 2 == 0 {
                let seed = [&[choice + i as u8 % 2], text.as_bytes()].concat();
                put("text", &format!("{i}-{choice}"), &seed);
            }
        }
    }
}

fn corpora() {
    let table = "id,\"t\",n\n1,\"the, \"\"film\"\"\nwas\", x\r\n2,good,\n\n3,,\"a,b\"\r";
    let rows = concat!(
        "{\"id\":1,\"t\":\"the \\\"film\\\" caf\\u00e9\",\"u\":{\"t\":null,\"n\":1e400}}\r\n",
        "\n{\"t\":[\"good\",[\"日\"]],\"u\":[{\"t\":\"\"},{}],\"t\":\"we\"}\n{\"u\":{\"\\u0074\":\"are\"}}",
    );
    let bad = "1,the\n2,the,film,x\n3,\"the\" film,y\n4,\u{e9},\n";
    let gz = |bytes: &[u8]| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gz.write_all(bytes).expect("memory");
        gz.finish().expect("memory")
    };
    let zst = |bytes: &[u8]| zstd::encode_all(bytes, 1).expect("memory takes what is written");
    for (name, choice, table) in [
        ("comma", [0, 0], table.into()),
        ("words", [4, 0], table.into()),
        ("semicolon", [0, 1], table.replace(',', ";")),
        ("tab", [0, 6], table.replace(',', "\t")),
        ("bar", [0, 19], table.replace(',', "|")),
        ("bad", [0, 8], bad.into()),
        ("skip", [2, 8], bad.into()),
        ("null", [3, 24], bad.into()),
        ("bom", [0, 0], format!("\u{feff}{table}")),
    ] {
        put("csv", name, &[&choice[..], table.as_bytes()].concat());
    }
    put("csv", "gz", &[&[16, 0][..], &gz(table.as_bytes())].concat());
    put(
        "csv",
        "zst",
        &[&[24, 0][..], &zst(table.as_bytes())].concat(),
    );
    for (name, choice) in [
        ("fail", 0u8),
        ("skip", 2),
        ("null", 3),
        ("words", 4),
        ("optional", 32),
    ] {
        put("jsonl", name, &[&[choice], rows.as_bytes()].concat());
    }
    put("jsonl", "gz", &[&[16][..], &gz(rows.as_bytes())].concat());
    tables();
    put("jsonl", "zst", &[&[24][..], &zst(rows.as_bytes())].concat());
}

fn tables() {
    for (name, schema, compression, choice) in [
        (
            "plain",
            "optional binary t (STRING)",
            Compression::UNCOMPRESSED,
            0u8,
        ),
        ("bytes", "required binary t", Compression::UNCOMPRESSED, 3),
        (
            "snappy",
            "required binary t (STRING)",
            Compression::SNAPPY,
            4,
        ),
        (
            "list",
            "repeated binary t (STRING)",
            Compression::UNCOMPRESSED,
            0,
        ),
    ] {
        let schema = format!("message m {{ required int64 id; {schema}; }}");
        let schema = parse_message_type(&schema).expect("a schema");
        let nullable = schema.get_fields()[1].is_optional();
        let repeated = schema.get_fields()[1].get_basic_info().repetition() == Repetition::REPEATED;
        let properties = WriterProperties::builder().set_compression(compression);
        let properties = properties.set_dictionary_enabled(name == "plain").build();
        let mut file = vec![choice];
        let mut writer =
            SerializedFileWriter::new(&mut file, schema.into(), properties.into()).expect("a file");
        for _ in 0..2 {
            let mut group = writer.next_row_group().expect("a row group");
            let mut ids = group.next_column().expect("a column").expect("ids");
            let written = ids.typed::<Int64Type>().write_batch(&[1, 2, 3], None, None);
            written.expect("memory");
            ids.close().expect("memory");
            let mut texts = group.next_column().expect("a column").expect("texts");
            let words = ["the film", "caf\u{e9}, good", "the film"].map(ByteArray::from);
            let (levels, heights) = ([1, 1, 1], [0, 0, 0]);
            let levels = (nullable || repeated).then_some(&levels[..]);
            let heights = repeated.then_some(&heights[..]);
            let texts_of = texts.typed::<ByteArrayType>();
            texts_of
                .write_batch(&words, levels, heights)
                .expect("memory");
            texts.close().expect("memory");
            group.close().expect("memory");
        }
        writer.close().expect("memory");
        put("parquet", name, &file);
    }
}

const GLOVE: &str = "the 0.1 0.2 -0.3\nfilm 0.4 1e-2 3\n. . . 1 2 3\ngood 1 2 3\nThe 4 5 6\n";

fn vectors() {
    put("vectors_text", "glove", GLOVE.as_bytes());
    put(
        "vectors_text",
        "word2vec",
        format!("5 3\n{GLOVE}").as_bytes(),
    );
    put(
        "vectors_text",
        "dirty",
        "\u{feff}a 1 2\r\n\nb 1\nc nan 2\na 1 2\nd\t3  4 \ne 0 0".as_bytes(),
    );

    let mut binary = b"3 2\n".to_vec();
    for word in ["the", "film", "good"] {
        binary.extend(word.as_bytes());
        binary.push(b' ');
        [1.5f32, -2.0]
            .iter()
            .for_each(|x| binary.extend(x.to_le_bytes()));
        binary.push(b'\n');
    }
    put("vectors_word2vec", "original", &binary);
    put(
        "vectors_word2vec",
        "gensim",
        &[&b"1 1\nfilm "[..], &1f32.to_le_bytes()].concat(),
    );

    put(
        "vectors_fasttext",
        "subwords",
        &fasttext(12, 1, 4, (2, 3), 0),
    );
    put(
        "vectors_fasttext",
        "supervised",
        &fasttext(11, 3, 0, (0, 0), 1),
    );

    for (kind, bytes) in [("<f4", 4), (">f8", 8), ("<f2", 2)] {
        let list = b"the\nfilm\n";
        let mut seed = (list.len() as u16).to_le_bytes().to_vec();
        seed.extend(list);
        seed.extend(b"\x93NUMPY\x01\x00");
        let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': (2, 2), }}\n");
        seed.extend((header.len() as u16).to_le_bytes());
        seed.extend(header.as_bytes());
        seed.extend((0..4 * bytes).map(|i| 0x31 + i as u8));
        put("vectors_npy", &kind[1..], &seed);
    }

    packages();

    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(GLOVE.as_bytes()).expect("memory");
    put("vectors_packed", "gz", &gz.finish().expect("memory"));
    put(
        "vectors_packed",
        "zst",
        &zstd::encode_all(GLOVE.as_bytes(), 1).expect("memory takes what is written"),
    );
    let files = [("readme.md", "hello"), ("glove.txt", GLOVE)];
    let files = files.map(|(name, content)| (name.to_owned(), content.into()));
    put("vectors_packed", "zip", &zip(&files));
}

/// Three files, after the lengths of the first two.
fn side_by_side(files: &[(&str, Vec<u8>); 3]) -> Vec<u8> {
    let lengths = files[..2].iter();
    let mut seed: Vec<u8> = lengths
        .flat_map(|(_, file)| (file.len() as u16).to_le_bytes())
        .collect();
    files.iter().for_each(|(_, file)| seed.extend(file));
    seed
}

/// `the`, `cat`, `aux` (which has a number of its own) and `sat`, of which the last has borrowed its vector.
fn spacy() -> [(&'static str, Vec<u8>); 3] {
    let key = |key: u64| [&[0xcf][..], &key.to_be_bytes()].concat();
    let keys = [
        vec![0x84],
        [key(0x670e_66a6_3573_9a92), vec![0]].concat(),
        [key(0x4b7d_8b42_cb9a_c683), vec![0xcc, 2]].concat(),
        vec![0xcd, 0x01, 0x95, 1],
        [key(0x98a5_04f0_bbf3_46d3), vec![0]].concat(),
    ];
    let strings = "[\n  \"cat\",\n  \"s\\u0061t\",\n  \"the\",\n  \"\\ud83e\\uddff\"\n]";
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
    let mut matrix = b"\x93NUMPY\x01\x00".to_vec();
    matrix.extend((header.len() as u16).to_le_bytes());
    matrix.extend(header.as_bytes());
    (1..=6).for_each(|i| matrix.extend((i as f32).to_le_bytes()));
    [
        ("key2row", keys.concat()),
        ("strings.json", strings.into()),
        ("vectors", matrix),
    ]
}

/// Four words, the most frequent not the first, of two parts of two centroids each. The words are not packed.
fn navec() -> [(&'static str, Vec<u8>); 3] {
    let counts = [4u32, 5, 9, 7, 0].map(u32::to_le_bytes).concat();
    let words = [&counts[..], "в\nи\nкот\n<unk>".as_bytes()].concat();
    let mut matrix = [4u32, 4, 2, 2].map(u32::to_le_bytes).concat();
    matrix.extend([0, 1, 1, 1, 0, 0, 1, 0]);
    (1..=8).for_each(|i| matrix.extend((i as f32).to_le_bytes()));
    let meta = b"{\"id\": \"x\", \"protocol\": 1}".to_vec();
    [
        ("meta.json", meta),
        ("vocab.bin", words),
        ("pq.bin", matrix),
    ]
}

fn tar(folder: &str, files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0u8; 512];
        let name = format!("{folder}{name}");
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive
}

fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default())
            .expect("a member");
        zip.write_all(content).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

fn packages() {
    put("vectors_spacy", "shared", &side_by_side(&spacy()));
    put("vectors_navec", "small", &side_by_side(&navec()));
    put("vectors_packed", "spacy-tar", &tar("p/vocab/", &spacy()));
    let wheel = spacy().map(|(name, content)| (format!("p/vocab/{name}"), content));
    put("vectors_packed", "spacy-wheel", &zip(&wheel));
    let [meta, (name, words), matrix] = navec();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(&words).expect("memory");
    let packed = (name, gz.finish().expect("memory"));
    let nested = tar("", &[meta, packed, matrix]);
    let wheel = [("a/navec_x.tar".to_owned(), nested)];
    put("vectors_packed", "navec-wheel", &zip(&wheel));
}

fn fasttext(version: i32, model: i32, buckets: i32, ngrams: (i32, i32), labels: i32) -> Vec<u8> {
    let (words, dim) = (["the", "film", "café"], 2);
    let mut file = Vec::new();
    let arguments = [
        793_712_314,
        version,
        dim,
        5,
        1,
        1,
        5,
        1,
        2,
        model,
        buckets,
        ngrams.0,
        ngrams.1,
        100,
    ];
    arguments
        .iter()
        .for_each(|n: &i32| file.extend(n.to_le_bytes()));
    file.extend(1e-4f64.to_le_bytes());
    let entries = words.len() as i32 + labels;
    [entries, words.len() as i32, labels]
        .iter()
        .for_each(|n| file.extend(n.to_le_bytes()));
    [9i64, -1].iter().for_each(|n| file.extend(n.to_le_bytes()));
    for (i, entry) in words
        .into_iter()
        .chain(["__label__1"; 1])
        .take(entries as usize)
        .enumerate()
    {
        file.extend(entry.as_bytes());
        file.push(0);
        file.extend(7i64.to_le_bytes());
        file.push(u8::from(i >= words.len()));
    }
    file.push(0);
    let rows = words.len() as i64 + i64::from(buckets);
    [rows, i64::from(dim)]
        .iter()
        .for_each(|n| file.extend(n.to_le_bytes()));
    (0..rows * i64::from(dim)).for_each(|i| file.extend((i as f32 + 0.5).to_le_bytes()));
    file
}
