# Becomes the launcher (first argument) without the variables a script may not see (second argument: the rules), so that
# a script that looks at its parent finds no more there than in its own environment.
import json
import os
import sys


def scrubbed(environment, rules):
    """Variables a script may see: named ones, then those of known kinds that do not look like secrets."""
    kept = {}
    for name, value in environment.items():
        upper = name.upper()
        if name in rules["passthrough"] or name in rules["names"]:
            kept[name] = value
        elif any(word in upper for word in rules["secret_words"]):
            continue
        elif any(name.startswith(prefix) for prefix in rules["prefixes"]):
            kept[name] = value
    if environment.get("HERMES_TIMEZONE"):
        kept["TZ"] = environment["HERMES_TIMEZONE"]
    kept.update(PYTHONDONTWRITEBYTECODE="1", PYTHONIOENCODING="utf-8", PYTHONUTF8="1")
    return kept


launcher, rules = sys.argv[1:]
os.execve(
    sys.executable, [sys.executable, "-I", "-S", "-c", launcher], scrubbed(dict(os.environ), json.loads(rules))
)
