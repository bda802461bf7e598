// Says that the page looks by itself, so that nobody loads it again and again.

export function Awaited({ children }: { children: string }) {
  return (
    <p className="awaited">
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        <circle cx="8" cy="8" r="5.5" />
      </svg>
      {children}
    </p>
  );
}
