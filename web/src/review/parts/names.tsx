// Names that a caller gave, each on a line of its own: nothing that one of them holds makes it look like two.

import { OrderNote, Visible } from "../../look/visible-text.tsx";

export function Names({ names }: { names: readonly string[] }) {
  return names.map((name) => (
    <div key={name}>
      <Visible text={name} isValue />
      <OrderNote text={name} />
    </div>
  ));
}
