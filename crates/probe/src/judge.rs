//! One reply held to the tool it came from: which sites of the contract it violates.
