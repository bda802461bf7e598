// For addresses that lead nowhere, and for pages that this person may not see: the two look alike.

import { Link } from "@tanstack/react-router";
import { PageHead } from "../parts/page-head.tsx";

export function NotFound() {
  return (
    <PageHead
      title="Page not found"
      documentTitle="Not found"
      subtitle="The address may be mistyped, or you don’t have access."
      actions={
        <Link to="/app" className="button">
          Go to your workspace
        </Link>
      }
    />
  );
}

/** For use without the shell. */
export function NotFoundAtAll() {
  return (
    <main className="main">
      <NotFound />
    </main>
  );
}
