//! What the tests share: scripted model, throw-away homes, container engine.
