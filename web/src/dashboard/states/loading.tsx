// Holds the place of what is on its way. It shows itself only when that takes a moment, and does not flicker.

type LoadingProps = {
  /** What is loading, for those who cannot see it: "Loading the keys". */
  label: string;
  /** As many as will be there, so that nothing jumps. */
  lines?: number;
};

const widths = ["full", "wide", "half", "wide", "full", "half"];

export function Loading({ label, lines = 4 }: LoadingProps) {
  return (
    <div className="loading-lines" role="status">
      <span className="sr-only">{label} …</span>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} className="loading-row" aria-hidden="true">
          <span className={`bone bone-${widths[at % widths.length]}`} />
        </div>
      ))}
    </div>
  );
}
