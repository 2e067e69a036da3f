//! A small model in this process: text, tokens, one number. Nothing is downloaded; the folder with its files is
//! configured. A chunk with more tokens than the model takes is read in overlapping windows and the worst one counts,
//! so none of it is cut off unseen. Runs on threads where it holds up no call.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_inspect::encode_hex;
use rten::{Model, NodeId};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokenizers::Tokenizer;
use tokio::sync::Semaphore;

use crate::classifier::Limits;
use crate::error::{Error, SetupError};
use crate::settings;
use crate::verdict::{Action, Question, Verdict};

/// What the model was trained with, its two special tokens included.
const WINDOW: usize = 256;
const STEP: usize = 224;
const LARGEST_FILE: u64 = 1 << 30;
const LIMITS: Limits = Limits {
    chunk_chars: 1_000,
    batch_chunks: 1,
    batch_chars: 1_000,
};

#[derive(Debug)]
pub(super) struct Local {
    name: String,
    identity: String,
    scorer: Arc<Scorer>,
    /// One text at a time: the model uses every core by itself.
    places: Arc<Semaphore>,
}

struct Scorer {
    model: Model,
    ids: NodeId,
    mask: NodeId,
    logits: NodeId,
    tokenizer: Tokenizer,
    temperature: f32,
    threshold: f32,
}

impl std::fmt::Debug for Scorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scorer")
            .field("temperature", &self.temperature)
            .field("threshold", &self.threshold)
            .finish_non_exhaustive()
    }
}

/// What stands beside the model about its use.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    calibration: Calibration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Calibration {
    #[serde(rename = "temperatureT")]
    temperature: Option<f32>,
    high_risk_threshold: Option<f32>,
}

impl Local {
    pub(super) fn new(name: &str, settings: &settings::Local) -> Result<Self, SetupError> {
        let path = settings.path.as_path();
        let refused = |why: String| SetupError::Model {
            path: path.to_owned(),
            why,
        };
        let quantized = path.join("model_quantized.onnx");
        let file = if quantized.exists() {
            quantized
        } else {
            path.join("model.onnx")
        };
        let weights = read(&file).map_err(refused)?;
        let digest = Sha256::digest(&weights);
        let scorer = Scorer::load(path, weights, settings).map_err(refused)?;
        let version = encode_hex(&digest);
        Ok(Self {
            name: name.to_owned(),
            identity: format!(
                "local {version} {} {}",
                scorer.temperature, scorer.threshold
            ),
            scorer: Arc::new(scorer),
            places: Arc::new(Semaphore::new(1)),
        })
    }

    async fn ask(&self, question: &Question) -> Result<Vec<Verdict>, Error> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Error::Internal)?;
        let texts: Vec<String> = question
            .chunks
            .iter()
            .map(|chunk| chunk.text.clone())
            .collect();
        let stop = Stop::default();
        let (scorer, stopped) = (Arc::clone(&self.scorer), Arc::clone(&stop.0));
        let scored = tokio::task::spawn_blocking(move || {
            // The caller may have given up; the place is freed only when the work is done.
            let _place = place;
            let score = |text: &String| scorer.verdict(text, &stopped);
            texts.iter().map(score).collect()
        });
        scored.await.map_err(|_| Error::Internal)?
    }
}

