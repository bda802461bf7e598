#!/bin/sh
# Holds a deployment until a person has approved this commit. In a workflow, before the step that deploys:
#
#   - run: examples/deploy-gate/gate.sh production
#     env:
#       COUNTERSIGN_API_KEY: ${{ secrets.COUNTERSIGN_API_KEY }}
#       COUNTERSIGN_BASE_URL: https://approvals.example.com
#       COUNTERSIGN_NOTIFY: releases@example.com
#
# Ends with 0 if it was approved, 1 if it was rejected, 2 if nobody decided in time or it was cancelled, and 3 if
# something is wrong. Needs a POSIX shell, curl, sed, tr and od; with jq it also tells the approver's note.
# A commit is asked about once, however often the job runs, and one job gets through: the approval is redeemed. To deploy
# the same commit again, GATE_ATTEMPT=2 asks about it again.

set -u

base=${COUNTERSIGN_BASE_URL:-http://localhost:3000}
base=${base%/}
notify=${COUNTERSIGN_NOTIFY:-owner@localhost}
environment=${1:-production}
commit=${GITHUB_SHA:-$(git rev-parse HEAD 2>/dev/null)}
repository=${GITHUB_REPOSITORY:-$(basename "$(git rev-parse --show-toplevel 2>/dev/null || pwd)")}
attempt=${GATE_ATTEMPT:-1}
failures_max=${GATE_FAILURES_MAX:-30}

trouble() {
  printf 'Deploy gate: %s\n' "$1" >&2
  exit 3
}

[ -n "${COUNTERSIGN_API_KEY:-}" ] || trouble 'COUNTERSIGN_API_KEY is not set'
[ -n "$commit" ] || trouble 'GITHUB_SHA is not set, and this is no git checkout'
command -v curl >/dev/null || trouble 'curl is not installed'

# A JSON string of any text. Control characters become spaces, so that no line can be forged.
json() {
  printf '"%s"' "$(printf '%s' "$1" | LC_ALL=C tr '\001-\037\177' ' ' | LC_ALL=C sed 's/\\/\\\\/g; s/"/\\"/g')"
}

# Calls the service. Sets $status to the HTTP status, 000 without a whole answer, and $answer to the body.
# The key goes in by way of curl's standard input: arguments are seen by everybody on the machine.
call() {
  method=$1
  path=$2
  shift 2
  answer=$(printf 'header = "Authorization: Bearer %s"\n' "$COUNTERSIGN_API_KEY" |
    curl --silent --show-error --config - --max-time 75 --request "$method" \
      --write-out '\n%{http_code}' "$@" "$base$path") || answer=000
  status=$(printf '%s' "$answer" | tail -n 1)
  answer=$(printf '%s\n' "$answer" | sed '$d')
  [ -n "$status" ] || status=000
}

# Repeats a call as long as it fails for reasons that pass.
call_patiently() {
  failures=0
  while :; do
    call "$@"
    case $status in
      200 | 201 | 409) return ;;
      000 | 429 | 5??) ;;
      *) trouble "the service answered $status: $answer" ;;
    esac
    failures=$((failures + 1))
    [ "$failures" -lt "$failures_max" ] || trouble "no answer from $base after $failures tries"
    pause
  done
}

pause() {
  sleep "${GATE_PAUSE_SECONDS:-10}"
}

# Of the answer's own fields, which come in this order. Anything else is no decision.
decision() {
  if command -v jq >/dev/null; then
    printf '%s' "$answer" | jq --raw-output '.status'
  else
    printf '%s' "$answer" |
      sed -n 's/^{"id":"req_[^"]*","object":"approval_request","status":"\([A-Z]*\)".*/\1/p'
  fi
}

# Lets one job through. The key names this run of the gate, so that a lost answer can be asked for again.
redeem() {
  run=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  [ ${#run} -eq 32 ] || trouble 'there are no random numbers here'
  call_patiently POST "/v1/requests/$id/redeem" --header "Idempotency-Key: gate-$run"
  [ "$status" = 200 ] && [ "$(decision)" = APPROVED ] && return
  trouble "this approval was used already; to deploy again, set GATE_ATTEMPT to another number: $answer"
}

note() {
  command -v jq >/dev/null || return 0
  printf '%s' "$answer" | jq --raw-output '.resolutionNote // empty' | LC_ALL=C tr '\001-\037\177' ' '
}

title=$(git log -1 --format=%s "$commit" 2>/dev/null || true)
payload="{\"repository\":$(json "$repository"),\"commit\":$(json "$commit"),\"environment\":$(json "$environment")}"
body="{\"summary\":$(json "Deploy $repository to $environment: $(printf '%.12s' "$commit")"),\"payload\":$payload"
body="$body,\"notify\":$(json "$notify"),\"agentName\":\"deploy-gate\""
[ -z "$title" ] || body="$body,\"reasoning\":$(json "$title")"
body="$body}"
# Of letters and digits only, whatever the names hold.
key=deploy-gate-$(printf '%s\n' "$repository" "$environment" "$commit" "$attempt" | cksum | tr ' ' -)-$(printf '%s' "$commit" | tr -cd '[:alnum:]' | cut -c 1-64)

call_patiently POST /v1/requests --header 'Content-Type: application/json' \
  --header "Idempotency-Key: $key" --data-binary "$body"
id=$(printf '%s' "$answer" | sed -n 's/^{"id":"\(req_[0-9A-Za-z]*\)".*/\1/p')
[ -n "$id" ] || trouble "this is no answer of Countersign: $answer"
printf 'Asked %s about %s. Waiting; the review link is in their mail (while trying it out: %s/dev/mail)\n' \
  "$notify" "$id" "$base"

while :; do
  case $(decision) in
    PENDING)
      asked_at=$(date +%s)
      call_patiently GET "/v1/requests/$id?wait=50"
      # A service with too many waiting callers answers early; asked again at once, it would have more of them.
      [ "$(decision)" != PENDING ] || [ $(($(date +%s) - asked_at)) -ge 25 ] || pause
      ;;
    APPROVED)
      # A gate can let a commit pass or not; it cannot deploy another one that the approver wrote instead.
      printf '%s' "$answer" | grep -qF "\"payload\":$payload,\"modifiedPayload\":null,\"effectivePayload\":$payload" ||
        trouble "$id was approved with changes, and this gate cannot follow changes"
      redeem
      printf 'Approved: %s may go to %s\n' "$commit" "$environment"
      exit 0
      ;;
    REJECTED)
      printf 'Rejected: %s\n' "$(note)"
      exit 1
      ;;
    EXPIRED | CANCELLED)
      printf 'Nobody decided about %s: it is %s. To ask again, set GATE_ATTEMPT to another number.\n' "$id" "$(decision)"
      exit 2
      ;;
    *) trouble "this is no answer of Countersign: $answer" ;;
  esac
done
