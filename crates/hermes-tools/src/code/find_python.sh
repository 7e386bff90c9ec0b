# Starts the launcher ($1) with the Python of the project ($2 = project) or of the place, by way of $3 with the rules $4.
if [ "$2" = project ]; then
  for at in "$VIRTUAL_ENV" "$CONDA_PREFIX"; do
    [ -n "$at" ] && [ -x "$at/bin/python" ] && exec "$at/bin/python" -I -S -c "$3" "$1" "$4"
  done
fi
for python in python3 python; do
  command -v "$python" >/dev/null 2>&1 && exec "$python" -I -S -c "$3" "$1" "$4"
done
exit 127
