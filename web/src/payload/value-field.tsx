// The field in which one simple value is edited in place.

import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { JsonNode } from "../../../server/src/domain/shown/json-tree.ts";
import { words } from "../look/words.ts";
import { tokenOf } from "./in-place.ts";

type ValueFieldProps = {
  kind: JsonNode["kind"];
  name: string;
  /** The current value. */
  before: string;
  /** The first content of the field: perhaps something typed before a reload. */
  typed: string;
  onTyped: (typed: string) => void;
  onKeep: (token: string) => void;
  onCancel: () => void;
};

export function ValueField(props: ValueFieldProps) {
  const { kind, name, before, typed: first, onTyped, onKeep, onCancel } = props;
  const [typed, setTyped] = useState(first);
  const errorId = useId();
  const field = useRef<HTMLTextAreaElement & HTMLInputElement & HTMLSelectElement>(null);
  const token = tokenOf(kind, typed);
  useEffect(() => {
    // While open, it waits to be kept or cancelled.
    onTyped(first);
    // Not after a reload: the reader is elsewhere then.
    if (first === before) field.current?.focus();
  }, []);
  useEffect(() => grow(field.current), [typed]);
  const keep = () => {
    if (token !== null) onKeep(token);
  };
  const hasOwnKey = useRef(false);
  const onKeyDown = (event: KeyboardEvent) => {
    hasOwnKey.current ||= !event.repeat;
    // The key that led here may still be down. It was meant for another control.
    if (!hasOwnKey.current) {
      event.preventDefault();
      return;
    }
    if (event.key === "Escape") {
      event.preventDefault();
      onCancel();
    }
    const isKeep = event.key === "Enter" && (kind !== "string" || event.ctrlKey || event.metaKey);
    if (!isKeep || event.nativeEvent.isComposing) return;
    event.preventDefault();
    keep();
  };
  const common = {
    ref: field,
    className: "field",
    value: typed,
    "aria-label": words.newValue(name),
    "aria-invalid": token === null,
    "aria-describedby": errorId,
    spellCheck: false,
    autoComplete: "off",
    autoCapitalize: "off",
    onKeyDown,
    onChange: (event: { currentTarget: { value: string } }) => {
      setTyped(event.currentTarget.value);
      onTyped(event.currentTarget.value);
    },
  };
  return (
    <div className="value-field">
      {kind === "string" && <textarea {...common} rows={1} dir="auto" />}
      {kind === "number" && (
        <input {...common} type="text" inputMode={/[-eE]/.test(before) ? "text" : "decimal"} />
      )}
      {kind === "boolean" && (
        <select {...common}>
          <option>true</option>
          <option>false</option>
        </select>
      )}
      <div className="value-field-tools">
        <button type="button" className="button" onClick={onCancel}>
          {words.cancel}
        </button>
        <button
          type="button"
          className="button button-strong"
          aria-disabled={token === null}
          onClick={keep}
        >
          {words.keep}
        </button>
      </div>
      <p className={token === null ? "field-error" : "quiet small"} id={errorId} role="status">
        {token === null ? words.inPlace.notANumber : kind === "string" && words.inPlace.newLineHint}
      </p>
    </div>
  );
}

/** As high as its text, so that nothing typed is out of sight. */
function grow(field: HTMLElement | null): void {
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}
