// A placeholder while something loads. It appears only after a moment, so that it doesn't flicker.

type LoadingProps = {
  /** For screen readers: "Loading the keys". */
  label: string;
  /** As many lines as will be there, so that nothing jumps. */
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
