//! The core's results as JSON, in the words of js/brr.d.ts.

use brr::explain::{Chance, Likely, Outcomes, Part, Posterior, Trace};
use brr::parts::nearest::Scan;
use brr::{Model, Privatized, Privatizer};

use crate::json::Json;

/// What a model is.
pub fn model(model: &Model) -> String {
    Json::text(|j| {
        j.key("words").number(model.vocabulary().len() as f64);
        j.key("bits").number(model.bits().get() as f64);
        j.key("certificates")
            .number(model.certificates().len() as f64);
        j.key("calibrated")
            .boolean(model.calibration().is_some_and(|t| !t.points().is_empty()));
        j.key("standing").string(model.standing().name());
        j.key("tree").boolean(model.tree().is_some());
        let table = model.orthography();
        j.key("language").object(|j| {
            j.key("code").string(table.code());
            j.key("name").string(table.name());
            j.key("functionWords")
                .number(table.function_words().len() as f64);
        });
        let backend = Scan::new(model.codes()).backend();
        j.key("backend").string(backend.name());
        j.key("meta").object(|j| {
            for (key, value) in model.meta() {
                j.key(key).string(value);
            }
        });
    })
}

/// What a privatizer promises.
pub fn guarantee(privatizer: &Privatizer) -> String {
    let g = privatizer.guarantee();
    Json::text(|j| {
        j.key("mechanism").string(privatizer.mechanism().name());
        j.key("metric").string(&g.metric.to_string());
        for (name, value) in g.numbers() {
            j.key(&camel(name)).number(value);
        }
        j.key("losses").array(|j| {
            for &loss in &g.losses {
                j.number(loss);
            }
        });
        match privatizer.expected_keep() {
            Some(keep) => j.key("expectedKeep").number(keep),
            None => j.key("expectedKeep").null(),
        }
        j.key("keptWords")
            .string(&privatizer.kept_words().to_string());
        j.key("adjacency")
            .string(&privatizer.adjacency().to_string());
    })
}

/// A name as JavaScript writes it.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        name + &part[..1].to_uppercase() + &part[1..]
    })
}

/// A privatized text.
pub fn privatized(privatizer: &Privatizer, private: &Privatized) -> String {
    Json::text(|j| {
        j.key("text").string(&private.text);
        counts(
            j,
            privatizer,
            [private.tokens, private.unknown, private.public],
        );
    })
}

/// Many privatized texts.
pub fn all(privatizer: &Privatizer, private: &[Privatized]) -> String {
    Json::text(|j| {
        j.key("texts").array(|j| {
            for p in private {
                j.string(&p.text);
            }
        });
        let sum = |of: fn(&Privatized) -> u64| private.iter().map(of).sum();
        counts(
            j,
            privatizer,
            [sum(|p| p.tokens), sum(|p| p.unknown), sum(|p| p.public)],
        );
    })
}

/// A privatized text, part by part.
pub fn trace(privatizer: &Privatizer, trace: &Trace) -> String {
    Json::text(|j| {
        j.key("parts").array(|j| {
            for part in &trace.parts {
                j.object(|j| write_part(j, part));
            }
        });
        counts(j, privatizer, [trace.tokens, trace.unknown, trace.public]);
    })
}

fn write_part(j: &mut Json, part: &Part) {
    match part {
        Part::Structure(text) => j.key("text").string(text),
        Part::Word {
            output,
            drawn,
            original,
            known,
            changed,
            public,
        } => {
            j.key("text").string(output);
            if let Some(drawn) = drawn {
                j.key("drawn").string(drawn);
            }
            j.key("original").string(original);
            j.key("known").boolean(*known);
            j.key("changed").boolean(*changed);
            j.key("public").boolean(*public);
        }
    }
}

fn counts(j: &mut Json, privatizer: &Privatizer, [tokens, unknown, public]: [u64; 3]) {
    j.key("tokens").number(tokens as f64);
    j.key("unknown").number(unknown as f64);
    j.key("public").number(public as f64);
    j.key("loss").number(privatizer.total_loss(tokens - public));
}

/// What comes out.
pub fn outcomes(model: &Model, outcomes: &Outcomes) -> String {
    Json::text(|j| {
        j.key("stays").object(|j| write_chance(j, &outcomes.stays));
        likely(j, model, &outcomes.likely);
        j.key("reach").array(|j| {
            for (size, share) in Outcomes::REACH.iter().zip(outcomes.reach) {
                j.object(|j| {
                    j.key("nearest").number(*size as f64);
                    j.key("share").number(share);
                });
            }
        });
        j.key("method").string(outcomes.method.name());
    })
}

/// What may have gone in.
pub fn posterior(model: &Model, posterior: &Posterior) -> String {
    Json::text(|j| {
        likely(j, model, &posterior.likely);
        j.key("method").string(posterior.method.name());
    })
}

fn likely(j: &mut Json, model: &Model, likely: &[Likely]) {
    j.key("likely").array(|j| {
        for l in likely {
            j.object(|j| {
                j.key("word").string(model.vocabulary().word(l.word));
                write_chance(j, &l.chance);
            });
        }
    });
}

fn write_chance(j: &mut Json, chance: &Chance) {
    j.key("probability").number(chance.probability);
    j.key("low").number(chance.low);
    j.key("high").number(chance.high);
}