/// Tells the scoring thread, when dropped, that no caller waits for it any longer.
#[derive(Default)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Scorer {
    fn load(path: &Path, weights: Vec<u8>, settings: &settings::Local) -> Result<Self, String> {
        let model = Model::load(weights).map_err(|error| error.to_string())?;
        let node = |name: &str| {
            let node = model.find_node(name);
            node.ok_or_else(|| format!("it has no input '{name}'"))
        };
        let (ids, mask) = (node("input_ids")?, node("attention_mask")?);
        let logits = *model.output_ids().first().ok_or("it has no output")?;
        let tokens = read(&path.join("tokenizer.json"))?;
        let mut tokenizer = Tokenizer::from_bytes(tokens).map_err(|error| error.to_string())?;
        // The file asks for both. A padded text scores as an attack; a cut one is half unseen.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| error.to_string())?;
        let config = match read(&path.join("classifier_config.json")) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| error.to_string())?,
            Err(_) => Config::default(),
        };
        let Calibration {
            temperature,
            high_risk_threshold,
        } = config.calibration;
        let temperature = settings.temperature.or(temperature).unwrap_or(1.0);
        let threshold = settings.threshold.or(high_risk_threshold).unwrap_or(0.5);
        if !(temperature.is_finite() && temperature > 0.0 && threshold.is_finite()) {
            return Err("its calibration is not a number that can be used".to_owned());
        }
        Ok(Self {
            model,
            ids,
            mask,
            logits,
            tokenizer,
            temperature,
            threshold,
        })
    }

    fn verdict(&self, text: &str, stopped: &AtomicBool) -> Result<Verdict, Error> {
        let tokens = self
            .tokenizer
            .encode_fast(text, true)
            .map_err(|_| Error::Internal)?;
        let tokens: Vec<i32> = tokens
            .get_ids()
            .iter()
            .filter_map(|id| i32::try_from(*id).ok())
            .collect();
        let mut worst: f32 = 0.0;
        for window in windows(&tokens) {
            if stopped.load(Ordering::Relaxed) {
                return Err(Error::TimedOut);
            }
            worst = worst.max(self.score(&window)?);
        }
        let action = if worst >= self.threshold {
            Action::Block
        } else {
            Action::Allow
        };
        let verdict = Verdict::new(action).scored(worst);
        Ok(if action == Action::Block {
            verdict.labelled("injection")
        } else {
            verdict
        })
    }

    /// How likely it is that a window of tokens is an injection.
    fn score(&self, tokens: &[i32]) -> Result<f32, Error> {
        let length = tokens.len();
        let ids = NdTensor::from_data([1, length], tokens.to_vec());
        let mask = NdTensor::from_data([1, length], vec![1_i32; length]);
        let inputs = vec![
            (self.ids, ids.view().into()),
            (self.mask, mask.view().into()),
        ];
        let outputs = self.model.run(inputs, &[self.logits], None);
        let output = outputs.ok().and_then(|outputs| outputs.into_iter().next());
        let output: rten_tensor::Tensor<f32> = output
            .ok_or(Error::Internal)?
            .try_into()
            .map_err(|_| Error::Internal)?;
        // A second head, if there is one, is not used.
        let logit = output.iter().next().copied().ok_or(Error::Internal)?;
        if !logit.is_finite() {
            return Err(Error::Internal);
        }
        Ok(1.0 / (1.0 + (-logit / self.temperature).exp()))
    }
}

/// Windows of tokens, each between the two that mark beginning and end.
fn windows(tokens: &[i32]) -> Vec<Vec<i32>> {
    let [first, inner @ .., last] = tokens else {
        return vec![tokens.to_vec()];
    };
    if tokens.len() <= WINDOW {
        return vec![tokens.to_vec()];
    }
    let mut windows = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW - 2).min(inner.len());
        let mut window = vec![*first];
        window.extend(inner.get(start..end).unwrap_or_default());
        window.push(*last);
        windows.push(window);
        if end == inner.len() {
            return windows;
        }
        start += STEP;
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let length = path
        .metadata()
        .map_err(|error| format!("{name}: {error}"))?
        .len();
    if length > LARGEST_FILE {
        return Err(format!("{name} is larger than any model that is meant"));
    }
    std::fs::read(path).map_err(|error| format!("{name}: {error}"))
}

classifier!(Local);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_in_some_window() {
        for length in [2, 3, 256, 257, 480, 1000] {
            let tokens: Vec<i32> = (0..length).collect();
            let windows = windows(&tokens);
            for token in &tokens {
                assert!(
                    windows.iter().any(|window| window.contains(token)),
                    "{token} of {length}"
                );
            }
            for window in windows {
                assert!(window.len() <= WINDOW);
                assert_eq!(
                    (window.first(), window.last()),
                    (tokens.first(), tokens.last())
                );
            }
        }
    }

    #[test]
    fn a_folder_without_a_model_says_which_file_is_missing() {
        let settings = settings::Local {
            path: "/nowhere".into(),
            threshold: None,
            temperature: None,
        };
        let error = Local::new("local", &settings).unwrap_err().to_string();
        assert!(
            error.starts_with("the model in /nowhere cannot be used: model.onnx: "),
            "{error}"
        );
    }
}
