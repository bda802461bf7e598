// The few icons of the dashboard: strokes on a grid of 20, in the colour of the words beside them.

const shapes = {
  overview: "M3.5 16.5v-6M8 16.5v-12M12.5 16.5V9M17 16.5V6.5",
  requests: "M4 3.5h12v13H4zM7 7.5h6M7 10.5h6M7 13.5h3",
  webhooks: "M11.5 2.5L4 11.5h5.5l-1 6L16 8.5h-5.5z",
  keys: "M12.8 3.5a3.9 3.9 0 1 0 0 7.8a3.9 3.9 0 0 0 0-7.8M10 10.2L3.5 16.6M6 14.2l2 2",
  people:
    "M7.5 3.5a3 3 0 1 1 0 6a3 3 0 0 1 0-6M2 16.5c0-2.8 2.4-4.5 5.5-4.5s5.5 1.7 5.5 4.5M13 3.8a3 3 0 0 1 0 5.5M15 12.3c1.9.6 3 2.1 3 4.2",
  settings:
    "M3 6h8M15 6h2M13 4a2 2 0 1 1 0 4a2 2 0 0 1 0-4M3 14h2M9 14h8M7 12a2 2 0 1 1 0 4a2 2 0 0 1 0-4",
  chevron: "M6 8l4 4l4-4",
  updown: "M7 8l3-3l3 3M7 12l3 3l3-3",
  back: "M12 5l-5 5l5 5",
  forward: "M8 5l5 5l-5 5",
  check: "M4 10.5l4 4l8-9",
  close: "M5 5l10 10M15 5L5 15",
  plus: "M10 4v12M4 10h12",
  copy: "M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4",
  alert: "M10 3.2l7.3 13H2.7zM10 8v4M10 14.2v.1",
  more: "M4.5 10h.1M10 10h.1M15.5 10h.1",
  search: "M8.8 3.5a5.3 5.3 0 1 1 0 10.6a5.3 5.3 0 0 1 0-10.6M12.7 12.7l4 4",
  clock: "M10 3a7 7 0 1 1 0 14a7 7 0 0 1 0-14M10 6v4.3l2.8 1.7",
  mail: "M3 5h14v10.5H3zM3 5.5l7 5.5l7-5.5",
  send: "M17 3L3 9.2l5.4 2.4L11 17zM17 3l-8.6 8.6",
  refresh: "M16.5 10a6.5 6.5 0 1 1-2-4.7M14.8 2.5v3.2h-3.2",
  account:
    "M10 3.5a3.2 3.2 0 1 1 0 6.4a3.2 3.2 0 0 1 0-6.4M3.8 17c0-3 2.7-4.8 6.2-4.8s6.2 1.8 6.2 4.8",
  leave: "M8 3.5H3.5v13H8M8.5 10h8M13.5 7l3 3l-3 3",
  passkey:
    "M4.5 12.5V9.8a5.5 5.5 0 0 1 11 0v2.4M7.2 15.8V9.9a2.8 2.8 0 0 1 5.6 0v3.4M10 10v6.5M12.6 16.4l.1-.5M15.3 15.2l.1-.5",
  device: "M3 4h14v9H3zM7.5 16.5h5M10 13v3.5",
  inbox: "M3 11l2.5-7h9l2.5 7v5.5H3zM3 11h4l1 2.5h4l1-2.5h4",
  docs: "M10 5.5C8.3 4.2 5.9 3.8 3 4v11.5c2.9-.2 5.3.2 7 1.5c1.7-1.3 4.1-1.7 7-1.5V4c-2.9-.2-5.3.2-7 1.5zM10 5.5V17",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="glyph" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
