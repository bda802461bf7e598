// Every row is of one workspace with all that belongs to it.

import type { Evidence, Flaw } from "../evidence.ts";

export function flawsOfPlaces({ workspaces, requests, events, deliveries }: Evidence): Flaw[] {
  const placeOf = new Map([
    ...workspaces.flatMap(({ id, endpoints }) => endpoints.map((each) => [each.id, id] as const)),
    ...[...requests, ...events].map(({ id, workspaceId }) => [id, workspaceId] as const),
  ]);
  const isApart = (workspaceId: string, of: string) =>
    (placeOf.get(of) ?? workspaceId) !== workspaceId;
  return [
    ...events.filter(({ workspaceId, requestId }) => isApart(workspaceId, requestId)),
    ...deliveries.filter(
      ({ workspaceId, eventId, endpointId }) =>
        isApart(workspaceId, eventId) || (endpointId !== null && isApart(workspaceId, endpointId)),
    ),
  ].map(({ id }) => ({
    promise: "workspaces don't cross",
    what: `${id} is of another workspace than what it belongs to`,
  }));
}
