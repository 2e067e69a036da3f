"""What the model's own package says about each string, for our code to be compared with."""

import json
import sys

from stackone_defender.classifiers.onnx_classifier import OnnxClassifier, get_default_model_path

if sys.argv[1] == "--model":
    print(get_default_model_path())
    sys.exit()

config = json.load(open(get_default_model_path() + "/classifier_config.json"))
classifier = OnnxClassifier(temperature_t=config["calibration"]["temperatureT"])
strings = json.load(open(sys.argv[1]))
texts = [text for kind in ("attack", "benign") for text in strings[kind]]
scores = [{"text": text, "score": classifier.classify(text)} for text in texts]
json.dump(scores, sys.stdout)
