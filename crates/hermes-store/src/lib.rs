//! One way to open SQLite, and what is kept in it.
