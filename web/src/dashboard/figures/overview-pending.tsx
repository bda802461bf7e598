// Holds the place of the overview's figures while they are on their way, in their size.

import "./overview.css";

export function OverviewPending() {
  return (
    <div className="figure-stack" role="status">
      <span className="sr-only">Loading the figures …</span>
      <div className="figure-tiles" aria-hidden="true">
        <div className="figure-card figure-pending-tile" />
        <div className="figure-card figure-pending-tile" />
        <div className="figure-card figure-pending-tile" />
      </div>
      <div className="figure-card figure-pending-shares" aria-hidden="true" />
      <div className="figure-card figure-pending-block" aria-hidden="true" />
    </div>
  );
}
