// The end of a list: a button for more, or a word when there is no more.

import { useEffect, useRef } from "react";
import { Button } from "../parts/button.tsx";
import { Problem } from "./problem.tsx";

type LoadMoreProps = {
  list: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    isFetchNextPageError: boolean;
    error: unknown;
    fetchNextPage: () => unknown;
  };
  end: string;
};

export function LoadMore({ list, end }: LoadMoreProps) {
  const place = useRef<HTMLDivElement>(null);
  const isAsked = useRef(false);
  useEffect(() => {
    // The button disappears with the last page, so the focus stays at its place.
    if (!list.hasNextPage && isAsked.current) place.current?.focus({ preventScroll: true });
  }, [list.hasNextPage]);
  const load = () => {
    isAsked.current = true;
    void list.fetchNextPage();
  };
  return (
    <div className="more" ref={place} tabIndex={-1}>
      {list.isFetchNextPageError && !list.isFetchingNextPage && <Problem error={list.error} />}
      {list.hasNextPage ? (
        <Button isBusy={list.isFetchingNextPage} onClick={load}>
          Load more
        </Button>
      ) : (
        <p className="quiet small">{end}</p>
      )}
    </div>
  );
}
