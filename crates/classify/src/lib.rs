//! Injection classifiers behind one trait: remote, webhook and local, bounded in time and cost.
