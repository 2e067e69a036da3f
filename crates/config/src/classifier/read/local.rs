//! A model in this process: the folder its files are in. Builds without the feature refuse it.

use countersign_classify::{HAS_LOCAL_MODEL, Kind, Local};

use super::Reading;
use crate::reader::Reader;

impl Reader<'_, '_> {
    pub(super) fn local(&mut self, reading: &Reading) -> Option<Kind> {
        if !HAS_LOCAL_MODEL {
            self.refuse(
                reading.at("kind"),
                "this build has no local model",
                "build with `--features local-model`",
            );
            return None;
        }
        let Some(node) = reading.member("path") else {
            self.missing(reading, "path", "the folder with the model's files");
            return None;
        };
        let path = self.path(node)?;
        let has = |name: &str| path.join(name).is_file();
        if !has("tokenizer.json") || !(has("model_quantized.onnx") || has("model.onnx")) {
            self.refuse(
                node,
                "no model in this folder",
                "it needs model_quantized.onnx or model.onnx, and tokenizer.json",
            );
        }
        Some(Kind::Local(Local {
            path,
            threshold: self.threshold(reading),
            temperature: reading.temperature,
        }))
    }
}
