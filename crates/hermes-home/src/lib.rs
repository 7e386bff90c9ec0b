//! Home, profiles, settings, .env and logging.
