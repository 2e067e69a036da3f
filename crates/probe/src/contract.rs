//! Contract testing: labelled cases made from the declared schemas, oracles, shrinking, baseline.
