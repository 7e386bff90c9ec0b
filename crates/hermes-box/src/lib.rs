//! The box agent: commands, jobs and files behind one framed byte stream.
