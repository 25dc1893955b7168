#!/bin/sh
# The steps of deploy/Dockerfile in an empty folder, for machines without a container runtime:
#   deploy/without_docker.sh FOLDER [slim|full]
# Afterwards FOLDER/bin/sagagraph runs as in the image. Run it as a user without rights; only FOLDER/data has to be writable.
set -eu
folder=$1
case ${2:-full} in
  slim) extras="travel,reunion,postgres,fleet,otel,llm" ;;
  full) extras="all" ;;
  *) echo "there are slim and full, not $2" >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/.." && pwd)
[ ! -e "$folder" ] || { echo "$folder is there already: name an empty place" >&2; exit 2; }
python3 -m venv "$folder"
"$folder/bin/pip" wheel --quiet --no-cache-dir --no-deps --wheel-dir "$folder/wheels" "$source"
"$folder/bin/pip" install --quiet --no-cache-dir "$(echo "$folder"/wheels/*.whl)[$extras]"
mkdir "$folder/data"
echo "start it with: SAGAGRAPH_STORE=sqlite:///$folder/data/sagagraph.db $folder/bin/sagagraph ui"
