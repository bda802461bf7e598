// The result of one check of `countersign doctor`.

export type Finding = { check: string; state: "ok" | "warning" | "failed"; detail: string };

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail };
}

export function warning(check: string, detail: string): Finding {
  return { check, state: "warning", detail };
}

export function failed(check: string, detail: string): Finding {
  return { check, state: "failed", detail };
}
