//! What may pass: redaction of secrets.
