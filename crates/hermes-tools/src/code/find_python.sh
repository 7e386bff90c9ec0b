# Starts the launcher ($1) with the Python of the project ($2 = project) or of the place.
if [ "$2" = project ]; then
  for at in "$VIRTUAL_ENV" "$CONDA_PREFIX"; do
    [ -n "$at" ] && [ -x "$at/bin/python" ] && exec "$at/bin/python" -I -S -c "$1"
  done
fi
for python in python3 python; do
  command -v "$python" >/dev/null 2>&1 && exec "$python" -I -S -c "$1"
done
exit 127
