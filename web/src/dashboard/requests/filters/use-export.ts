// Saves the filtered list as a file. The page asks first whether the file would be refused, because a browser doesn't
// tell a page why a download failed. Then the browser itself takes the file, so a list of any length needs no memory.

import { useEffect, useRef, useState } from "react";
import type { ExportFilter } from "../../../../../server/src/wire/dashboard-filters.ts";
import { ApiError, addressOf, send } from "../../service/api.ts";
import { useMembership } from "../../session/membership.ts";
import { usePageSearch } from "../../shell/page-search.ts";
import type { ChosenFilter } from "./filter-state.ts";

export type ExportFormat = ExportFilter["format"];

export type Exporting = {
  isAsking: boolean;
  error: unknown;
  save: (format: ExportFormat) => void;
  /** The same once more. */
  retry: () => void;
};

type Asked = { format: ExportFormat; isAsking: boolean; error: unknown };

export function useExport(filter: ChosenFilter): Exporting {
  const { workspaceId } = useMembership();
  const [asked, setAsked] = useState<Asked | null>(null);
  const asking = useRef<AbortController | null>(null);
  const ask = async (format: ExportFormat, then: (input: ExportInput) => void) => {
    asking.current?.abort();
    asking.current = new AbortController();
    const { signal } = asking.current;
    const input = { params: { workspaceId }, query: { ...filter, format } };
    setAsked({ format, isAsking: true, error: null });
    const error = await send("GET /workspaces/:workspaceId/exportable", input, signal).then(
      () => null,
      (fault: unknown) => fault,
    );
    if (signal.aborted) return;
    setAsked({ format, isAsking: false, error });
    if (error === null) then(input);
  };
  const save = (format: ExportFormat) => {
    void ask(format, (input) =>
      location.assign(addressOf("/workspaces/:workspaceId/requests/export", input)),
    );
  };
  const listKey = JSON.stringify([workspaceId, filter]);
  useEffect(
    () => () => {
      // Another list, or no list any more: neither a file nor a refusal of this one is wanted.
      asking.current?.abort();
      setAsked(null);
    },
    [listKey],
  );
  useRefused((format) => {
    void ask(format, () => setAsked({ format, isAsking: false, error: refusedBefore() }));
  });
  return {
    isAsking: asked?.isAsking ?? false,
    error: asked?.error ?? null,
    save,
    retry: () => {
      if (asked !== null) save(asked.format);
    },
  };
}

type ExportInput = { params: { workspaceId: string }; query: ExportFilter };

/** The service leads a browser back to the list when it refuses a file after all. The page asks once more why. */
function useRefused(ask: (format: ExportFormat) => void): void {
  const [search, change] = usePageSearch();
  const format = search.export;
  useEffect(() => {
    if (format === undefined) return;
    change({ export: undefined });
    ask(format === "jsonl" ? "jsonl" : "csv");
  }, [format]);
}

function refusedBefore(): ApiError {
  return new ApiError("unavailable", "Nothing was exported. It should work now: try again.", {
    status: 0,
  });
}
