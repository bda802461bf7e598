// A sentence of ours with addresses and names that aren't. Each of those stands in a frame, with everything in it visible:
// an agent may have chosen it.

import { Fragment } from "react";
import { Visible } from "../../look/visible-text.tsx";
import type { Said } from "./said.ts";

export function SaidText({ said }: { said: Said }) {
  return said.map((part, at) => (
    <Fragment key={at}>{typeof part === "string" ? part : <Theirs text={part.theirs} />}</Fragment>
  ));
}

export function Theirs({ text }: { text: string }) {
  return (
    <span className="quoted">
      <Visible text={text} />
    </span>
  );
}
