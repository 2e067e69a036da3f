//! A model in this process: the folder its files are in. Builds without the feature refuse it.

use countersign_classify::{HAS_LOCAL_MODEL, Kind, Local};

use super::Reading;

impl Reading<'_, '_, '_> {
    pub(super) fn local(&mut self) -> Option<Kind> {
        if !HAS_LOCAL_MODEL {
            let hint = "build with `--features local-model`";
            self.refuse("kind", "this build has no local model", hint);
            return None;
        }
        let Some(node) = self.member("path") else {
            return self.missing("path", "the folder with the model's files");
        };
        let path = self.reader.path(node)?;
        let has = |name: &str| path.join(name).is_file();
        if !has("tokenizer.json") || !(has("model_quantized.onnx") || has("model.onnx")) {
            let hint = "it needs model_quantized.onnx or model.onnx, and tokenizer.json";
            self.refuse("path", "no model in this folder", hint);
        }
        Some(Kind::Local(Local {
            path,
            threshold: self.threshold(),
            temperature: self.number("temperature"),
        }))
    }
}
