// The activity list: who did what, and when, newest first.

import { useInfiniteQuery } from "@tanstack/react-query";
import { send } from "../service/api.ts";
import { Answered } from "../states/answered.tsx";
import { Empty } from "../states/empty.tsx";
import { LoadMore } from "../states/load-more.tsx";
import { ActivityEntry } from "./activity-entry.tsx";

const name = "GET /workspaces/:workspaceId/activity";

export function ActivityView({ workspaceId }: { workspaceId: string }) {
  const params = { workspaceId };
  const activity = useInfiniteQuery({
    queryKey: [name, params, "pages"],
    queryFn: ({ pageParam, signal }) =>
      send(name, { params, query: pageParam === null ? {} : { cursor: pageParam } }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
  });
  return (
    <Answered query={activity} label="Loading the activity" lines={8}>
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.items);
        if (entries.length === 0) return <NoActivity />;
        return (
          <>
            <ol className="activity" aria-label="Activity, newest first">
              {entries.map((entry) => (
                <ActivityEntry key={entry.id} entry={entry} workspaceId={workspaceId} />
              ))}
            </ol>
            <LoadMore list={activity} end="No more activity." />
          </>
        );
      }}
    </Answered>
  );
}

function NoActivity() {
  return (
    <Empty title="No activity yet">
      Changes to keys, endpoints, people, groups and settings will appear here, with who made them
      and when.
    </Empty>
  );
}
