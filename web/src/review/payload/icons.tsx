// The few icons of the payload view. Each stands beside a name for those who cannot see it.

export function ChevronIcon() {
  return <Icon path="M6 4l4 4l-4 4" className="chevron" />;
}

export function PencilIcon() {
  return <Icon path="M3 13l.7-2.8L11 2.9l2.1 2.1l-7.3 7.3L3 13" />;
}

export function CopyIcon() {
  return <Icon path="M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2" />;
}

export function CheckIcon() {
  return <Icon path="M3 8.5l3.2 3.2L13 4.5" />;
}

function Icon({ path, className = "" }: { path: string; className?: string }) {
  return (
    <svg
      className={`icon ${className}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  );
}
